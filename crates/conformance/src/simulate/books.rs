//! What counts in the budgets, added up anew each time it is asked for.

use std::collections::{BTreeMap, HashMap};

use control::{
    Instant, Money,
    decision::{Budget, WindowSpend},
    ids::{PolicyId, RequestId},
    policy::{Policy, WindowLimit},
    window::WindowKind,
};

/// How long an amount can count: the longest month or rolling window of the simulator's policies, and the clock's ways.
const KEPT_SECONDS: u32 = 40 * 86_400;

#[derive(Default)]
pub(super) struct Books {
    /// What each request counts with, in the order of time.
    entries: HashMap<PolicyId, BTreeMap<(Instant, RequestId), Money>>,
}

impl Books {
    /// Sets what a request counts with; `None` for nothing.
    pub(super) fn set(&mut self, request: &RequestId, held: Option<&(PolicyId, Instant, Money)>, counted: Option<&(PolicyId, Instant, Money)>) {
        if let Some((policy, at, _)) = held
            && let Some(entries) = self.entries.get_mut(policy)
        {
            entries.remove(&(*at, request.clone()));
        }
        if let Some((policy, at, amount)) = counted {
            self.entries.entry(policy.clone()).or_default().insert((*at, request.clone()), amount.clone());
        }
    }

    /// Forgets what no window reaches any more.
    pub(super) fn forget(&mut self, now: Instant) {
        let from = now.minus_seconds(KEPT_SECONDS);
        for entries in self.entries.values_mut() {
            while entries.first_key_value().is_some_and(|((at, _), _)| *at < from) {
                entries.pop_first();
            }
        }
    }

    /// What counts in each of a policy's windows.
    pub(super) fn spend(&self, policy: &Policy, now: Instant) -> Vec<WindowSpend> {
        let Some(id) = &policy.id else { return Vec::new() };
        policy.budgets(now).into_iter().map(|budget| self.spend_of(id, &budget)).collect()
    }

    fn spend_of(&self, policy: &PolicyId, budget: &Budget) -> WindowSpend {
        let zero = Money::zero(budget.max.currency().clone());
        let is_rolling = matches!(budget.kind, WindowKind::Rolling { .. });
        // Where the clock went back, what was spent in its future still counts: a later rolling window holds both.
        let end = if is_rolling { Instant::MAX } else { budget.window.end };
        let mine: Vec<(Instant, Money)> = self.in_span(policy, budget.window.start, end, &budget.max).collect();
        let counted = mine.iter().fold(zero, |sum, (_, amount)| sum.checked_add(amount).unwrap_or(sum));
        WindowSpend { kind: budget.kind, window: budget.window, counted, entries: if is_rolling { mine } else { Vec::new() } }
    }

    /// The entries of a currency in `start..end`.
    fn in_span<'a>(&'a self, policy: &PolicyId, start: Instant, end: Instant, like: &'a Money) -> impl Iterator<Item = (Instant, Money)> + 'a {
        let entries = self.entries.get(policy);
        let from = entries.into_iter().flat_map(move |entries| entries.range((start, RequestId::of([0; 16]))..));
        from.map(|((at, _), amount)| (*at, amount.clone()))
            .take_while(move |(at, _)| *at < end)
            .filter(|(_, amount)| amount.currency() == like.currency())
    }

    /// Every window of a limit that holds what was spent at an instant: the most that counts in one of them.
    pub(super) fn most_counted(&self, policy: &Policy, limit: &WindowLimit, at: Instant) -> i128 {
        let Some(id) = &policy.id else { return 0 };
        let sum = |entries: &[(Instant, Money)]| entries.iter().map(|(_, amount)| amount.units()).sum::<i128>();
        let WindowKind::Rolling { seconds } = limit.kind else {
            let window = limit.kind.at(&policy.zone, at);
            return sum(&self.in_span(id, window.start, window.end, &limit.max).collect::<Vec<_>>());
        };
        // The windows that hold it end within so many seconds; each is fullest where it ends with an entry.
        let reach = |at: Instant| at.minus_seconds(seconds).plus_millis(1);
        let near: Vec<_> = self.in_span(id, reach(at), at.plus_seconds(seconds), &limit.max).collect();
        let ends = near.iter().map(|(end, _)| *end).filter(|end| *end >= at);
        let within = |end: Instant| near.iter().filter(|(at, _)| (reach(end)..=end).contains(at)).map(|(_, amount)| amount.units()).sum::<i128>();
        ends.map(within).max().unwrap_or_default()
    }
}
