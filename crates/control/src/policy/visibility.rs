//! `visibility_scope`: which constraints the merchant sees in a mandate.

use crate::{Fault, FaultCode, fault::codes, read::Field};

codes! {
    /// A constraint of a mandate.
    pub enum Constraint {
        /// The policy and its version.
        Policy = "policy",
        /// How the payment may differ from the amount named.
        Mode = "mode",
        /// When money comes back to the budget.
        RefillPolicy = "refill_policy",
        /// Whether the payment can be undone.
        FinalityClass = "finality_class",
        /// Who the principal is.
        PrincipalLoginId = "principal_login_id",
        /// How often it may be tried again.
        RetryPolicy = "retry_policy",
        /// The bounds of a deviation.
        Deviation = "deviation",
        /// The most that one payment may be.
        PerPaymentCap = "per_payment_cap",
        /// The budgets.
        Budget = "budget",
        /// The caps of a recurrence.
        Recurrence = "recurrence",
    }
}

/// Which constraints the merchant's JWS carries, and which it only commits to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibilityScope {
    /// Shown.
    pub merchant: Vec<Constraint>,
    /// Kept back.
    pub issuer_only: Vec<Constraint>,
}

impl VisibilityScope {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let members = field.members(&["merchant", "issuer_only"])?;
        let read = |name| {
            members.required(name)?.set(Constraint::ALL.len(), |item| item.known(Constraint::parse, "Give the name of a mandate's constraint."))
        };
        let scope = Self { merchant: read("merchant")?, issuer_only: read("issuer_only")? };
        if scope.merchant.iter().any(|constraint| scope.issuer_only.contains(constraint)) {
            return Err(field.fault(FaultCode::Repeated, "Put each constraint on one of the two lists."));
        }
        Ok(scope)
    }

    /// Whether the merchant sees a constraint: as the lists say, else as is usual for it.
    pub fn shows(&self, constraint: Constraint) -> bool {
        let usual = !matches!(constraint, Constraint::Deviation | Constraint::PerPaymentCap | Constraint::Budget | Constraint::Recurrence);
        self.merchant.contains(&constraint) || (usual && !self.issuer_only.contains(&constraint))
    }

    /// As a mandate's owner sees it.
    pub fn to_json(&self) -> lcp::Object {
        let texts = |list: &[Constraint]| list.iter().map(|constraint| constraint.as_str().into()).collect::<Vec<lcp::Value>>();
        lcp::Object::new().with("merchant", texts(&self.merchant)).with("issuer_only", texts(&self.issuer_only))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_merchant_sees() {
        let usual = VisibilityScope::default();
        assert!(usual.shows(Constraint::Policy) && !usual.shows(Constraint::Budget));
        let scope = VisibilityScope { merchant: vec![Constraint::Budget], issuer_only: vec![Constraint::Policy] };
        assert!(!scope.shows(Constraint::Policy) && scope.shows(Constraint::Budget) && scope.shows(Constraint::Mode));
    }
}
