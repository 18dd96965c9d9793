//! A person's approval: what it binds, and what a click does.

use lcp::{Hash, Object, Value, json};

use super::{Desk, Event, EventKind, Payment, RequestState, Standing};
use crate::{
    Instant, Refusal, RefusalKind,
    decision::{DecisionResult, PolicyRef},
    fault::codes,
    ids::{ApprovalId, UserId},
    policy::Policy,
    request::digest_text,
    stored::Stored,
};

codes! {
    /// The state of an approval.
    pub enum ApprovalState {
        /// A person may answer.
        Pending = "pending",
        /// A person approved.
        Approved = "approved",
        /// A person declined.
        Declined = "declined",
        /// Nobody answered in time.
        Expired = "expired",
        /// A person approved, but more was to be known first: what was approved is not what will be paid.
        Superseded = "superseded",
        /// It was withdrawn.
        Void = "void",
    }
}

/// An approval that a person is asked for. It is answered once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// Its state.
    pub state: ApprovalState,
    /// When a person was asked.
    pub asked_at: Instant,
    /// A person may answer before then.
    pub expires_at: Instant,
    /// What was shown: `sha256:` and the hash of payee, amount, currency, purpose, checkout, agent and policy version.
    pub digest: String,
    /// Who answered.
    pub by: Option<UserId>,
    /// When it was answered, expired or withdrawn.
    pub over_at: Option<Instant>,
}

impl Payment {
    pub(super) fn open_approval(&mut self, policy: &Policy, desk: &mut Desk<'_>) {
        self.approvals.push(Approval {
            id: ApprovalId::fresh(desk.ids),
            state: ApprovalState::Pending,
            asked_at: desk.now,
            expires_at: desk.now.plus_seconds(policy.approval.expires_in_seconds),
            digest: self.shown_digest(&PolicyRef::of(policy)),
            by: None,
            over_at: None,
        });
        self.state = RequestState::AwaitingApproval;
        self.note(desk.now, EventKind::ApprovalAsked);
    }

    /// The digest of what a person is shown.
    fn shown_digest(&self, policy: &PolicyRef) -> String {
        let request = &self.request;
        let shown = Object::new()
            .with("payee", request.payee.key().map_or(Value::Null, |key| key.to_string().into()))
            .with("amount", request.amount.decimal())
            .with("currency", request.amount.currency())
            .with("purpose", request.purpose.as_str())
            .with("checkout", request.checkout.as_ref().map_or(Value::Null, |checkout| checkout.to_json().into()))
            .with("agent", &self.agent)
            .with("policy", policy.to_json());
        // Every text was read as well-formed Unicode, so there is a canonical form.
        digest_text(&Hash::of(json::canonical(&shown.into()).unwrap_or_default().as_bytes()))
    }

    /// A person approves what was shown. It is decided again, under the policy and the facts of now; what a person had to
    /// be asked for counts as passed, a denial still denies. A second click of the same verdict changes nothing.
    pub fn approve(&mut self, by: &UserId, digest: &str, standing: &Standing<'_>, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        may_answer(by, standing)?;
        if self.is_answered(digest, ApprovalState::Approved, desk.now)? {
            return Ok(());
        }
        self.answer_approval(ApprovalState::Approved, by, desk.now);
        self.decide(standing, true, desk);
        if self.decision().is_some_and(|decision| decision.result == DecisionResult::Clarify) {
            self.set_approval(ApprovalState::Superseded);
        }
        Ok(())
    }

    /// A person declines what was shown. A second click changes nothing.
    pub fn decline(&mut self, by: &UserId, digest: &str, standing: &Standing<'_>, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        may_answer(by, standing)?;
        if self.is_answered(digest, ApprovalState::Declined, desk.now)? {
            return Ok(());
        }
        self.answer_approval(ApprovalState::Declined, by, desk.now);
        self.state = RequestState::Declined;
        self.end(desk.now);
        Ok(())
    }

    /// Whether the approval was answered like this already; refused if it cannot be answered so.
    fn is_answered(&self, digest: &str, verdict: ApprovalState, now: Instant) -> Result<bool, Refusal> {
        let Some(approval) = self.approvals.last() else {
            return Err(Refusal::conflict("approval_not_asked", "Nobody was asked to approve this payment."));
        };
        if approval.digest != digest {
            return Err(Refusal::conflict("approval_changed", "Load the page again: what it showed is not what is to be approved."));
        }
        match approval.state {
            ApprovalState::Pending if now < approval.expires_at => Ok(false),
            ApprovalState::Pending | ApprovalState::Expired => {
                Err(Refusal::conflict("approval_expired", "The time to approve is over; the agent can ask for the payment again."))
            }
            state if state == verdict => Ok(true),
            ApprovalState::Approved | ApprovalState::Declined => {
                Err(Refusal::conflict("approval_already_decided", "Another answer was given before; it stands."))
            }
            ApprovalState::Superseded => {
                Err(Refusal::conflict("approval_superseded", "More was to be known before this payment; wait until it is asked for anew."))
            }
            ApprovalState::Void => Err(Refusal::conflict("approval_void", "The payment was withdrawn before anybody answered.")),
        }
    }

    fn answer_approval(&mut self, verdict: ApprovalState, by: &UserId, at: Instant) {
        self.end_approval(verdict, at);
        if let Some(approval) = self.approvals.last_mut() {
            approval.by = Some(by.clone());
        }
        let what = if verdict == ApprovalState::Approved { EventKind::Approved } else { EventKind::Declined };
        self.events.push(Event { at, what, by: Some(by.clone()) });
    }

    pub(super) fn end_approval(&mut self, state: ApprovalState, at: Instant) {
        self.set_approval(state);
        if let Some(approval) = self.approvals.last_mut() {
            approval.over_at = Some(at);
        }
    }

    fn set_approval(&mut self, state: ApprovalState) {
        if let Some(approval) = self.approvals.last_mut() {
            approval.state = state;
        }
    }
}

/// Where the policy of now names the people who may answer, only they may.
fn may_answer(by: &UserId, standing: &Standing<'_>) -> Result<(), Refusal> {
    let approvers = standing.policy.map_or(&[][..], |policy| &policy.approval.approvers);
    if approvers.is_empty() || approvers.contains(by) {
        return Ok(());
    }
    Err(Refusal::new(RefusalKind::Forbidden, "not_an_approver", "Ask one of the people whom the policy lets answer."))
}

impl Approval {
    /// As it is stored and recorded.
    pub fn to_json(&self) -> Object {
        Object::new()
            .with("id", &self.id)
            .with("state", self.state.as_str())
            .with("asked_at", self.asked_at)
            .with("expires_at", self.expires_at)
            .with("digest", self.digest.as_str())
            .with_some("by", self.by.as_ref())
            .with_some("over_at", self.over_at)
    }

    pub(super) fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            id: stored.parsed("id", ApprovalId::parse)?,
            state: stored.parsed("state", ApprovalState::parse)?,
            asked_at: stored.instant("asked_at")?,
            expires_at: stored.instant("expires_at")?,
            digest: stored.text("digest")?.to_owned(),
            by: stored.optional_text("by", UserId::parse)?,
            over_at: stored.optional_text("over_at", Instant::parse)?,
        })
    }
}
