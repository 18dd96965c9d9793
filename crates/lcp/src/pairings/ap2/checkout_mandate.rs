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
