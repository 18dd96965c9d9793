//! Payments in the client's shapes.

use lcp::{Object, Value};

use super::{Approval, Payment, RequestState};
use crate::{Instant, decision::PayeeStatus, mandate::VoidReason};

/// What the links of a view start with.
#[derive(Clone, Copy, Debug)]
pub struct Links<'a> {
    /// The base URL of the server, without a slash at its end.
    pub base: &'a str,
}

impl Payment {
    /// The client's `PaymentRequest`. With `secrets` the mandate holds its JWS and, while it may be used, the credential's
    /// token; both must be loaded.
    pub fn view(&self, links: Links<'_>, secrets: bool) -> Object {
        let last = self.decided.last();
        let decision = last.map_or_else(Object::new, |last| last.decision.to_json().with("questions", self.questions_json()));
        let or_null = |object: Option<Object>| object.map_or(Value::Null, Value::from);
        let identity = last.map(|last| {
            let anchor = |anchor: &crate::policy::Anchor| Object::new().with("type", anchor.as_str()).with("status", "verified").into();
            let anchors: Vec<Value> = last.anchors.iter().map(anchor).collect();
            Object::new().with("assurance", last.assurance.as_str()).with("anchors", anchors)
        });
        let payee_identity = last.filter(|last| last.payee != PayeeStatus::Unchecked).map(|last| {
            let none: Vec<Value> = Vec::new();
            let status = Object::new().with("status", last.payee.as_str()).with("checks", none);
            status.with("seller_org", Value::Null).with("checked_at", last.at)
        });
        let none = || Value::from(Vec::<Value>::new());
        Object::new()
            .with("id", &self.id)
            .with("state", self.state.as_str())
            .with("agent_id", &self.agent)
            .with("payee", self.request.payee.to_json())
            .with("amount", self.request.amount.to_json())
            .with("purpose", self.request.purpose.as_str())
            .with("created_at", self.created_at)
            .with("decision", decision)
            .with("risk", or_null(last.map(|last| last.decision.risk.to_json())))
            .with("approval", or_null(self.approval().map(|approval| approval.to_view(links))))
            .with("mandate", or_null(self.mandate_view(secrets)))
            .with("order", or_null(self.order.as_ref().map(super::SellerOrder::to_json)))
            .with("completion", self.completion())
            .with("outcome", or_null(self.outcome_json()))
            .with("handoff", or_null(self.hand_off.as_ref().map(super::HandOff::to_json)))
            .with("reversals", none())
            .with("settlement", Value::Null)
            .with("reconciliation", Value::Null)
            .with("disputes", none())
            .with("fulfillment", Value::Null)
            .with("intent", self.intent.to_json().with("clarifications", self.clarifications_json()))
            .with("identity", or_null(identity))
            .with("payee_identity", or_null(payee_identity))
            .with("record_id", &self.record_id)
            .with("summary", self.summary())
    }

    /// The mandate in the client's shape; a hand-off of a rail has none.
    pub fn mandate_view(&self, secrets: bool) -> Option<Object> {
        self.mandate.as_ref().map(|mandate| mandate.to_json(&self.agent, &self.id, secrets))
    }

    /// What became of completing the checkout here, which is not built yet.
    fn completion(&self) -> Object {
        let state = |state: &str| Object::new().with("state", state);
        let is_waiting = matches!(self.state, RequestState::AwaitingApproval | RequestState::AwaitingClarification);
        match (&self.mandate, self.request.complete_checkout) {
            (_, false) => state("not_requested"),
            (Some(_), true) => state("failed").with("error", "complete_checkout_unavailable"),
            (None, true) if is_waiting => state("pending"),
            (None, true) => state("failed").with("error", "not_paid"),
        }
    }

    /// How it came out; `None` while that is open.
    pub(super) fn outcome_json(&self) -> Option<Object> {
        let status = |status: &str| Object::new().with("status", status);
        let at = |json: Object, at: Option<Instant>| json.with("at", at.map_or(Value::Null, Value::from));
        if let Some(held) = &self.hand_off {
            let json = held.to_json();
            let named = if held.order.is_some() { "completed" } else { "handed_off" };
            return Some(json.iter().fold(status(named), |object, (name, value)| object.with(name.clone(), value)));
        }
        match self.state {
            RequestState::Completed => {
                Some(at(status("completed"), self.ended_at).with_some("order_id", self.order.as_ref().map(|order| order.report.id.as_str())))
            }
            RequestState::Declined => Some(at(status("declined"), self.ended_at)),
            RequestState::Expired => {
                let named = if self.withdrawn.is_some() { "void" } else { "expired" };
                Some(at(status(named), self.ended_at).with_some("reason", self.withdrawn.map(VoidReason::as_str)))
            }
            RequestState::Decided if self.has_ended() => Some(at(status("denied"), self.ended_at)),
            _ => None,
        }
    }
}

impl Approval {
    /// `{"id", "url", "expires_at", "state"}`
    fn to_view(&self, links: Links<'_>) -> Object {
        Object::new()
            .with("id", &self.id)
            .with("url", format!("{}/approve/{}", links.base, self.id))
            .with("expires_at", self.expires_at)
            .with("state", self.state.as_str())
    }
}
