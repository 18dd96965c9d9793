//! `approval`: when a person is asked, who may answer, and until when.

use crate::{Currency, Fault, FaultCode, Money, ids::UserId, read::Field};

/// How long a request waits for a person if the policy does not say: an hour.
pub const EXPIRES_IN_SECONDS: u32 = 3600;

/// Longest wait: 31 days.
const MAX_EXPIRES_IN_SECONDS: u32 = 2_678_400;
const MAX_APPROVERS: usize = 100;

/// The approval block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// A payment of more than this asks a person.
    pub threshold: Option<Money>,
    /// Who may answer; empty for everyone whose role may approve.
    pub approvers: Vec<UserId>,
    /// For how long a person may answer.
    pub expires_in_seconds: u32,
}

impl Approval {
    /// No threshold: another rule may still ask a person.
    pub(super) const fn none() -> Self {
        Self { threshold: None, approvers: Vec::new(), expires_in_seconds: EXPIRES_IN_SECONDS }
    }

    pub(super) fn read(field: &Field<'_>, currency: &Currency) -> Result<Self, Fault> {
        let members = field.members(&["threshold", "approvers", "expires_in_seconds"])?;
        let approvers = members.list("approvers", MAX_APPROVERS, |item| item.formed(UserId::parse, "Give the id of a person."))?;
        if let Some(field) = members.optional("approvers").filter(|_| approvers.is_empty()) {
            return Err(field.fault(FaultCode::TooShort, "Name at least one person, or leave this member out."));
        }
        Ok(Self {
            threshold: members.read("threshold", |field| field.money(currency))?,
            approvers,
            expires_in_seconds: members.read("expires_in_seconds", |field| field.integer(60..=MAX_EXPIRES_IN_SECONDS))?.unwrap_or(EXPIRES_IN_SECONDS),
        })
    }
}
