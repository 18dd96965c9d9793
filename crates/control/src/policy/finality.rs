//! `finality_rules`: how much may be paid without a person on a rail that does not give it back.

use crate::{Currency, Fault, Money, fault::codes, read::Field, request::Protocol};

codes! {
    /// Whether a payment can be undone.
    pub enum FinalityClass {
        /// At any time.
        Reversible = "reversible",
        /// Under the rail's rules and for a time.
        ConditionallyReversible = "conditionally_reversible",
        /// Never by the payer's side.
        Irreversible = "irreversible",
    }
}

impl FinalityClass {
    /// The class of what a protocol pays.
    pub const fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::X402 | Protocol::Mpp => Self::Irreversible,
            Protocol::Ucp | Protocol::Acp | Protocol::Card | Protocol::Bill => Self::ConditionallyReversible,
        }
    }
}

/// For each class the most that may be paid without asking a person, if there is a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinalityRules {
    bounds: Vec<(FinalityClass, Money)>,
}

impl FinalityRules {
    pub(super) fn read(field: &Field<'_>, currency: &Currency) -> Result<Self, Fault> {
        let names: Vec<_> = FinalityClass::ALL.iter().map(|class| class.as_str()).collect();
        let members = field.members(&names)?;
        let mut bounds = Vec::new();
        for class in FinalityClass::ALL {
            if let Some(bound) = members.nullable(class.as_str()) {
                bounds.push((*class, bound.money(currency)?));
            }
        }
        Ok(Self { bounds })
    }

    /// The most that may be paid on a class without asking a person.
    pub fn bound(&self, class: FinalityClass) -> Option<&Money> {
        self.bounds.iter().find(|(of, _)| *of == class).map(|(_, bound)| bound)
    }
}
