//! UCP, the Universal Commerce Protocol: a checkout or a booking whose links name the legal context. Both are paid alike.

use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    ap2::{self, MANDATE_MALFORMED},
    json,
    legal_context::{Fault, LegalContext, agreement_url, atr_link},
    pairing::{Advertised, Buyer, Choice, Completed, Pairing, Unsigned},
};

const CHECKOUT_MALFORMED: Refusal = Refusal::new("ucp/checkout-malformed");
const TOO_LARGE: Refusal = Refusal::new("ucp/too-large");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("ucp/no-legal-context");
const LEGAL_CONTEXT_MALFORMED: Refusal = Refusal::new("ucp/legal-context-malformed");
const LEGAL_CONTEXT_CONFLICT: Refusal = Refusal::new("ucp/legal-context-conflict");
const LINK_NOT_HTTPS: Refusal = Refusal::new("ucp/link-not-https");
const AP2_NOT_ACTIVE: Refusal = Refusal::new("ucp/ap2-not-active");
const NO_PAYABLE_OPTION: Refusal = Refusal::new("ucp/no-payable-option");
const HASH_NOT_IN_CHECKOUT: Refusal = Refusal::new("ucp/hash-not-in-checkout");
const SIGNATURE_MALFORMED: Refusal = Refusal::new("ucp/signature-malformed");
const NOTHING_TO_SIGN: Refusal = Refusal::new("ucp/nothing-to-sign");
const NOT_BUYER_SIGNED: Refusal = Refusal::new("ucp/not-buyer-signed");

/// Largest checkout, in bytes of JSON.
const MAX_CHECKOUT: usize = 1 << 20;
/// Longest checkout id, in UTF-16 code units.
const MAX_ID: usize = 256;
/// Most links of a checkout.
const MAX_LINKS: usize = 64;

/// A pairing in which the buyer signs an AP2 checkout mandate over the merchant-signed checkout.
pub(crate) struct Ap2Mandate(pub(crate) &'static str);

impl Pairing for Ap2Mandate {
    fn id(&self) -> &'static str {
        self.0
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        let (checkout, h, link) = checkout(document)?;
        judge_authorization(checkout)?;
        Ok(Advertised::whole(LegalContext { h, link, agreement: agreement(checkout)? }, document))
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        choose(advertised, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let document = chosen.choice.get("checkout").unwrap_or(&Value::Null);
        let (checkout, h, _) = checkout(document)?;
        judge_authorization(checkout)?;
        if h == **chosen.h { Ok(Box::new(Checkout(document.clone()))) } else { Err(HASH_NOT_IN_CHECKOUT) }
    }

    fn bound(&self, payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        legal_context(&ap2::mandated_checkout(payment)?).map(|(h, _)| h)
    }
}

/// A pairing in which the buyer signs nothing.
pub(crate) struct NotSigned(pub(crate) &'static str);

impl Pairing for NotSigned {
    fn id(&self) -> &'static str {
        self.0
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        let (checkout, h, link) = checkout(document)?;
        Ok(Advertised::whole(LegalContext { h, link, agreement: agreement(checkout)? }, document))
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        choose(advertised, buyer)
    }

    fn build(&self, _chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        Err(NOTHING_TO_SIGN)
    }

    fn bound(&self, _payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        Err(NOT_BUYER_SIGNED)
    }
}

/// The choice, the checkout itself: any account names the buyer.
fn choose(advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
    Account::parse(buyer.account).ok_or(NO_PAYABLE_OPTION)?;
    Ok(Object::new().with("checkout", &advertised.document))
}

/// A checkout of bounded size that has an id, with the hash and the link of its legal context.
fn checkout(document: &Value) -> Result<(&Object, Hash, String), Refusal> {
    let checkout = document.as_object().ok_or(CHECKOUT_MALFORMED)?;
    if !json::fits(document, MAX_CHECKOUT) {
        return Err(TOO_LARGE);
    }
    match checkout.get("id").and_then(Value::as_text).map_or(0, Text::utf16_len) {
        0 => return Err(CHECKOUT_MALFORMED),
        1..=MAX_ID => (),
        _ => return Err(TOO_LARGE),
    }
    let (h, link) = legal_context(checkout)?;
    Ok((checkout, h, link))
}

/// The hash and the link in the one link of type `legal_context`.
fn legal_context(checkout: &Object) -> Result<(Hash, String), Refusal> {
    let links = match checkout.get("links") {
        None => &[],
        Some(links) => links.as_array().ok_or(CHECKOUT_MALFORMED)?,
    };
    if links.len() > MAX_LINKS {
        return Err(TOO_LARGE);
    }
    let entry = link_of(links, "legal_context")?.ok_or(NO_LEGAL_CONTEXT)?;
    let h = entry.get("title").and_then(Value::as_str).and_then(Hash::from_lcp_string).ok_or(LEGAL_CONTEXT_MALFORMED)?;
    Ok((h, atr_link(entry.get("url").unwrap_or(&Value::Null)).map_err(refusal)?))
}

/// The agreement URL in the one link of type `legal_context_agreement`, if there is one.
fn agreement(checkout: &Object) -> Result<Option<String>, Refusal> {
    let links = checkout.get("links").and_then(Value::as_array).unwrap_or_default();
    let entry = link_of(links, "legal_context_agreement")?;
    entry.map(|entry| agreement_url(entry.get("url").unwrap_or(&Value::Null)).map_err(refusal)).transpose()
}

/// The link of a type that no two links have.
fn link_of<'a>(links: &'a [Value], of: &str) -> Result<Option<&'a Value>, Refusal> {
    let mut entries = links.iter().filter(|link| link.get("type").and_then(Value::as_str) == Some(of));
    let entry = entries.next();
    if entries.next().is_none() { Ok(entry) } else { Err(LEGAL_CONTEXT_CONFLICT) }
}

fn refusal(fault: Fault) -> Refusal {
    match fault {
        Fault::Malformed => LEGAL_CONTEXT_MALFORMED,
        Fault::NotHttps => LINK_NOT_HTTPS,
        Fault::LinkTooLong => TOO_LARGE,
    }
}

/// Whether the checkout offers AP2: it holds the merchant's detached JWS over itself, a header and a signature.
fn judge_authorization(checkout: &Object) -> Result<(), Refusal> {
    let authorization = checkout.get("ap2").and_then(|ap2| ap2.get("merchant_authorization")).and_then(Value::as_str);
    let (header, signature) = authorization.and_then(|jws| jws.split_once("..")).ok_or(AP2_NOT_ACTIVE)?;
    let is_segment = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_segment(header) && is_segment(signature) { Ok(()) } else { Err(AP2_NOT_ACTIVE) }
}

struct Checkout(Value);

impl Unsigned for Checkout {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        Ok(Some(Object::new().with("kind", "ucp-checkout").with("checkout", &self.0).into()))
    }

    /// Takes the mandate, which must disclose the checkout JWT that it commits to: the payment carries both.
    fn complete(&self, answer: &Value) -> Result<Completed, Refusal> {
        let mandate = answer.as_text().filter(|mandate| mandate.utf16_len() > 0).ok_or(SIGNATURE_MALFORMED)?;
        let jwt = ap2::CheckoutMandate::read(mandate)?.checkout_jwt.ok_or(MANDATE_MALFORMED)?;
        let signed = Object::new().with("checkout_mandate", answer).with("checkout_jwt", jwt);
        Ok(Completed::Payment { signed: signed.into(), landed: None })
    }
}
