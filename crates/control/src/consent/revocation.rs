//! The revocation of a consent, and what it took with it.

use lcp::{Object, Value};

use crate::{
    Instant,
    actor::Actor,
    ids::{ApprovalId, MandateId, RecordId},
    stored::{Stored, array},
};

/// A consent's revocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// When it was ordered.
    pub revoked_at: Instant,
    /// Who ordered it.
    pub by: Actor,
    /// From when it counts.
    pub effective_at: Instant,
    /// Whether what the agent holds ends with it.
    pub cascades: bool,
    /// When the client says that it told the institution.
    pub institution_notified_at: Option<Instant>,
    /// Its record.
    pub record_id: RecordId,
    /// Whether it has taken effect.
    pub in_force: bool,
    /// What the cascade did, once it ran.
    pub cascade: Option<Cascade>,
}

/// What a revocation took with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cascade {
    /// When.
    pub applied_at: Instant,
    /// The unused mandates that it voided.
    pub mandates_voided: Vec<MandateId>,
    /// The record of the agent's pause, if the cascade paused it.
    pub pause_record_id: Option<RecordId>,
    /// The approvals that were waiting.
    pub approvals_expired: Vec<ApprovalId>,
}

impl Revocation {
    /// In the client's shape.
    pub fn to_json(&self) -> Object {
        Object::new()
            .with("revoked_at", self.revoked_at)
            .with("by", &self.by)
            .with("effect", "stops_new_mandates_only")
            .with("institution_notified_at", or_null(self.institution_notified_at))
            .with("effective_at", self.effective_at)
            .with("cascades_scheduled", self.cascades)
            // No rail here can be asked to cancel a credential, so none was.
            .with("notified_institution_at", Value::Null)
            .with("cascade", self.cascade.as_ref().map_or(Value::Null, |cascade| cascade.to_json().into()))
    }

    /// The members of its record, which is sealed when it is ordered.
    pub(super) fn record_members(&self) -> Object {
        Object::new()
            .with("revoked_at", self.revoked_at)
            .with("by", &self.by)
            .with("effective_at", self.effective_at)
            .with("cascades_scheduled", self.cascades)
            .with("institution_notified_at", or_null(self.institution_notified_at))
    }

    pub(super) fn to_stored(&self) -> Object {
        self.record_members()
            .with("record_id", &self.record_id)
            .with("in_force", self.in_force)
            .with_some("cascade", self.cascade.as_ref().map(Cascade::to_json))
    }

    pub(super) fn from_stored(stored: &Value) -> Option<Self> {
        let stored = Stored::of(stored)?;
        Some(Self {
            revoked_at: stored.instant("revoked_at")?,
            by: stored.parsed("by", Actor::parse)?,
            effective_at: stored.instant("effective_at")?,
            cascades: stored.flag("cascades_scheduled")?,
            institution_notified_at: stored.optional_text("institution_notified_at", Instant::parse)?,
            record_id: stored.parsed("record_id", RecordId::parse)?,
            in_force: stored.flag("in_force")?,
            cascade: stored.optional("cascade", Cascade::from_stored)?,
        })
    }
}

impl Cascade {
    /// In the client's shape. There are no recurrences yet that it could end.
    pub fn to_json(&self) -> Object {
        Object::new()
            .with("applied_at", self.applied_at)
            .with("mandates_voided", array(&self.mandates_voided, |id| id.into()))
            .with("recurrences_ended", Vec::new())
            .with("recurrences_paused", Vec::new())
            .with("agent_paused", self.pause_record_id.is_some())
            .with("pause_record_id", self.pause_record_id.as_ref().map_or(Value::Null, Value::from))
            .with("approvals_expired", array(&self.approvals_expired, |id| id.into()))
    }

    fn from_stored(stored: &Value) -> Option<Self> {
        let stored = Stored::of(stored)?;
        Some(Self {
            applied_at: stored.instant("applied_at")?,
            mandates_voided: stored.texts("mandates_voided", MandateId::parse)?,
            pause_record_id: stored.optional_text("pause_record_id", RecordId::parse)?,
            approvals_expired: stored.texts("approvals_expired", ApprovalId::parse)?,
        })
    }
}

pub(super) fn or_null(at: Option<Instant>) -> Value {
    at.map_or(Value::Null, Value::from)
}
