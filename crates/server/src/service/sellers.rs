//! Sellers: whether a mandate is good, and the orders that they took one for.

use std::{cmp::Ordering, sync::Arc};

use control::{
    Asset, Instant,
    ids::MandateId,
    mandate::MandateState,
    payment::Payment,
    seller::{Observation, VerifyRequest, presented_mandate},
};
use lcp::{
    Object, Value,
    jose::{self, Alg, Expected},
    json,
};
use store::Reader;

use super::{Inner, Service, agents::known_agent};
use crate::{Caller, Problem};

/// How deep a mandate's claims nest at most.
const CLAIMS_DEPTH: usize = 16;

/// A mandate that this server signed, and the payment that it was issued for, if that is of the seller's organization.
struct Presented {
    claims: Object,
    payment: Option<Payment>,
}

impl Service {
    /// Whether a mandate is good for the seller now: `{"mandate", "domain"?, "amount"?}`. It changes nothing.
    pub async fn verify_mandate(&self, caller: &Caller, body: &Value) -> Result<Object, Problem> {
        let (caller, body) = (caller.clone(), body.clone());
        self.read(move |inner, reader, now| {
            let presented = match inner.presented(reader, &caller, presented_mandate(&body)?)? {
                Ok(presented) => presented,
                Err(code) => return Ok(verdict(None, vec![code])),
            };
            let verify = VerifyRequest::read(&body, &presented.assets())?;
            let reasons = faults(reader, &caller, &presented, &verify, now)?;
            Ok(verdict(Some(presented.claims), reasons))
        })
        .await
    }

    /// An order that the seller took a mandate for: the mandate is used, once. The same order again changes nothing.
    pub async fn observe_order(&self, caller: &Caller, body: &Value) -> Result<Object, Problem> {
        let (caller, body) = (caller.clone(), body.clone());
        self.write(move |inner, tx, now| {
            let presented = inner.presented(tx, &caller, presented_mandate(&body)?)?.map_err(not_good)?;
            let observed = Observation::read(&body, &presented.assets())?;
            let faults = faults(tx, &caller, &presented, &observed.presented, now)?;
            let payment = presented.payment.ok_or_else(|| not_good("mandate_unknown"))?;
            // An order that was reported before is answered as before, whatever became of the mandate since.
            let is_replay = payment.order().is_some_and(|order| order.report.id == observed.order.report.id);
            if let Some(code) = faults.iter().find(|code| !is_replay || **code == "other_payee") {
                return Err(not_good(code));
            }
            let before = inner.ticked(tx, &caller.org, payment.id(), now)?;
            let mut after = before.clone();
            inner.at_desk(now, |desk| after.consume(observed.order, desk))?;
            inner.save(tx, Some(&before), &after, now)?;
            let view = after.view(inner.links(), false);
            Ok(Object::new()
                .with("order", view.get("order").cloned().unwrap_or(Value::Null))
                .with("mandate_id", after.mandate().map_or(Value::Null, |mandate| (&mandate.id).into()))
                .with("mandate_state", after.mandate().map_or(Value::Null, |mandate| mandate.state.as_str().into()))
                .with("request_id", after.id().as_str())
                .with("record_id", after.record_id().as_str()))
        })
        .await
    }
}

impl Inner {
    /// Reads a mandate. Not ours, or not a mandate: the code that says why.
    fn presented(&self, reader: &Reader<'_>, caller: &Caller, mandate: &str) -> Result<Result<Presented, &'static str>, Problem> {
        let expected = Expected { algs: &[Alg::EdDsa, Alg::Ed25519], typ: record::MANDATE_TYP };
        let verified = match jose::verify(mandate, &expected, |kid| self.keys.get(kid).map(|jwk| jwk.key)) {
            Ok(verified) => verified,
            Err(error) => return Ok(Err(error.code())),
        };
        let claims = json::parse_bytes(&verified.payload, CLAIMS_DEPTH).ok().and_then(|claims| claims.as_object().cloned());
        let id = claims.as_ref().and_then(|claims| claims.get("mandate_id")).and_then(Value::as_str).and_then(MandateId::parse);
        let (Some(claims), Some(id)) = (claims, id) else { return Ok(Err("claims_unreadable")) };
        let payment = match reader.mandate(&caller.org, &id)? {
            Some(row) => self.payment(reader, &caller.org, &row.request)?,
            None => None,
        };
        Ok(Ok(Presented { claims, payment }))
    }
}

impl Presented {
    fn assets(&self) -> Vec<Arc<Asset>> {
        self.payment.as_ref().map(|payment| payment.request().assets()).unwrap_or_default()
    }
}

/// `{"valid", "claims", "reasons"}`; the claims are shown only to the payee.
fn verdict(claims: Option<Object>, reasons: Vec<&'static str>) -> Object {
    let shown = claims.filter(|_| !reasons.contains(&"other_payee") && !reasons.contains(&"mandate_unknown"));
    Object::new()
        .with("valid", reasons.is_empty())
        .with("claims", shown.map_or(Value::Null, Value::from))
        .with("reasons", reasons.into_iter().map(Value::from).collect::<Vec<Value>>())
}

fn not_good(code: &'static str) -> Problem {
    Problem::new(409, code, "This mandate is not good for this order: take no payment with it.")
}

/// Why the mandate is not good for the seller now; nothing if it is.
fn faults(reader: &Reader<'_>, caller: &Caller, presented: &Presented, verify: &VerifyRequest, now: Instant) -> Result<Vec<&'static str>, Problem> {
    let Some(mut payment) = presented.payment.clone() else { return Ok(vec!["mandate_unknown"]) };
    payment.tick(now);
    let mut faults = Vec::new();
    let own = caller.domain.as_ref();
    let says_so = verify.domain.as_ref().is_none_or(|domain| Some(domain) == own);
    if own.is_none() || own != payment.request().payee.domain.as_ref() || !says_so {
        faults.push("other_payee");
    }
    match payment.mandate().map(|mandate| mandate.state) {
        Some(MandateState::Issued) => {}
        Some(MandateState::Consumed) => faults.push("mandate_consumed"),
        Some(MandateState::Expired) => faults.push("mandate_expired"),
        Some(MandateState::Void) => faults.push("mandate_void"),
        None => faults.push("mandate_unknown"),
    }
    if known_agent(reader, payment.org(), payment.agent())?.paused.is_some() {
        faults.push("agent_paused");
    }
    match verify.amount.as_ref().map(|amount| amount.compare(&payment.request().amount)) {
        Some(None) => faults.push("currency_mismatch"),
        Some(Some(Ordering::Greater)) => faults.push("over_mandate"),
        Some(Some(_)) | None => {}
    }
    Ok(faults)
}
