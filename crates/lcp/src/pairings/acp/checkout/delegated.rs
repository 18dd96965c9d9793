//! `acp/checkout/delegated`: the buyer delegates a payment, whose allowance names the checkout session by its id, H.

use crate::{
    Hash, Object, Refusal, Text, Value,
    acp::{self, ID_NOT_HASH, TOO_LARGE},
    json,
    pairing::{Advertised, Buyer, Choice, Completed, Pairing, Unsigned},
    time::Moment,
};

const INPUT_MISSING: Refusal = Refusal::new("acp/input-missing");
const CHOICE_MALFORMED: Refusal = Refusal::new("acp/choice-malformed");
const HASH_NOT_SESSION: Refusal = Refusal::new("acp/hash-not-session");
const SIGNATURE_MALFORMED: Refusal = Refusal::new("acp/signature-malformed");
const ALLOWANCE_CHANGED: Refusal = Refusal::new("acp/allowance-changed");
const ALLOWANCE_MALFORMED: Refusal = Refusal::new("acp/allowance-malformed");

/// An allowance is for one payment.
const REASON: &str = "one_time";
/// Longest merchant id, in UTF-16 code units.
const MAX_MERCHANT_ID: usize = 256;
/// Longest date and time, in UTF-16 code units.
const MAX_EXPIRES_AT: usize = 64;

pub(crate) static PAIRING: Delegated = Delegated;

pub(crate) struct Delegated;

impl Pairing for Delegated {
    fn id(&self) -> &'static str {
        "acp/checkout/delegated"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        acp::advertised(document)
    }

    /// The session and the buyer's terms of the allowance, as they were put in.
    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let input = |name: &str, form: fn(&Value) -> bool| buyer.inputs.get(name).filter(|value| form(value)).ok_or(INPUT_MISSING);
        let choice = acp::choose(advertised, buyer)?.with("max_amount", input("max_amount", is_amount)?);
        ["currency", "merchant_id", "expires_at"].into_iter().try_fold(choice, |choice, name| Ok(choice.with(name, input(name, is_filled)?)))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        let id = choice.get("session").and_then(|session| session.get("id")).and_then(Value::as_str).and_then(Hash::parse);
        if id != Some(**chosen.h) {
            return Err(HASH_NOT_SESSION);
        }
        let text = |name| choice.get(name).and_then(Value::as_text);
        let is_longer = |name, max| text(name).is_some_and(|text: &Text| text.utf16_len() > max);
        if is_longer("merchant_id", MAX_MERCHANT_ID) || is_longer("expires_at", MAX_EXPIRES_AT) {
            return Err(TOO_LARGE);
        }
        let str = |name| text(name).and_then(Text::as_str).filter(|text| !text.is_empty()).ok_or(CHOICE_MALFORMED);
        let max_amount = choice.get("max_amount").filter(|amount| is_amount(amount)).ok_or(CHOICE_MALFORMED)?;
        let (currency, expires_at) = (str("currency")?, str("expires_at")?);
        let is_currency = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_lowercase());
        if !is_currency || Moment::parse(expires_at).is_none() {
            return Err(CHOICE_MALFORMED);
        }
        let allowance = Object::new()
            .with("reason", REASON)
            .with("max_amount", max_amount)
            .with("currency", currency)
            .with("checkout_session_id", &**chosen.h)
            .with("merchant_id", str("merchant_id")?)
            .with("expires_at", expires_at);
        Ok(Box::new(Allowance(allowance.into())))
    }

    fn bound(&self, payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let allowance = payment.get("allowance").and_then(Value::as_object).ok_or(ALLOWANCE_MALFORMED)?;
        let is_right = allowance.len() == 6
            && allowance.get("reason").and_then(Value::as_str) == Some(REASON)
            && allowance.get("max_amount").is_some_and(is_amount)
            && ["currency", "checkout_session_id", "merchant_id", "expires_at"].iter().all(|name| allowance.get(name).is_some_and(is_text));
        if !is_right {
            return Err(ALLOWANCE_MALFORMED);
        }
        allowance.get("checkout_session_id").and_then(Value::as_str).and_then(Hash::parse).ok_or(ID_NOT_HASH)
    }
}

/// An amount in the currency's minor unit.
fn is_amount(value: &Value) -> bool {
    value.as_safe_unsigned().is_some()
}

fn is_text(value: &Value) -> bool {
    value.as_text().is_some()
}

fn is_filled(value: &Value) -> bool {
    value.as_text().is_some_and(|text| text.utf16_len() > 0)
}

struct Allowance(Value);

impl Unsigned for Allowance {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        Ok(Some(Object::new().with("kind", "acp-allowance").with("allowance", &self.0).into()))
    }

    /// Takes the request that delegates the payment, whose allowance is the one that was asked for.
    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        let request = answer.as_object().ok_or(SIGNATURE_MALFORMED)?;
        let unchanged = request.get("allowance").is_some_and(|allowance| json::same(allowance, &self.0));
        if unchanged { Ok(Completed::Payment { signed: answer.clone(), landed: None }) } else { Err(ALLOWANCE_CHANGED) }
    }
}
