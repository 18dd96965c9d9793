//! What a decision reads: everything is loaded before, nothing is looked up.

use crate::{
    Fault, Instant, Money,
    card_number::Hit,
    fault::codes,
    ids::{AgentId, RequestId},
    intent::Intent,
    payee::PayeeKey,
    policy::{Anchor, Assurance, Policy},
    request::{PaymentRequestCreate, Subject},
    window::{Window, WindowKind},
};

/// All that a decision is made of, beside the time.
#[derive(Clone, Debug)]
pub struct DecisionFacts<'a> {
    /// The request's id: questions are named after it, and it is not its own duplicate.
    pub request_id: &'a RequestId,
    /// What was asked.
    pub request: &'a PaymentRequestCreate,
    /// The request's intent with the answers given since.
    pub intent: &'a Intent,
    /// How often the person was asked already.
    pub rounds: u32,
    /// Where the request or an answer holds what looks like a card number.
    pub card_number: Option<&'a Hit>,
    /// Who asks.
    pub agent: AgentFacts<'a>,
    /// The key that asked.
    pub key: KeyState,
    /// The consent that the agent acts under.
    pub consent: Option<ConsentFacts>,
    /// The policy, or why there is none to decide by.
    pub policy: Result<&'a Policy, &'a NoPolicy>,
    /// What is known of the payee.
    pub payee: PayeeFacts,
    /// What counts already in each window of [`Policy::budgets`].
    pub spend: &'a [WindowSpend],
    /// Earlier requests of the same agent, at least as far back as the policy looks.
    pub earlier: &'a [EarlierRequest],
    /// Whether a person approved the payment.
    pub is_approved: bool,
}

/// Who asks.
#[derive(Clone, Debug)]
pub struct AgentFacts<'a> {
    /// The agent.
    pub id: &'a AgentId,
    /// Whether it was paused.
    pub is_paused: bool,
    /// How well it is known.
    pub assurance: Assurance,
    /// The anchors of its identity that are verified.
    pub anchors: &'a [Anchor],
}

codes! {
    /// The state of an API key.
    pub enum KeyState {
        /// In use.
        Active = "active",
        /// Revoked.
        Revoked = "revoked",
    }
}

/// A consent's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsentFacts {
    /// In force from then on,
    pub valid_from: Instant,
    /// and before then, if it ends.
    pub valid_until: Option<Instant>,
    /// Revoked from then on, if it is; before, it is in force.
    pub revoked_from: Option<Instant>,
}

impl ConsentFacts {
    /// Whether it holds at a moment.
    pub fn is_in_force(&self, now: Instant) -> bool {
        self.valid_from <= now && [self.valid_until, self.revoked_from].into_iter().flatten().all(|end| now < end)
    }

    /// When it ends after a moment, if that is known.
    pub fn ends_after(&self, now: Instant) -> Option<Instant> {
        [self.valid_until, self.revoked_from].into_iter().flatten().filter(|end| *end > now).min()
    }
}

/// Why there is no policy to decide by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPolicy {
    /// The organization has none for the agent.
    Missing,
    /// The document cannot be read.
    Unreadable(Fault),
    /// The document is not the one that was signed.
    SignatureInvalid,
}

/// What is known of the payee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayeeFacts {
    /// What a check of its identity said.
    pub identity: PayeeStatus,
    /// How many payments to it were made before.
    pub payments_before: u32,
}

codes! {
    /// What a check of a payee's identity said.
    pub enum PayeeStatus {
        /// It is who it says.
        Verified = "verified",
        /// It was not checked.
        Unchecked = "unchecked",
        /// It could not be shown.
        Unverified = "unverified",
        /// It is not who it says.
        Mismatch = "mismatch",
    }
}

/// A budget at a moment: which window it is in, and what it may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What it spans.
    pub kind: WindowKind,
    /// The window that holds the moment.
    pub window: Window,
    /// The most that may count in it.
    pub max: Money,
}

/// What counts in a budget's window already: issued there, less what came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowSpend {
    /// What the window spans.
    pub kind: WindowKind,
    /// The window.
    pub window: Window,
    /// The sum, in the budget's currency.
    pub counted: Money,
    /// The parts of the sum with when they were spent. They are read for rolling windows alone, to tell when enough has
    /// aged out; without them no time is told.
    pub entries: Vec<(Instant, Money)>,
}

/// An earlier request of the same agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierRequest {
    /// Its id.
    pub id: RequestId,
    /// When it was made.
    pub at: Instant,
    /// Who was to be paid.
    pub payee: PayeeKey,
    /// How much.
    pub amount: Money,
    /// Its checkout's reference, or its purpose without one.
    pub subject: Subject,
    /// What for.
    pub purpose: String,
    /// What became of it.
    pub outcome: Outcome,
}

codes! {
    /// What became of an earlier request.
    pub enum Outcome {
        /// It was allowed, observed or approved, or waits for a person: paying once more may be paying twice.
        Live = "live",
        /// It was denied, declined, expired, or the rail failed: nothing was paid.
        Failed = "failed",
        /// It was handed to a person on the merchant's page: paying once more may be paying twice, and is another attempt.
        HandedOff = "handed_off",
    }
}

impl Policy {
    /// The budgets at a moment, in the order of the policy's windows.
    pub fn budgets(&self, now: Instant) -> Vec<Budget> {
        let budget = |limit: &crate::policy::WindowLimit| Budget { kind: limit.kind, window: limit.kind.at(&self.zone, now), max: limit.max.clone() };
        self.limits.windows.iter().map(budget).collect()
    }
}

impl Budget {
    /// What counts in it already; `None` if the facts do not say.
    pub(super) fn spend<'a>(&self, spend: &'a [WindowSpend]) -> Option<&'a WindowSpend> {
        spend.iter().find(|spend| spend.kind == self.kind && spend.window == self.window && spend.counted.currency() == self.max.currency())
    }
}
