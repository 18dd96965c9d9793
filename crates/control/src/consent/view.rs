//! A consent as a client reads it, as its record holds it, and as it is stored.

use lcp::{Object, Value};

use super::{Consent, ConsentSource, Revocation, Terms, revocation::or_null};
use crate::{
    Instant,
    actor::Actor,
    ids::{AgentId, ConsentId, RecordId},
    stored::Stored,
};

impl Consent {
    /// The consent as a client reads it at a time, with the signature of its record, once that is sealed.
    pub fn to_json(&self, now: Instant, signature: Option<&Object>) -> Object {
        let shared = self.shared();
        let first = Object::new().with("id", &self.id).with("agent_id", &self.agent_id).with("state", self.state(now).as_str());
        let revocation = self.revocation.as_ref();
        shared
            .iter()
            .filter(|(name, _)| **name != "given_by")
            .fold(first, |object, (name, value)| object.with(name.clone(), value))
            .with("source_connection_id", Value::Null)
            .with("revocation", revocation.map_or(Value::Null, |revocation| revocation.to_json().into()))
            .with("signature", signature.map_or(Value::Null, |signature| signature.clone().into()))
            .with("record_id", &self.record_id)
            .with("revoke_record_id", revocation.map_or(Value::Null, |revocation| (&revocation.record_id).into()))
            .with("consent_record_id", &self.record_id)
            .with("created_at", self.created_at)
            .with("updated_at", self.updated_at)
    }

    /// The members of its record.
    pub(super) fn record_members(&self) -> Object {
        self.shared().with("consent_id", &self.id).with("agent_id", &self.agent_id)
    }

    /// The whole state.
    pub fn to_stored(&self) -> Object {
        self.shared()
            .with("id", &self.id)
            .with("record_id", &self.record_id)
            .with_some("revocation", self.revocation.as_ref().map(Revocation::to_stored))
            .with("has_expired", self.has_expired)
            .with("created_at", self.created_at)
            .with("updated_at", self.updated_at)
    }

    /// Reads [`Consent::to_stored`] back.
    pub fn from_stored(stored: &Value) -> Option<Self> {
        let stored = Stored::of(stored)?;
        let agent = Stored::of(stored.value("agent")?)?;
        let object = |name| stored.value(name)?.as_object().cloned();
        let list = |name| stored.list(name, |value| Some(value.clone()));
        Some(Self {
            id: stored.parsed("id", ConsentId::parse)?,
            agent_id: agent.parsed("id", AgentId::parse)?,
            agent_name: agent.text("name")?.to_owned(),
            source: stored.parsed("source", ConsentSource::parse)?,
            given_by: stored.parsed("given_by", Actor::parse)?,
            terms: Terms {
                principal: object("principal")?,
                scope: object("scope")?,
                merchant_policies: list("merchant_policies")?,
                acknowledgements: list("acknowledgements")?,
                retention: object("retention")?,
            },
            valid_from: stored.instant("valid_from")?,
            valid_until: stored.optional_text("valid_until", Instant::parse)?,
            record_id: stored.parsed("record_id", RecordId::parse)?,
            revocation: stored.optional("revocation", Revocation::from_stored)?,
            has_expired: stored.flag("has_expired")?,
            created_at: stored.instant("created_at")?,
            updated_at: stored.instant("updated_at")?,
        })
    }

    /// What view, record and storage have in common.
    fn shared(&self) -> Object {
        let terms = &self.terms;
        Object::new()
            .with("source", self.source.as_str())
            .with("given_by", &self.given_by)
            .with("principal", terms.principal.clone())
            .with("agent", Object::new().with("id", &self.agent_id).with("name", self.agent_name.as_str()))
            .with("scope", terms.scope.clone())
            .with("merchant_policies", terms.merchant_policies.clone())
            .with("acknowledgements", terms.acknowledgements.clone())
            .with("retention", terms.retention.clone())
            .with("valid_from", self.valid_from)
            .with("valid_until", or_null(self.valid_until))
    }
}
