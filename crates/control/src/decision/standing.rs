//! Whether anything may be decided at all: card number, policy, key, agent, consent.

use super::{DecisionFacts, KeyState, NoPolicy, Reason, finding::Finding};
use crate::{Instant, policy::Policy};

pub(super) fn card_number(facts: &DecisionFacts<'_>) -> Finding {
    match facts.card_number {
        Some(hit) => Finding::deny("card_number", Reason::CardNumberRejected, format!("A text looks like a card number: {}.", hit.pointer)),
        None => Finding::pass("card_number", "No text looks like a card number."),
    }
}

pub(super) fn policy(facts: &DecisionFacts<'_>) -> Finding {
    match facts.policy {
        Ok(_) => Finding::pass("policy", "The policy is read and its signature holds."),
        Err(NoPolicy::Missing) => Finding::deny("policy", Reason::PolicyMissing, "No policy is in force."),
        Err(NoPolicy::SignatureInvalid) => Finding::deny("policy", Reason::PolicyUnreadable, "The policy's signature does not hold."),
        Err(NoPolicy::Unreadable(fault)) => Finding::deny("policy", Reason::PolicyUnreadable, format!("The policy cannot be read: {fault}.")),
    }
}

pub(super) fn key(facts: &DecisionFacts<'_>) -> Finding {
    match facts.key {
        KeyState::Active => Finding::pass("key", "The key is in use."),
        KeyState::Revoked => Finding::deny("key", Reason::KeyRevoked, "The key that asked was revoked."),
    }
}

pub(super) fn agent(facts: &DecisionFacts<'_>) -> Finding {
    if facts.agent.is_paused {
        Finding::deny("agent", Reason::AgentPaused, "The agent is paused.")
    } else {
        Finding::pass("agent", "The agent is not paused.")
    }
}

pub(super) fn agent_covered(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    if policy.agents.has(facts.agent.id) {
        Finding::pass("agent_covered", "The policy is for this agent.")
    } else {
        Finding::deny("agent_covered", Reason::AgentNotCovered, "The policy is not for this agent.")
    }
}

/// A revoked consent denies whatever the policy is; a missing or expired one only where the policy wants a consent.
pub(super) fn consent(facts: &DecisionFacts<'_>, now: Instant) -> Finding {
    let is_required = facts.policy.is_ok_and(|policy| policy.require_consent);
    let lacking = |reason, detail: &'static str| {
        if is_required { Finding::deny("consent", reason, detail) } else { Finding::pass("consent", "The policy wants no consent.") }
    };
    match facts.consent {
        Some(consent) if consent.revoked_from.is_some_and(|from| from <= now) => {
            Finding::deny("consent", Reason::ConsentRevoked, "The consent was revoked.")
        }
        Some(consent) if consent.valid_until.is_some_and(|until| until <= now) => lacking(Reason::ConsentExpired, "The consent has expired."),
        Some(consent) if consent.valid_from <= now => Finding::pass("consent", "The consent is in force."),
        Some(_) => lacking(Reason::ConsentMissing, "The consent is not in force yet."),
        None => lacking(Reason::ConsentMissing, "There is no consent."),
    }
}
