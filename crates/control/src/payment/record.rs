//! What a record of kind `payment` tells, beside the members of every record.
//!
//! No token, no JWS, no salt; every number a safe integer. What a record may hold has a bound of 1 MiB: a request of more
//! than a fifth of it is told by its digest.

use lcp::{Hash, Object, Value, json};

use super::{Answer, Decided, Payment};
use crate::{
    decision::{Decision, Overrun, PolicyRef},
    request::{Evidence, digest_text},
    stored::array,
};

/// Longest text of a request that is told whole, in bytes.
const MAX_REQUEST: usize = 196_608;

impl Payment {
    /// The members, as they are now.
    pub fn record_members(&self) -> Object {
        let or_null = |object: Option<Object>| object.map_or(Value::Null, Value::from);
        Object::new()
            .with("request_id", &self.id)
            .with("agent_id", &self.agent)
            .with("key_id", &self.key)
            .with("consent_id", self.consent.as_ref().map_or(Value::Null, Value::from))
            .with("created_at", self.created_at)
            .with("state", self.state.as_str())
            .with("request", self.request_told())
            .with("evidence", array(&self.request.evidence, |evidence: &Evidence| evidence.to_json().into()))
            .with("decisions", array(&self.decided, |decided| decided.to_record().into()))
            .with("clarifications", self.clarifications_json())
            .with("answers", array(&self.answers, |answer| Answer::to_stored(answer).into()))
            .with("approvals", array(&self.approvals, |approval| approval.to_json().into()))
            .with("approval", or_null(self.approval().map(super::Approval::to_json)))
            .with("policy", or_null(self.policy().map(PolicyRef::to_json)))
            .with("mandate", or_null(self.mandate.as_ref().map(|mandate| mandate.to_record(&self.agent))))
            .with("handoff", or_null(self.hand_off.as_ref().map(super::HandOff::to_json)))
            .with("order", or_null(self.order.as_ref().map(super::SellerOrder::to_json)))
            .with("outcome", or_null(self.outcome_json()))
            .with("timeline", array(&self.events, |event| event.to_json().into()))
    }

    /// The request as it was understood, its intent with the answers; the evidence stands beside it.
    fn request_told(&self) -> Value {
        let whole: Value = self.request.to_json().without("evidence").with("intent", self.intent.to_json()).into();
        match json::canonical(&whole) {
            Some(text) if text.len() > MAX_REQUEST => {
                let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
                Object::new().with("digest", digest_text(&Hash::of(text.as_bytes()))).with("bytes", bytes).into()
            }
            _ => whole,
        }
    }
}

impl Decided {
    fn to_record(&self) -> Object {
        // The questions stand among the clarifications.
        let decision = self.decision.to_json().without("questions");
        decision
            .with("at", self.at)
            .with("signals", array(&self.decision.risk.signals, |signal| signal.as_str().into()))
            .with("overruns", array(&self.decision.overruns, |overrun| overrun_json(overrun).into()))
            .with("tzdata", self.tzdata.as_str())
    }

    pub(super) fn to_stored(&self) -> Object {
        Object::new()
            .with("at", self.at)
            .with("decision", self.decision.to_stored())
            .with("payee", self.payee.as_str())
            .with("assurance", self.assurance.as_str())
            .with("anchors", array(&self.anchors, |anchor| anchor.as_str().into()))
            .with("tzdata", self.tzdata.as_str())
    }

    pub(super) fn from_stored(value: &Value, assets: &[std::sync::Arc<crate::Asset>]) -> Option<Self> {
        let stored = crate::stored::Stored::of(value)?;
        Some(Self {
            at: stored.instant("at")?,
            decision: Decision::from_stored(stored.value("decision")?, assets)?,
            payee: stored.parsed("payee", crate::decision::PayeeStatus::parse)?,
            assurance: stored.parsed("assurance", crate::policy::Assurance::parse)?,
            anchors: stored.texts("anchors", crate::policy::Anchor::parse)?,
            tzdata: stored.text("tzdata")?.to_owned(),
        })
    }
}

fn overrun_json(overrun: &Overrun) -> Object {
    Object::new()
        .with("window", overrun.budget.kind.to_string())
        .with("start", overrun.budget.window.start)
        .with("end", overrun.budget.window.end)
        .with("max", overrun.budget.max.to_json())
        .with("by", overrun.by.to_json())
}
