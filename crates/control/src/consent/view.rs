//! A consent as a client reads it, as its record holds it, and as it is stored.

use lcp::{Object, Value};

use super::{Consent, ConsentSource, Revocation, Terms, revocation::or_null};
use crate::{
    Instant,
    actor::Actor,
    ids::{AgentId, ConsentId, RecordId},
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
        let text = |name| stored.get(name).and_then(Value::as_str);
        let at = |name| text(name).and_then(Instant::parse);
        let object = |name| stored.get(name).and_then(Value::as_object).cloned();
        let array = |name| stored.get(name).and_then(Value::as_array).map(<[Value]>::to_vec);
        let agent = stored.get("agent")?;
        let of_agent = |name| agent.get(name).and_then(Value::as_str);
        Some(Self {
            id: text("id").and_then(ConsentId::parse)?,
            agent_id: of_agent("id").and_then(AgentId::parse)?,
            agent_name: of_agent("name")?.to_owned(),
            source: text("source").and_then(ConsentSource::parse)?,
            given_by: text("given_by").and_then(Actor::parse)?,
            terms: Terms {
                principal: object("principal")?,
                scope: object("scope")?,
                merchant_policies: array("merchant_policies")?,
                acknowledgements: array("acknowledgements")?,
                retention: object("retention")?,
            },
            valid_from: at("valid_from")?,
            valid_until: match stored.get("valid_until")? {
                Value::Null => None,
                _ => Some(at("valid_until")?),
            },
            record_id: text("record_id").and_then(RecordId::parse)?,
            revocation: match stored.get("revocation") {
                Some(stored) => Some(Revocation::from_stored(stored)?),
                None => None,
            },
            has_expired: matches!(stored.get("has_expired")?, Value::Bool(true)),
            created_at: at("created_at")?,
            updated_at: at("updated_at")?,
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
