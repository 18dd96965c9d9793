//! `ap2/checkout-mandate`: the buyer's checkout mandate commits to the merchant's checkout JWT, whose payload holds the legal
//! context.

use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    ap2::{self, TOO_LARGE},
    jose::digest,
    legal_context::{Fault, LegalContext, hash_and_link},
    pairing::{Advertised, Buyer, Choice, Completed, Pairing, Unsigned},
};

const CHECKOUT_ID_MISSING: Refusal = Refusal::new("ap2/checkout-id-missing");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("ap2/no-legal-context");
const LEGAL_CONTEXT_MALFORMED: Refusal = Refusal::new("ap2/legal-context-malformed");
const NO_PAYABLE_OPTION: Refusal = Refusal::new("ap2/no-payable-option");
const HASH_NOT_IN_CHECKOUT: Refusal = Refusal::new("ap2/hash-not-in-checkout");
const SIGNATURE_MALFORMED: Refusal = Refusal::new("ap2/signature-malformed");

/// Longest checkout id, in UTF-16 code units.
const MAX_ID: usize = 256;

pub(crate) static PAIRING: CheckoutMandate = CheckoutMandate;

pub(crate) struct CheckoutMandate;

impl Pairing for CheckoutMandate {
    fn id(&self) -> &'static str {
        "ap2/checkout-mandate"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        let payload = checkout(document)?;
        Ok(Advertised::whole(LegalContext::read(info(&payload)?).map_err(refusal)?, document))
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Account::parse(buyer.account).ok_or(NO_PAYABLE_OPTION)?;
        let payload = checkout(&advertised.document)?;
        let id = payload.get("id").cloned();
        Ok(Object::new().with("checkoutJwt", &advertised.document).with_some("checkout", id).with("payload", payload))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let jwt = chosen.choice.get("checkoutJwt").unwrap_or(&Value::Null);
        let (h, _) = hash_and_link(info(&checkout(jwt)?)?).map_err(refusal)?;
        if h == **chosen.h { Ok(Box::new(Mandate { jwt: jwt.clone() })) } else { Err(HASH_NOT_IN_CHECKOUT) }
    }

    fn bound(&self, payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let payload = ap2::mandated_checkout(payment)?;
        hash_and_link(info(&payload)?).map(|(h, _)| h).map_err(refusal)
    }
}

/// The payload of a checkout JWT that names its checkout.
fn checkout(jwt: &Value) -> Result<Object, Refusal> {
    let payload = ap2::checkout_payload(jwt)?;
    match payload.get("id").and_then(Value::as_text).map_or(0, Text::utf16_len) {
        0 => Err(CHECKOUT_ID_MISSING),
        1..=MAX_ID => Ok(payload),
        _ => Err(TOO_LARGE),
    }
}

fn info(payload: &Object) -> Result<&Value, Refusal> {
    payload.get("legalContext").ok_or(NO_LEGAL_CONTEXT)
}

fn refusal(fault: Fault) -> Refusal {
    match fault {
        Fault::Malformed | Fault::NotHttps => LEGAL_CONTEXT_MALFORMED,
        Fault::LinkTooLong => TOO_LARGE,
    }
}

struct Mandate {
    jwt: Value,
}

impl Unsigned for Mandate {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        let content = Object::new()
            .with("vct", ap2::CHECKOUT_MANDATE)
            .with("checkout_jwt", &self.jwt)
            .with_some("checkout_hash", self.jwt.as_str().map(digest));
        Ok(Some(Object::new().with("kind", "ap2-checkout-mandate").with("content", content).into()))
    }

    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        answer.as_text().filter(|mandate| mandate.utf16_len() > 0).ok_or(SIGNATURE_MALFORMED)?;
        let signed = Object::new().with("checkout_mandate", answer).with("checkout_jwt", &self.jwt);
        Ok(Completed::Payment { signed: signed.into(), landed: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConfirmedHash, jose::sample::jwt};

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn legal_context() -> Object {
        Object::new()
            .with("type", "sha256")
            .with("value", &h())
            .with("legalContextUrl", "https://atr.seller.example/x")
            .with("legalContextAgreementUrl", "https://agree.seller.example/a")
    }

    fn payload() -> Object {
        Object::new().with("id", "chk_1").with("legalContext", legal_context())
    }

    fn document(payload: Object) -> Value {
        jwt(Object::new(), payload).into()
    }

    fn read(payload: Object) -> String {
        PAIRING.read(&document(payload)).map_or_else(|refusal| refusal.code().to_owned(), |read| read.h.to_string())
    }

    fn build(jwt: impl Into<Value>, atr: &[u8]) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = Object::new().with("checkoutJwt", jwt);
        PAIRING.build(&Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(atr), atr })
    }

    fn build_code(jwt: impl Into<Value>, atr: &[u8]) -> String {
        build(jwt, atr).err().map_or_else(|| "ok".to_owned(), |refusal| refusal.code().to_owned())
    }

    #[test]
    fn a_mandate_over_the_checkout_is_read_back() {
        let checkout = document(payload());
        let read = PAIRING.read(&checkout).unwrap();
        assert_eq!((read.h, read.agreement.as_deref()), (h(), Some("https://agree.seller.example/a")));
        let choose = |account| PAIRING.choose(&read, &Buyer { account, inputs: &Object::new(), now: 0, random: &|_| () });
        let choice = choose("did:web:buyer.example").unwrap();
        assert_eq!(choice, Object::new().with("checkoutJwt", &checkout).with("checkout", "chk_1").with("payload", payload()));
        assert_eq!(choose("did:web").unwrap_err().code(), "ap2/no-payable-option");

        let unsigned = build(&checkout, b"abc").unwrap();
        let hash = digest(checkout.as_str().unwrap());
        let content = Object::new().with("vct", "mandate.checkout.1").with("checkout_jwt", &checkout).with("checkout_hash", &*hash);
        let request = Object::new().with("kind", "ap2-checkout-mandate").with("content", content);
        assert_eq!(unsigned.request(), Ok(Some(request.into())));
        for other in [Value::Null, "".into(), 5u32.into(), Object::new().into()] {
            assert_eq!(unsigned.complete(&other), Err(SIGNATURE_MALFORMED));
        }
        let mandate = jwt(Object::new(), Object::new().with("vct", "mandate.checkout.1").with("checkout_hash", hash)) + "~";
        let Ok(Completed::Payment { signed, landed: None }) = unsigned.complete(&mandate.as_str().into()) else { panic!() };
        assert_eq!(signed, Object::new().with("checkout_mandate", mandate).with("checkout_jwt", checkout).into());
        assert_eq!(PAIRING.bound(&signed, None), Ok(h()));
    }

    #[test]
    fn a_checkout_has_an_id_and_a_legal_context() {
        let linked = |name: &str, url: &str| payload().with("legalContext", legal_context().with(name, url));
        let long = |length: usize| format!("https://a.example/{}", "a".repeat(length - 18));
        for (payload, expected) in [
            (payload().with("id", "c".repeat(256)), &*h().to_string()),
            (payload().with("id", "c".repeat(257)).without("legalContext"), "ap2/too-large"),
            (payload().with("id", ""), "ap2/checkout-id-missing"),
            (payload().with("id", 1u32), "ap2/checkout-id-missing"),
            (Object::new(), "ap2/checkout-id-missing"),
            (payload().without("legalContext"), "ap2/no-legal-context"),
            (payload().with("legalContext", Value::Null), "ap2/legal-context-malformed"),
            (linked("legalContextUrl", "http://a.example/"), "ap2/legal-context-malformed"),
            (linked("legalContextUrl", &long(2048)), &h().to_string()),
            (linked("legalContextUrl", &long(2049)), "ap2/too-large"),
            (linked("legalContextAgreementUrl", "http://a.example/"), "ap2/legal-context-malformed"),
            (linked("legalContextAgreementUrl", &long(2049)), "ap2/legal-context-malformed"),
        ] {
            assert_eq!(read(payload.clone()), expected, "{payload:?}");
        }
        assert_eq!(PAIRING.read(&payload().into()).unwrap_err().code(), "ap2/jws-malformed");
    }

    #[test]
    fn a_choice_is_judged_again_but_for_its_agreement() {
        assert_eq!(build_code(document(payload()), b"abd"), "ap2/hash-not-in-checkout");
        assert_eq!(build_code(document(payload().with("legalContext", legal_context().with("legalContextAgreementUrl", "x"))), b"abc"), "ok");
        assert_eq!(build_code(document(payload().without("id")), b"abc"), "ap2/checkout-id-missing");
        assert_eq!(build_code(document(payload().without("legalContext")), b"abc"), "ap2/no-legal-context");
        assert_eq!(build_code(Value::Null, b"abc"), "ap2/jws-malformed");
        let choice = Object::new();
        let chosen = Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" };
        assert_eq!(PAIRING.build(&chosen).err().unwrap().code(), "ap2/jws-malformed");
    }
}
