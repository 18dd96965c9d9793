//! What several checks ask of the facts, found once.

use super::{DecisionFacts, EarlierRequest, history};
use crate::{
    Instant,
    payee::{Name, PayeeKey},
    policy::Policy,
};

pub(super) struct Derived<'a> {
    /// What the payee is known by.
    pub(super) key: Option<PayeeKey>,
    /// The allowed payee that it looks like without being it.
    pub(super) imitated: Option<&'a str>,
    /// Whether the letters of its name imitate another script.
    pub(super) is_name_confusable: bool,
    /// The request that this one may be a duplicate of.
    pub(super) duplicate: Option<&'a EarlierRequest>,
    /// The attempts that this one is one more of, if the policy limits them.
    pub(super) attempts: Vec<&'a EarlierRequest>,
}

impl<'a> Derived<'a> {
    pub(super) fn of(facts: &DecisionFacts<'a>, policy: &'a Policy, now: Instant) -> Self {
        let payee = &facts.request.payee;
        let key = payee.key();
        Self {
            imitated: policy.payees.allow.imitated_by(payee),
            is_name_confusable: payee.name.as_ref().is_some_and(Name::is_confusable),
            duplicate: history::find_duplicate(facts.earlier, facts.request, facts.request_id, policy, now),
            attempts: policy.retry_policy.as_ref().map(|rule| history::attempts(facts, key.as_ref(), rule, now)).unwrap_or_default(),
            key,
        }
    }
}
