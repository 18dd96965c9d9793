//! Payment requests: asking, reading, answering, handing off.

use std::time::Duration;

use control::{
    Instant,
    access::Role,
    card_number,
    decision::find_duplicate,
    ids::{AgentId, OrgId, RecordId, RequestId},
    linked::{LinkedKind, LinkedRecord},
    payment::{AnswersGiven, Asked, HandOffReport, Payment, Reported, RequestState},
    request::{Form, PaymentRequestCreate, TYPED_FIELDS},
};
use lcp::{Hash, Object, Value, json};
use store::{IdempotencyRow, Reader, Tx};
use tokio::{sync::broadcast::Receiver, time};

use super::{Inner, Service, agents::known_agent, clock::OsIds, unreadable};
use crate::{Caller, Problem};

/// The longest that a reader may wait, in seconds: hosts of agents give up on a call not much later.
pub(crate) const MAX_WAIT: u32 = 25;

/// Longest idempotency key, in characters.
pub(crate) const MAX_IDEMPOTENCY_KEY: usize = 255;

/// The answer to a payment request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The request as the client sees it.
    pub view: Object,
    /// Whether it is the stored answer of an earlier call.
    pub replayed: bool,
}

impl Service {
    /// Asks to pay. The same key replays the first answer byte for byte; another body under it is a conflict. Without a key
    /// (which only the MCP form may leave out), the same facts inside the policy's window give the earlier request.
    pub async fn request_payment(&self, caller: &Caller, body: &Value, form: Form, idempotency_key: Option<&str>) -> Result<Answered, Problem> {
        let (caller, body) = (caller.clone(), body.clone());
        let key = match (idempotency_key, body.get("idempotency_key").and_then(Value::as_str)) {
            (None, Some(key)) if form == Form::Mcp => Some(key.to_owned()),
            (key, _) => key.map(str::to_owned),
        };
        if key.as_ref().is_some_and(|key| key.is_empty() || key.chars().count() > MAX_IDEMPOTENCY_KEY || card_number::is_in(key)) {
            return Err(Problem::new(422, "idempotency_key_malformed", "Give an idempotency key of 1 to 255 characters that is no card number."));
        }
        self.write(move |inner, tx, now| inner.ask(tx, &caller, body, form, key.as_deref(), now)).await
    }

    /// The request with its current state. While a person is waited for, it waits up to so many seconds for a change.
    pub async fn payment_request(&self, caller: &Caller, id: &str, wait_seconds: u32) -> Result<Object, Problem> {
        let id = RequestId::parse(id).ok_or_else(Problem::not_found)?;
        let until = time::Instant::now() + Duration::from_secs(u64::from(wait_seconds.min(MAX_WAIT)));
        // Listening starts before reading: no change falls between.
        let mut changes = self.inner.store.changes();
        loop {
            let (view, waits_until) = self.current(caller, &id).await?;
            let Some(waits_until) = waits_until else { return Ok(view) };
            let due = Duration::from_millis(u64::try_from(waits_until.since(self.inner.now())).unwrap_or(0));
            let wake = until.min(time::Instant::now() + due + Duration::from_millis(1));
            let woken = tokio::select! {
                woken = time::timeout_at(wake, changed(&mut changes, &id)) => woken,
                // The server ends: who waits is told where it stands, and asks again.
                () = self.inner.ending.cancelled() => return Ok(view),
            };
            if woken.is_ok() {
                return Ok(self.current(caller, &id).await?.0);
            }
            if time::Instant::now() >= until {
                return Ok(view);
            }
            // It is due: looking again does what time does.
        }
    }

    /// Lets nobody wait any more: whoever does is answered at once.
    pub fn end_waiting(&self) {
        self.inner.ending.cancel();
    }

    /// The view, and until when the request waits for a person if it does.
    async fn current(&self, caller: &Caller, id: &RequestId) -> Result<(Object, Option<Instant>), Problem> {
        let (asking, wanted) = (caller.clone(), id.clone());
        let (view, waits_until, is_due) = self
            .read(move |inner, reader, now| {
                let payment = inner.seen(reader, &asking, &wanted)?;
                let waits = matches!(payment.state(), RequestState::AwaitingApproval | RequestState::AwaitingClarification);
                let waits_until = if waits { payment.due() } else { None };
                let is_due = payment.due().is_some_and(|due| due <= now);
                Ok((payment.view(inner.links(), asking.role == Role::Agent), waits_until, is_due))
            })
            .await?;
        if !is_due {
            return Ok((view, waits_until));
        }
        let (asking, wanted) = (caller.clone(), id.clone());
        self.write(move |inner, tx, now| {
            let payment = inner.ticked(tx, &asking.org, &wanted, now)?;
            Ok((payment.view(inner.links(), asking.role == Role::Agent), None))
        })
        .await
    }

    /// The person's answers to a request's questions; it is decided again.
    pub async fn answer_clarification(&self, caller: &Caller, id: &str, body: &Value) -> Result<Object, Problem> {
        let given = AnswersGiven::read(body)?;
        self.change(caller, id, move |inner, tx, payment, now| {
            let facts = inner.facts(tx, payment.org(), (payment.agent(), payment.key()), payment.request(), now)?;
            let mut after = payment.clone();
            inner.at_desk(now, |desk| after.answer(&given.answers, given.by, &facts.standing(), desk))?;
            Ok(after)
        })
        .await
    }

    /// Hands the checkout to a person on the merchant's page; later, the order that they placed.
    pub async fn hand_off(&self, caller: &Caller, id: &str, body: &Value) -> Result<Object, Problem> {
        card_number::refuse(body, HandOffReport::TYPED_FIELDS)?;
        let body = body.clone();
        self.change(caller, id, move |inner, tx, payment, now| {
            let report = HandOffReport::read(&body, &payment.request().assets())?;
            let mut after = payment.clone();
            let reported = inner.at_desk(now, |desk| after.hand_off(&report.continue_url, report.order, desk))?;
            if let Reported::Late(members) = reported {
                let parents = vec![payment.record_id().clone()];
                let record = LinkedRecord { id: RecordId::fresh(&mut OsIds), kind: LinkedKind::Order, parents, members };
                inner.append_linked(tx, payment.org(), (Some(payment.agent()), Some(payment.id())), record, now)?;
            }
            Ok(after)
        })
        .await
    }

    /// Changes the caller's own request with one command, and gives the view after it.
    async fn change<F>(&self, caller: &Caller, id: &str, command: F) -> Result<Object, Problem>
    where
        F: FnOnce(&Inner, &mut Tx<'_>, &Payment, Instant) -> Result<Payment, Problem> + Send + 'static,
    {
        let (caller, id) = (caller.clone(), RequestId::parse(id).ok_or_else(Problem::not_found)?);
        self.write(move |inner, tx, now| {
            inner.seen(tx, &caller, &id)?;
            let before = inner.ticked(tx, &caller.org, &id, now)?;
            let after = command(inner, tx, &before, now)?;
            inner.save(tx, Some(&before), &after, now)?;
            Ok(after.view(inner.links(), caller.role == Role::Agent))
        })
        .await
    }
}

impl Inner {
    fn ask(&self, tx: &mut Tx<'_>, caller: &Caller, body: Value, form: Form, key: Option<&str>, now: Instant) -> Result<Answered, Problem> {
        card_number::refuse(&body, TYPED_FIELDS)?;
        let agent = asking_agent(tx, caller, &body)?;
        let body_hash = key.map(|_| body_hash(&body)).transpose()?;
        if let (Some(key), Some(hash)) = (key, body_hash)
            && let Some(row) = tx.idempotency(&caller.org, &agent, key)?
        {
            return self.replay(&row, hash);
        }
        let policy = self.policy_for(tx, &caller.org, &agent)?;
        let assets = policy.as_ref().as_ref().map(control::policy::Policy::assets).unwrap_or_default();
        let request = PaymentRequestCreate::read(&body, form, &assets)?;
        let facts = self.facts(tx, &caller.org, (&agent, &caller.key), &request, now)?;
        let id = RequestId::fresh(&mut OsIds);
        if let (None, Ok(policy)) = (key, facts.policy.as_ref())
            && let Some(earlier) = find_duplicate(&facts.earlier, &request, &id, policy, now)
        {
            let earlier = self.ticked(tx, &caller.org, &earlier.id, now)?;
            let view = earlier.view(self.links(), caller.role == Role::Agent).with("duplicate_of", earlier.id().as_str());
            return Ok(Answered { view, replayed: false });
        }
        let asked = Asked {
            id,
            record_id: RecordId::fresh(&mut OsIds),
            org: caller.org.clone(),
            agent: agent.clone(),
            key: caller.key.clone(),
            source: body,
            form,
            request,
        };
        let payment = self.at_desk(now, |desk| Payment::ask(asked, &facts.standing(), desk));
        self.save(tx, None, &payment, now)?;
        let view = payment.view(self.links(), true);
        if let (Some(key), Some(body_hash)) = (key, body_hash) {
            let answer = self.seal_secrets(&answer_place(payment.id()), view.clone())?;
            tx.insert_idempotency(&caller.org, &agent, key, &IdempotencyRow { body_hash, request: payment.id().clone(), answer })?;
        }
        Ok(Answered { view, replayed: false })
    }

    fn replay(&self, row: &IdempotencyRow, body_hash: [u8; 32]) -> Result<Answered, Problem> {
        if row.body_hash != body_hash {
            let sentence = "This idempotency key was used for another request: send the same body, or a key of its own for another purchase.";
            return Err(Problem::new(409, "idempotency_key_reused", sentence));
        }
        let view = self.open_secrets(&answer_place(&row.request), &row.answer, "answer")?;
        Ok(Answered { view: view.as_object().cloned().ok_or_else(|| unreadable("answer"))?, replayed: true })
    }

    /// The payment, if the caller may see it: an agent its own, everyone else those of their organization.
    pub(super) fn seen(&self, reader: &Reader<'_>, caller: &Caller, id: &RequestId) -> Result<Payment, Problem> {
        let payment = self.payment(reader, &caller.org, id)?.ok_or_else(Problem::not_found)?;
        if caller.agent.as_ref().is_some_and(|agent| agent != payment.agent()) { Err(Problem::not_found()) } else { Ok(payment) }
    }

    /// The payment after what time alone did to it.
    pub(super) fn ticked(&self, tx: &mut Tx<'_>, org: &OrgId, id: &RequestId, now: Instant) -> Result<Payment, Problem> {
        let before = self.payment(tx, org, id)?.ok_or_else(Problem::not_found)?;
        let mut after = before.clone();
        if after.tick(now) {
            self.save(tx, Some(&before), &after, now)?;
        }
        Ok(after)
    }
}

/// Waits until the request changes, or may have: a listener that fell behind looks.
async fn changed(changes: &mut Receiver<RequestId>, id: &RequestId) {
    while changes.recv().await.is_ok_and(|changed| changed != *id) {}
}

/// What tells two bodies apart: the RFC 8785 text, the key itself left out, so that both surfaces agree.
fn body_hash(body: &Value) -> Result<[u8; 32], Problem> {
    let object = body.as_object().map(|object| object.without("idempotency_key")).unwrap_or_default();
    let text = json::canonical(&object.into())
        .ok_or_else(|| Problem::new(422, "control_character", "Send well-formed Unicode, and no number that is too large for a double."))?;
    Ok(*Hash::of(text.as_bytes()).bytes())
}

fn answer_place(id: &RequestId) -> String {
    format!("idempotency/{id}/answer")
}

/// The agent that the caller asks for: its own, or for a developer the one that the body names.
fn asking_agent(reader: &Reader<'_>, caller: &Caller, body: &Value) -> Result<AgentId, Problem> {
    let named = body.get("agent_id").and_then(Value::as_str);
    match &caller.agent {
        Some(agent) if named.is_none_or(|named| named == agent.as_str()) => Ok(agent.clone()),
        Some(_) => Err(Problem::new(403, "other_agent", "An agent's key asks for that agent alone: leave agent_id out.")),
        None => {
            let missing = || Problem::new(422, "agent_id_missing", "Say in agent_id which agent pays.");
            let agent = AgentId::parse(named.ok_or_else(missing)?).ok_or_else(missing)?;
            known_agent(reader, &caller.org, &agent)?;
            Ok(agent)
        }
    }
}
