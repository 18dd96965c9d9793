//! How much: currency, one payment, and each budget.

use std::cmp::Ordering;

use super::{DecisionFacts, Reason, facts::Budget, finding::Finding};
use crate::{Instant, Money, policy::Policy, window::WindowKind};

/// By how much a payment passes a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// The budget.
    pub budget: Budget,
    /// What is counted there with this payment, less what may be.
    pub by: Money,
}

pub(super) fn currency(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    let currency = facts.request.amount.currency();
    if *currency == policy.currency || policy.limits.windows.iter().any(|window| window.max.currency() == currency) {
        Finding::pass("currency", format!("The policy has a limit in {}.", currency.symbol()))
    } else {
        Finding::deny("currency", Reason::CurrencyNotCovered, format!("The policy has no limit in {}.", currency.symbol()))
    }
}

pub(super) fn per_payment(facts: &DecisionFacts<'_>, policy: &Policy) -> Finding {
    let (amount, limit) = (&facts.request.amount, &policy.limits.per_payment);
    match amount.is_within(limit) {
        Some(true) => Finding::pass("per_payment", format!("{amount} is within {limit}.")),
        Some(false) => Finding::deny("per_payment", Reason::OverPaymentLimit, format!("{amount} is more than {limit}.")),
        None => Finding::pass("per_payment", "The payment is in another currency, which its windows limit."),
    }
}

/// One finding for each budget, and the overrun if there is one.
pub(super) fn budgets(facts: &DecisionFacts<'_>, policy: &Policy, now: Instant) -> (Vec<Finding>, Vec<Overrun>) {
    let mut overruns = Vec::new();
    let findings = policy.budgets(now).into_iter().map(|budget| judge(facts, policy, budget, &mut overruns)).collect();
    (findings, overruns)
}

fn judge(facts: &DecisionFacts<'_>, policy: &Policy, budget: Budget, overruns: &mut Vec<Overrun>) -> Finding {
    let (amount, max) = (&facts.request.amount, &budget.max);
    let name = if *max.currency() == policy.currency {
        format!("budget_{}", budget.kind)
    } else {
        format!("budget_{}_{}", budget.kind, max.currency().symbol())
    };
    if amount.currency() != max.currency() {
        return Finding::pass(name, "The payment is in another currency.");
    }
    let Some(spend) = budget.spend(facts.spend) else {
        return Finding::deny(name, Reason::BudgetUnknown, "What was spent in the window is not known.");
    };
    let Some(by) = spend.counted.checked_add(amount).and_then(|total| total.checked_sub(max)) else {
        return Finding::deny(name, Reason::OverWindowLimit, format!("{amount} and what was spent are too much to count."));
    };
    if by.units() <= 0 {
        return Finding::pass(name, format!("{} and {amount} are within {max}.", spend.counted));
    }
    let finding = if amount.is_within(max) == Some(true) {
        let detail = format!("{} and {amount} are more than {max} by {by}.", spend.counted);
        Finding::deny(name, Reason::OverBudget, detail).retry_after(room_from(&budget, &spend.entries, &by))
    } else {
        Finding::deny(name, Reason::OverWindowLimit, format!("{amount} is more than the whole of {max}."))
    };
    overruns.push(Overrun { budget, by });
    finding
}

/// From when the payment fits: the end of a calendar window, or when enough of a rolling one has aged out.
fn room_from(budget: &Budget, entries: &[(Instant, Money)], over_by: &Money) -> Option<Instant> {
    let WindowKind::Rolling { seconds } = budget.kind else { return Some(budget.window.end) };
    let mut aging: Vec<_> = entries.iter().filter(|(at, _)| budget.window.has(*at)).collect();
    aging.sort_by_key(|(at, _)| *at);
    let mut over = over_by.clone();
    // Entries of one instant age out together, so a later one of it may take room back.
    for (place, (at, amount)) in aging.iter().enumerate() {
        over = over.checked_sub(amount)?;
        let is_last_of_instant = aging.get(place + 1).is_none_or(|(next, _)| next != at);
        if is_last_of_instant && over.units().cmp(&0) != Ordering::Greater {
            return Some(at.plus_seconds(seconds));
        }
    }
    None
}
