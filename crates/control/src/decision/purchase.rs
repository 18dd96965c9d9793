//! What is bought and how it is paid: category, rail, finality, the agent's identity, the policy that the agent saw.

use super::{DecisionFacts, Reason, finding::Finding};
use crate::policy::{FinalityClass, IdentityRequirement, Policy};

/// Without a category, a policy that lists some asks for it ([`super::intent`]).
pub(super) fn category(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    const NAME: &str = "category";
    let Some(category) = facts.intent.category() else {
        return Finding::pass(NAME, "No category is known.");
    };
    let is_listed = |list: &[String]| list.iter().any(|listed| listed == category);
    if is_listed(&policy.categories.deny) {
        Finding::deny(NAME, Reason::CategoryNotAllowed, "The policy denies the category.")
    } else if policy.categories.allow.as_deref().is_none_or(is_listed) {
        Finding::pass(NAME, "The policy allows the category.")
    } else {
        Finding::deny(NAME, Reason::CategoryNotAllowed, "The policy allows other categories only.")
    }
}

pub(super) fn rail(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    let protocol = facts.request.protocol();
    if policy.rails.allow(protocol) {
        Finding::pass("rail", format!("The policy lets {protocol} carry the payment."))
    } else {
        Finding::deny("rail", Reason::RailNotAllowed, format!("The policy does not let {protocol} carry the payment."))
    }
}

pub(super) fn finality(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    let class = FinalityClass::of(facts.request.protocol());
    let amount = &facts.request.amount;
    match policy.finality_rules.bound(class) {
        Some(bound) if amount.is_within(bound) != Some(true) => {
            Finding::step_up("finality", Reason::FinalityNeedsApproval, format!("The payment is {class}, and {amount} is more than {bound}."))
        }
        _ => Finding::pass("finality", format!("The payment is {class}; the policy lets it be.")),
    }
}

pub(super) fn agent_identity(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    let (amount, protocol) = (&facts.request.amount, facts.request.protocol());
    let applies = |rule: &IdentityRequirement| {
        let is_above = rule.above.as_ref().is_none_or(|above| amount.is_within(above) != Some(true));
        is_above && (rule.rails.is_empty() || rule.rails.contains(&protocol))
    };
    let is_met = |rule: &IdentityRequirement| {
        facts.agent.assurance >= rule.assurance && rule.anchors.iter().all(|anchor| facts.agent.anchors.contains(anchor))
    };
    match policy.identity_requirements.iter().find(|rule| applies(rule) && !is_met(rule)) {
        Some(rule) => Finding::step_up(
            "agent_identity",
            Reason::IdentityInsufficient,
            format!("The agent is known at {}; the policy wants {} and the anchors that it names.", facts.agent.assurance, rule.assurance),
        ),
        None => Finding::pass("agent_identity", format!("The agent is known at {}; the policy wants no more.", facts.agent.assurance)),
    }
}

pub(super) fn policy_snapshot(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    match &facts.request.policy_snapshot_hash {
        Some(seen) if seen.bytes() != policy.hash().bytes() => {
            Finding::hint("policy_snapshot", Reason::PolicySnapshotDiffers, "The agent saw another version of the policy.")
        }
        Some(_) => Finding::pass("policy_snapshot", "The agent saw this version of the policy."),
        None => Finding::pass("policy_snapshot", "The agent names no version of the policy."),
    }
}
