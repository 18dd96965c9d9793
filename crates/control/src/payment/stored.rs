//! Payments in the store: the request by its source, which is read again, and what became of it. Secrets stand apart.

use lcp::{
    Object, Value,
    json::{self, MAX_DEPTH},
};

use super::{Answer, Approval, Asking, Decided, Event, HandOff, Payment, RequestState, SellerOrder};
use crate::{
    Instant,
    ids::{AgentId, ConsentId, KeyId, OrgId, RecordId, RequestId},
    mandate::{Mandate, Secrets, VoidReason},
    request::{Form, PaymentRequestCreate},
    stored::{Stored, array, asset, stored_asset},
};

/// The version of the form.
const VERSION: u32 = 1;

impl Payment {
    /// All of it but the mandate's secrets ([`Payment::secrets`]).
    pub fn to_stored(&self) -> Object {
        Object::new()
            .with("version", VERSION)
            .with("id", &self.id)
            .with("record_id", &self.record_id)
            .with("org", &self.org)
            .with("agent", &self.agent)
            .with("key", &self.key)
            .with_some("consent", self.consent.as_ref())
            // As a text, for it may nest as deep as what holds it may.
            .with("source", json::write(&self.source))
            .with("form", self.form.as_str())
            .with("assets", array(&self.request.assets(), |asset| stored_asset(asset).into()))
            .with("created_at", self.created_at)
            .with("state", self.state.as_str())
            .with("decided", array(&self.decided, |decided| decided.to_stored().into()))
            .with("asked", array(&self.asked, |asking| asking.to_stored().into()))
            .with("answers", array(&self.answers, |answer| answer.to_stored().into()))
            .with("approvals", array(&self.approvals, |approval| approval.to_json().into()))
            .with_some("mandate", self.mandate.as_ref().map(Mandate::to_stored))
            .with_some("hand_off", self.hand_off.as_ref().map(HandOff::to_stored))
            .with_some("order", self.order.as_ref().map(SellerOrder::to_stored))
            .with_some("withdrawn", self.withdrawn.map(VoidReason::as_str))
            .with("events", array(&self.events, |event| event.to_json().into()))
            .with_some("ended_at", self.ended_at)
    }

    /// Reads what [`Payment::to_stored`] wrote; `None` if it is not of that form. The mandate's secrets are not there
    /// until [`Payment::restore_secrets`].
    pub fn from_stored(value: &Value) -> Option<Self> {
        let stored = Stored::of(value)?;
        if stored.number("version")? != VERSION {
            return None;
        }
        let assets = stored.list("assets", asset)?;
        let form = stored.parsed("form", Form::parse)?;
        let source = stored.parsed("source", |text| json::parse(text, MAX_DEPTH).ok())?;
        let request = PaymentRequestCreate::read(&source, form, &assets).ok()?;
        let answers = stored.list("answers", Answer::from_stored)?;
        let mut intent = request.intent.clone();
        for Answer { slot, text, by, .. } in &answers {
            intent.answer(*slot, text, *by, &request.amount).then_some(())?;
        }
        Some(Self {
            id: stored.parsed("id", RequestId::parse)?,
            record_id: stored.parsed("record_id", RecordId::parse)?,
            org: stored.parsed("org", OrgId::parse)?,
            agent: stored.parsed("agent", AgentId::parse)?,
            key: stored.parsed("key", KeyId::parse)?,
            consent: stored.optional_text("consent", ConsentId::parse)?,
            source,
            form,
            request,
            intent,
            created_at: stored.instant("created_at")?,
            state: stored.parsed("state", RequestState::parse)?,
            decided: stored.list("decided", |value| Decided::from_stored(value, &assets))?,
            asked: stored.list("asked", Asking::from_stored)?,
            answers,
            approvals: stored.list("approvals", Approval::from_stored)?,
            mandate: stored.optional("mandate", |value| Mandate::from_stored(value, &assets))?,
            hand_off: stored.optional("hand_off", |value| HandOff::from_stored(value, &assets))?,
            order: stored.optional("order", |value| SellerOrder::from_stored(value, &assets))?,
            withdrawn: stored.optional_text("withdrawn", VoidReason::parse)?,
            events: stored.list("events", Event::from_stored)?,
            ended_at: stored.optional_text("ended_at", Instant::parse)?,
        })
    }

    /// The mandate's secrets, to be kept encrypted; `None` if there are none or they are not loaded.
    pub fn secrets(&self) -> Option<Object> {
        self.mandate.as_ref()?.secrets.as_ref().map(Secrets::to_stored)
    }

    /// Puts back what [`Payment::secrets`] gave; `None` if it is not of that form, or if there is no mandate.
    pub fn restore_secrets(&mut self, value: &Value) -> Option<()> {
        self.mandate.as_mut()?.secrets = Some(Secrets::from_stored(value)?);
        Some(())
    }
}
