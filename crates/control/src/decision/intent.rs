//! What the person wants: slots that must be known, and what it may cost.

use super::{
    DecisionFacts, Reason,
    finding::{Finding, Verdict},
};
use crate::{
    Money,
    intent::{Question, Slot},
    policy::{Mode, Policy},
};

/// The finding, and the questions that are open.
pub(super) fn slots(facts: &DecisionFacts<'_>, policy: &Policy) -> (Finding, Vec<Question>) {
    const NAME: &str = "intent";
    let (intent, rule) = (facts.intent, &policy.intent);
    let contradictions = intent.contradictions(&facts.request.amount);
    // A list of categories is of no use where the category is not known.
    let is_required = |slot: Slot| rule.required.contains(&slot) || (slot == Slot::Category && policy.categories.allow.is_some());
    let open: Vec<Slot> =
        Slot::ALL.iter().copied().filter(|slot| is_required(*slot) && (!intent.covers(*slot, rule) || contradictions.contains(slot))).collect();
    if open.is_empty() {
        let finding = if contradictions.is_empty() {
            Finding::pass(NAME, "Everything that must be known is.")
        } else {
            Finding::hint(NAME, Reason::IntentConflict, format!("Contradictory: {}.", names(contradictions.into_iter())))
        };
        return (finding, Vec::new());
    }
    let detail = format!("To be known: {}.", names(open.iter().copied()));
    if facts.rounds >= rule.max_rounds {
        let detail = format!("{detail} It was asked {} times.", facts.rounds);
        return (Finding::deny(NAME, Reason::ClarificationExhausted, detail), Vec::new());
    }
    let questions = open.into_iter().map(|slot| Question::new(facts.request_id, slot, rule)).collect();
    (Finding::new(NAME, Verdict::Clarify(Reason::ClarificationRequired), detail), questions)
}

fn names(slots: impl Iterator<Item = Slot>) -> String {
    slots.map(Slot::as_str).collect::<Vec<_>>().join(", ")
}

/// Whether the payment is what the person said that it may cost.
pub(super) fn deviation(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    const NAME: &str = "deviation";
    let amount = &facts.request.amount;
    let Some(named) = facts.intent.named_amount() else {
        return Finding::pass(NAME, "The person named no amount.");
    };
    if amount.is_within(&named) == Some(true) {
        return Finding::pass(NAME, format!("{amount} is within the {named} that the person named."));
    }
    let is_bounded = policy.mode != Mode::Specified;
    let most: Option<Money> = policy.deviation.as_ref().filter(|_| is_bounded).and_then(|deviation| deviation.most(&named));
    if most.as_ref().is_some_and(|most| amount.is_within(most) == Some(true)) {
        return Finding::hint(
            NAME,
            Reason::DeviationWithin,
            format!("{amount} is more than the {named} that the person named, by no more than may be."),
        );
    }
    let detail = format!("{amount} is not within the {named} that the person named.");
    match policy.mode {
        Mode::BoundedStepUp => Finding::step_up(NAME, Reason::DeviationExceeded, detail),
        Mode::Specified | Mode::Bounded => Finding::deny(NAME, Reason::AmountMismatch, detail),
    }
}

/// Whether the amount alone asks for a person.
pub(super) fn threshold(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    const NAME: &str = "approval";
    let amount = &facts.request.amount;
    match &policy.approval.threshold {
        // In another currency it cannot be told to be below.
        Some(threshold) if amount.is_within(threshold) != Some(true) => {
            Finding::step_up(NAME, Reason::ApprovalRequired, format!("{amount} is more than {threshold}, above which a person is asked."))
        }
        Some(threshold) => Finding::pass(NAME, format!("{amount} is within {threshold}, up to which no person is asked.")),
        None => Finding::pass(NAME, "The policy asks no person for the amount alone."),
    }
}
