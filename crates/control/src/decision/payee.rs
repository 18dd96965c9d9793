//! Who is paid: lists, screening, looks, identity, and the checkout's domain.

use super::{DecisionFacts, PayeeStatus, Reason, derived::Derived, finding::Finding};
use crate::{
    payee::PayeeKey,
    policy::{Policy, UnknownPayee, Unverified},
    request::Protocol,
};

pub(super) fn denied(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    if policy.payees.deny.has_any_of(&facts.request.payee) {
        Finding::deny("payee_denied", Reason::PayeeBlocked, "The policy denies the payee.")
    } else {
        Finding::pass("payee_denied", "The policy does not deny the payee.")
    }
}

pub(super) fn screening(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    match policy.screening.hit(&facts.request.payee, &facts.request.purpose) {
        Some(what) => Finding::deny("screening", Reason::ScreeningHit, format!("The {what} is on a screening list.")),
        None => Finding::pass("screening", "Nothing is on a screening list."),
    }
}

pub(super) fn known(facts: &DecisionFacts<'_>, derived: &Derived<'_>, policy: &Policy) -> Finding {
    let allow = &policy.payees.allow;
    if derived.key.as_ref().is_some_and(|key| allow.has(key)) {
        // The domain is who takes the mandate: a merchant id that is listed vouches for no domain that came beside it.
        let domain = facts.request.payee.domain.clone().map(PayeeKey::Domain);
        if domain.is_none_or(|domain| allow.has(&domain)) {
            return Finding::pass("payee_known", "The policy allows the payee.");
        }
    }
    match policy.payees.unknown {
        UnknownPayee::Allow => Finding::pass("payee_known", "The policy allows payees that it does not name."),
        UnknownPayee::StepUp => Finding::step_up("payee_known", Reason::PayeeUnknown, "The policy does not name the payee."),
        UnknownPayee::Deny => Finding::deny("payee_known", Reason::PayeeNotAllowed, "The policy allows only payees that it names."),
    }
}

pub(super) fn looks(derived: &Derived<'_>) -> Finding {
    if let Some(entry) = derived.imitated {
        return Finding::step_up("payee_looks", Reason::PayeeLookalike, format!("The payee looks like {entry}, and is another."));
    }
    if derived.is_name_confusable {
        return Finding::hint("payee_looks", Reason::PayeeNameConfusable, "The letters of the payee's name imitate another script.");
    }
    Finding::pass("payee_looks", "The payee looks like no other.")
}

pub(super) fn identity(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    const NAME: &str = "payee_identity";
    // A payment in another currency than the bound's is taken for one above it.
    let rule =
        policy.payee_identity.as_ref().filter(|rule| rule.above.as_ref().is_none_or(|above| facts.request.amount.is_within(above) != Some(true)));
    match (facts.payee.identity, rule) {
        (PayeeStatus::Mismatch, _) => Finding::deny(NAME, Reason::PayeeIdentityMismatch, "The payee is not who it says."),
        (PayeeStatus::Verified, _) => Finding::pass(NAME, "The payee is verified."),
        (_, Some(rule)) => match rule.otherwise {
            Unverified::StepUp => Finding::step_up(NAME, Reason::PayeeNotVerified, "The policy wants the payee verified."),
            Unverified::Deny => Finding::deny(NAME, Reason::PayeeNotVerified, "The policy wants the payee verified."),
        },
        (PayeeStatus::Unverified, None) => {
            Finding::hint(NAME, Reason::PayeeUnverified, "The payee could not be verified; the policy does not want it.")
        }
        (PayeeStatus::Unchecked, None) => Finding::pass(NAME, "The policy does not want the payee verified."),
    }
}

/// A checkout that is a URL must be on the payee's domain; a resource that is paid for always is one.
pub(super) fn domain(facts: &DecisionFacts<'_>) -> Finding {
    const NAME: &str = "payee_domain";
    let Some(url) = facts.request.checkout.as_ref().and_then(|checkout| checkout.url.as_ref()) else {
        return Finding::pass(NAME, "The checkout is no URL.");
    };
    match &facts.request.payee.domain {
        Some(domain) if url.host().is_on(domain) => Finding::pass(NAME, "The checkout is on the payee's domain."),
        Some(_) => Finding::deny(NAME, Reason::PayeeMismatch, "The checkout is not on the payee's domain."),
        None if matches!(facts.request.protocol(), Protocol::X402 | Protocol::Mpp) => {
            Finding::deny(NAME, Reason::PayeeDomainMissing, "Name the domain of the resource as the payee's.")
        }
        None => Finding::pass(NAME, "The payee names no domain."),
    }
}
