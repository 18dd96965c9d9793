//! Risk: a score made of named signals, the same for the same facts.

use super::{DecisionFacts, PayeeStatus, Reason, derived::Derived, finding::Finding};
use crate::{
    fault::codes,
    policy::{Assurance, FinalityClass, Policy},
};

/// From this score on a person is asked.
pub const REVIEW_SCORE: u32 = 60;
/// From this score on nothing is paid.
pub const BLOCK_SCORE: u32 = 90;

codes! {
    /// Something that makes a payment riskier.
    pub enum Signal {
        /// The payee looks like one that may be paid.
        PayeeLookalike = "payee_lookalike",
        /// The letters of the payee's name imitate another script.
        PayeeNameConfusable = "payee_name_confusable",
        /// The payee could not be verified.
        PayeeUnverified = "payee_unverified",
        /// The payee was never paid before.
        FirstPayment = "first_payment",
        /// The same payment was asked for a short while ago.
        PossibleDuplicate = "possible_duplicate",
        /// It failed before.
        Retry = "retry",
        /// More than four fifths of what one payment may be.
        NearLimit = "near_limit",
        /// It cannot be undone.
        Irreversible = "irreversible",
        /// Nothing but a key is known of the agent.
        AgentUnproven = "agent_unproven",
        /// The person's words are not given.
        NoIntent = "no_intent",
    }
}

impl Signal {
    /// How much it adds to the score.
    pub const fn points(self) -> u32 {
        match self {
            Self::PayeeLookalike => 50,
            Self::PayeeNameConfusable => 25,
            Self::PossibleDuplicate => 15,
            Self::PayeeUnverified | Self::FirstPayment | Self::Retry | Self::NearLimit | Self::Irreversible | Self::AgentUnproven => 10,
            Self::NoIntent => 5,
        }
    }
}

/// The signals that the facts give.
pub(super) fn signals(facts: &DecisionFacts<'_>, derived: &Derived<'_>, policy: &Policy) -> Vec<Signal> {
    let request = facts.request;
    let is_near_limit = || {
        let four_fifths = policy.limits.per_payment.checked_mul(4)?;
        request.amount.checked_mul(5)?.is_within(&four_fifths).map(|is_within| !is_within)
    };
    let is_there = |signal: Signal| match signal {
        Signal::PayeeLookalike => derived.imitated.is_some(),
        Signal::PayeeNameConfusable => derived.is_name_confusable,
        Signal::PayeeUnverified => facts.payee.identity == PayeeStatus::Unverified,
        Signal::FirstPayment => facts.payee.payments_before == 0,
        Signal::PossibleDuplicate => derived.duplicate.is_some(),
        Signal::Retry => !derived.attempts.is_empty(),
        Signal::NearLimit => is_near_limit().unwrap_or(false),
        Signal::Irreversible => FinalityClass::of(request.protocol()) == FinalityClass::Irreversible,
        Signal::AgentUnproven => facts.agent.assurance == Assurance::A0,
        Signal::NoIntent => facts.intent.text.is_none(),
    };
    Signal::ALL.iter().copied().filter(|signal| is_there(*signal)).collect()
}

/// The sum of the signals' points, at most 100.
pub(super) fn score(signals: &[Signal]) -> u32 {
    signals.iter().map(|signal| signal.points()).sum::<u32>().min(100)
}

pub(super) fn check(signals: &[Signal]) -> Finding {
    let score = score(signals);
    let names: Vec<_> = signals.iter().map(|signal| signal.as_str()).collect();
    let detail = if names.is_empty() { "Score 0.".to_owned() } else { format!("Score {score}: {}.", names.join(", ")) };
    match score {
        BLOCK_SCORE.. => Finding::deny("risk", Reason::RiskBlocked, detail),
        REVIEW_SCORE.. => Finding::step_up("risk", Reason::RiskReview, detail),
        _ => Finding::pass("risk", detail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::finding::Verdict;

    #[test]
    fn thresholds() {
        use Signal::{Irreversible, NearLimit, NoIntent, PayeeLookalike, PayeeNameConfusable, PossibleDuplicate};
        assert_eq!(check(&[PayeeLookalike, NoIntent]).verdict, Verdict::Pass);
        assert_eq!(check(&[PayeeLookalike, Irreversible]).verdict, Verdict::StepUp(Reason::RiskReview));
        assert_eq!(check(&[PayeeLookalike, PayeeNameConfusable, Irreversible]).verdict, Verdict::StepUp(Reason::RiskReview));
        assert_eq!(check(&[PayeeLookalike, PayeeNameConfusable, PossibleDuplicate]).verdict, Verdict::Deny(Reason::RiskBlocked));
        assert_eq!(score(Signal::ALL), 100);
        assert_eq!(check(&[NearLimit]).detail, "Score 10: near_limit.");
    }
}
