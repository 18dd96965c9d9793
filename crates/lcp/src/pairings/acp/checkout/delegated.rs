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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConfirmedHash;

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn terms() -> Object {
        Object::new().with("max_amount", 19_900u32).with("currency", "usd").with("merchant_id", "acct_1").with("expires_at", "2027-01-01T00:00:00Z")
    }

    fn choice() -> Object {
        terms().with("session", Object::new().with("id", &h()))
    }

    fn allowance() -> Object {
        terms().with("reason", "one_time").with("checkout_session_id", &h())
    }

    fn build(choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
        PAIRING.build(&Choice { choice, reference: &Value::Null, h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" })
    }

    fn code(choice: &Object) -> String {
        build(choice).err().map_or_else(|| "ok".to_owned(), |refusal| refusal.code().to_owned())
    }

    fn bound(allowance: impl Into<Value>) -> String {
        let payment = Object::new().with("allowance", allowance).into();
        PAIRING.bound(&payment, None).map_or_else(|refusal| refusal.code().to_owned(), |h| h.to_string())
    }

    #[test]
    fn the_buyer_s_terms_are_put_in() {
        let read =
            Advertised { h: h(), link: String::new(), agreement: None, document: choice().get("session").unwrap().clone(), options: Vec::new() };
        let choose = |inputs: &Object| PAIRING.choose(&read, &Buyer { account: "abc:d:e", inputs, now: 0, random: &|_| () });
        assert!(json::same(&choose(&terms().with("more", 1u32)).unwrap().into(), &choice().into()));
        for name in ["max_amount", "currency", "merchant_id", "expires_at"] {
            for wrong in [Value::Null, "".into(), [1u32.into()].into(), Value::Number(-1.0), Value::Number(0.5), true.into()] {
                assert_eq!(choose(&terms().with(name, wrong)), Err(INPUT_MISSING), "{name}");
            }
            assert_eq!(choose(&terms().without(name)), Err(INPUT_MISSING), "{name}");
        }
        assert_eq!(choose(&terms().with("max_amount", "19900")), Err(INPUT_MISSING));
        assert_eq!(choose(&terms().with("max_amount", Value::Number(9_007_199_254_740_992.0))), Err(INPUT_MISSING));
    }

    #[test]
    fn an_allowance_comes_back_unchanged() {
        let unsigned = build(&choice()).unwrap();
        let request = unsigned.request().unwrap().unwrap();
        assert_eq!(request.get("kind"), Some(&"acp-allowance".into()));
        assert!(json::same(request.get("allowance").unwrap(), &allowance().into()));
        let answer = |allowance: Object| Value::from(Object::new().with("payment_method", Object::new()).with("allowance", allowance));
        let signed = answer(allowance());
        assert_eq!(unsigned.complete(&signed), Ok(Completed::Payment { signed: signed.clone(), landed: None }));
        assert_eq!(PAIRING.bound(&signed, None), Ok(h()));
        for changed in [allowance().with("max_amount", 1u32), allowance().with("more", 1u32), allowance().without("reason"), Object::new()] {
            assert_eq!(unsigned.complete(&answer(changed)), Err(ALLOWANCE_CHANGED));
        }
        assert_eq!(unsigned.complete(&Object::new().into()), Err(ALLOWANCE_CHANGED));
        for other in [Value::Null, "x".into(), [signed].into()] {
            assert_eq!(unsigned.complete(&other), Err(SIGNATURE_MALFORMED));
        }
    }

    #[test]
    fn the_first_fault_of_a_choice_is_told() {
        let with = |name: &str, value: Value| code(&choice().with(name, value));
        assert_eq!(with("merchant_id", "m".repeat(256).into()), "ok");
        assert_eq!(with("expires_at", format!("2027-01-01T00:00:60.{}+23:59", "1".repeat(38)).into()), "ok");
        for (name, value, expected) in [
            ("session", Value::Null, "acp/hash-not-session"),
            ("session", Object::new().with("id", &Hash::of(b"abd")).into(), "acp/hash-not-session"),
            ("merchant_id", "m".repeat(257).into(), "acp/too-large"),
            ("expires_at", "9".repeat(65).into(), "acp/too-large"),
            ("max_amount", "19900".into(), "acp/choice-malformed"),
            ("currency", "USD".into(), "acp/choice-malformed"),
            ("currency", "u".repeat(300).into(), "acp/choice-malformed"),
            ("merchant_id", "".into(), "acp/choice-malformed"),
            ("merchant_id", json::parse(r#""\ud800""#, 0).unwrap(), "acp/choice-malformed"),
            ("expires_at", "2027-01-01".into(), "acp/choice-malformed"),
            ("expires_at", "2027-02-29T00:00:00Z".into(), "acp/choice-malformed"),
        ] {
            assert_eq!(with(name, value), expected, "{name}");
        }
        let wrong = choice().with("currency", "X").with("max_amount", Value::Null).with("merchant_id", "m".repeat(257));
        assert_eq!(code(&wrong), "acp/too-large");
        assert_eq!(code(&wrong.with("session", "x")), "acp/hash-not-session");
        assert_eq!(code(&Object::new()), "acp/hash-not-session");
    }

    #[test]
    fn an_allowance_has_six_members() {
        assert_eq!(bound(allowance().with("currency", "").with("expires_at", "never")), h().to_string());
        assert_eq!(bound(allowance().with("checkout_session_id", h().lcp_string())), "acp/id-not-hash");
        for other in [Value::Null, "x".into(), Object::new().into(), [allowance().into()].into(), allowance().with("more", 1u32).into()] {
            assert_eq!(bound(other), "acp/allowance-malformed");
        }
        for (name, _) in allowance().iter() {
            let name = name.as_str().unwrap();
            assert_eq!(bound(allowance().without(name)), "acp/allowance-malformed", "{name}");
            assert_eq!(bound(allowance().with(name, Value::Null)), "acp/allowance-malformed", "{name}");
            assert_eq!(bound(allowance().without(name).with("more", "x")), "acp/allowance-malformed", "{name}");
        }
        assert_eq!(bound(allowance().with("reason", "recurring")), "acp/allowance-malformed");
        assert_eq!(bound(allowance().with("max_amount", Value::Number(-1.0))), "acp/allowance-malformed");
        assert_eq!(PAIRING.bound(&Value::Null, None), Err(ALLOWANCE_MALFORMED));
    }
}
