//! What was asked before: duplicates and retries.

use super::{DecisionFacts, EarlierRequest, Outcome, Reason, derived::Derived, finding::Finding};
use crate::{
    Instant, Money,
    ids::RequestId,
    payee::PayeeKey,
    policy::{Duplicate, Policy, RetryPolicy},
    request::{PaymentRequestCreate, Subject},
};

/// Finds the latest earlier request that this one may be a duplicate of: of the same payee, amount, currency and checkout (or
/// purpose), inside the policy's window, and not one of which nothing came.
pub fn find_duplicate<'a>(
    earlier: &'a [EarlierRequest],
    request: &PaymentRequestCreate,
    id: &RequestId,
    policy: &Policy,
    now: Instant,
) -> Option<&'a EarlierRequest> {
    let (key, subject) = (request.payee.key()?, request.subject());
    earlier
        .iter()
        .filter(|other| other.id != *id && other.outcome != Outcome::Failed && is_within(other.at, policy.duplicate_window_seconds, now))
        .filter(|other| other.payee == key && other.amount == request.amount && other.subject == subject)
        .max_by_key(|other| other.at)
}

/// A request that seems to be of the future, for the clock went back, is as fresh as can be.
fn is_within(at: Instant, seconds: u32, now: Instant) -> bool {
    now.since(at) < i64::from(seconds) * 1000
}

pub(super) fn duplicate(derived: &Derived<'_>, policy: &Policy) -> Finding {
    const NAME: &str = "duplicate";
    let Some(other) = derived.duplicate else {
        return Finding::pass(NAME, "No request of the same facts is in the window.");
    };
    let detail = format!("{} asked for the same payment at {}.", other.id, other.at);
    match policy.duplicate {
        Duplicate::StepUp => Finding::step_up(NAME, Reason::PossibleDuplicate, detail),
        Duplicate::Deny => {
            Finding::deny(NAME, Reason::DuplicateWithinWindow, detail).retry_after(Some(other.at.plus_seconds(policy.duplicate_window_seconds)))
        }
    }
}

/// The attempts that this request is one more of: failed ones for the same payee and purpose, within the window of the first.
pub(super) fn attempts<'a>(facts: &DecisionFacts<'a>, key: Option<&PayeeKey>, rule: &RetryPolicy, now: Instant) -> Vec<&'a EarlierRequest> {
    let is_attempt = |other: &&EarlierRequest| {
        other.id != *facts.request_id && other.outcome != Outcome::Live && key == Some(&other.payee) && other.purpose == facts.request.purpose
    };
    let mut failed: Vec<_> = facts.earlier.iter().filter(is_attempt).collect();
    failed.sort_by_key(|other| other.at);
    let mut attempts: Vec<&EarlierRequest> = Vec::new();
    for other in failed {
        if attempts.first().is_some_and(|first| !is_within(first.at, rule.window_seconds, other.at)) {
            attempts.clear();
        }
        attempts.push(other);
    }
    if attempts.first().is_some_and(|first| !is_within(first.at, rule.window_seconds, now)) {
        attempts.clear();
    }
    attempts
}

pub(super) fn retry(facts: &DecisionFacts<'_>, derived: &Derived<'_>, policy: &Policy) -> Finding {
    const NAME: &str = "retry";
    let Some(rule) = &policy.retry_policy else { return Finding::pass(NAME, "The policy does not limit retries.") };
    let attempts = &derived.attempts;
    let number = attempts.len() + 1;
    if number > usize::try_from(rule.max_attempts).unwrap_or(usize::MAX) {
        return Finding::deny(NAME, Reason::RetryLimitReached, format!("This is attempt {number} of at most {}.", rule.max_attempts));
    }
    let is_same = |amount: &Money| *amount == facts.request.amount;
    if rule.same_amount_only && !attempts.iter().all(|other| is_same(&other.amount)) {
        return Finding::deny(NAME, Reason::RetryLimitReached, "An earlier attempt was for another amount.");
    }
    Finding::pass(NAME, format!("This is attempt {number} of at most {}.", rule.max_attempts))
}

impl EarlierRequest {
    /// A request as later ones see it; `None` for one whose payee has no key.
    pub fn of(id: RequestId, at: Instant, request: &PaymentRequestCreate, outcome: Outcome) -> Option<Self> {
        let (payee, subject): (PayeeKey, Subject) = (request.payee.key()?, request.subject());
        Some(Self { id, at, payee, amount: request.amount.clone(), subject, purpose: request.purpose.clone(), outcome })
    }
}
