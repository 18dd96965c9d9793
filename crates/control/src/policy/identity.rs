//! `identity_requirements` and `payee_identity`: who must be known how well.

use crate::{Currency, Fault, FaultCode, Money, fault::codes, read::Field, request::Protocol};

codes! {
    /// How well an agent is known.
    pub enum Assurance {
        /// By its key alone.
        A0 = "A0",
        /// By an anchor of its developer.
        A1 = "A1",
        /// By anchors of two parties.
        A2 = "A2",
        /// By a legal entity that answers for it.
        A3 = "A3",
    }
}

codes! {
    /// What an agent's identity rests on.
    pub enum Anchor {
        /// A key that the agent proved to hold.
        AgentKey = "agent_key",
        /// The digest of its code.
        CodeDigest = "code_digest",
        /// The identity of the workload it runs as.
        WorkloadIdentity = "workload_identity",
        /// An attestation of the hardware it runs on.
        HardwareAttestation = "hardware_attestation",
        /// A legal entity.
        LegalEntity = "legal_entity",
        /// Collateral.
        Collateral = "collateral",
    }
}

codes! {
    /// What is done with a payee that is not verified.
    pub enum Unverified {
        /// A person is asked.
        StepUp = "step_up",
        /// It is not paid.
        Deny = "deny",
    }
}

/// What must be known of an agent for some payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityRequirement {
    /// At least this level.
    pub assurance: Assurance,
    /// For payments of more than this; `None` for all.
    pub above: Option<Money>,
    /// On these protocols; empty for all.
    pub rails: Vec<Protocol>,
    /// Anchors that must be verified.
    pub anchors: Vec<Anchor>,
}

/// What must be known of a payee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayeeIdentityRule {
    /// For payments of more than this; `None` for all.
    pub above: Option<Money>,
    /// What is done with one that is not verified.
    pub otherwise: Unverified,
}

impl IdentityRequirement {
    pub(super) fn read(field: &Field<'_>, currency: &Currency) -> Result<Self, Fault> {
        let members = field.members(&["assurance", "above", "rails", "anchors"])?;
        let rails = members.set("rails", Protocol::ALL.len(), |item| item.known(Protocol::parse, "Give a checkout protocol."))?;
        if let Some(field) = members.optional("rails").filter(|_| rails.is_empty()) {
            return Err(field.fault(FaultCode::TooShort, "Name at least one protocol, or leave this member out."));
        }
        Ok(Self {
            assurance: members.required("assurance")?.known(Assurance::parse, "Give \"A0\", \"A1\", \"A2\" or \"A3\".")?,
            above: members.read("above", |field| field.money(currency))?,
            rails,
            anchors: members.set("anchors", Anchor::ALL.len(), |item| item.known(Anchor::parse, "Give the type of an anchor."))?,
        })
    }
}

impl PayeeIdentityRule {
    pub(super) fn read(field: &Field<'_>, currency: &Currency) -> Result<Self, Fault> {
        let members = field.members(&["above", "otherwise"])?;
        let otherwise = members.read("otherwise", |field| field.known(Unverified::parse, "Give \"step_up\" or \"deny\"."))?;
        Ok(Self { above: members.read("above", |field| field.money(currency))?, otherwise: otherwise.unwrap_or(Unverified::StepUp) })
    }
}
