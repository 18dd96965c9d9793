//! What happened to a payment request, in its order.

use lcp::{Object, Value};

use crate::{Instant, fault::codes, ids::UserId, stored::Stored};

codes! {
    /// What happened.
    pub enum EventKind {
        /// It was asked for.
        Asked = "asked",
        /// It was decided.
        Decided = "decided",
        /// The person was asked what is wanted.
        QuestionsAsked = "questions_asked",
        /// The person or the agent answered.
        Answered = "answered",
        /// A person was asked whether to pay.
        ApprovalAsked = "approval_asked",
        /// A person approved it.
        Approved = "approved",
        /// A person declined it.
        Declined = "declined",
        /// Nobody answered in time.
        Expired = "expired",
        /// A mandate was issued.
        MandateIssued = "mandate_issued",
        /// The payee used the mandate.
        MandateConsumed = "mandate_consumed",
        /// The mandate's time ran out.
        MandateExpired = "mandate_expired",
        /// The mandate was withdrawn.
        MandateVoided = "mandate_voided",
        /// Something that waited was withdrawn.
        Withdrawn = "withdrawn",
        /// It was handed to a person on the merchant's page.
        HandedOff = "handed_off",
        /// The agent reported the order that the person placed.
        OrderReported = "order_reported",
        /// It was over, and its record was to be sealed.
        Ended = "ended",
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// What.
    pub what: EventKind,
    /// The person who did it, if it was one.
    pub by: Option<UserId>,
}

impl Event {
    /// `{"at", "what"}`, and `by` if a person did it.
    pub fn to_json(&self) -> Object {
        Object::new().with("at", self.at).with("what", self.what.as_str()).with_some("by", self.by.as_ref())
    }

    pub(super) fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self { at: stored.instant("at")?, what: stored.parsed("what", EventKind::parse)?, by: stored.optional_text("by", UserId::parse)? })
    }
}
