//! AP2, the Agent Payments Protocol: the merchant's checkout JWT, and the buyer's checkout mandate that commits to it. UCP
//! takes the same mandate.

use crate::{
    Object, Refusal, Text, Value,
    jose::{SdJwt, SdJwtFault, TextFault, digest, unverified_payload},
};

const JWS_MALFORMED: Refusal = Refusal::new("ap2/jws-malformed");
pub(crate) const TOO_LARGE: Refusal = Refusal::new("ap2/too-large");
pub(crate) const MANDATE_MALFORMED: Refusal = Refusal::new("ap2/mandate-malformed");
const SD_ALG_UNSUPPORTED: Refusal = Refusal::new("ap2/sd-alg-unsupported");
const DISCLOSURE_UNREFERENCED: Refusal = Refusal::new("ap2/disclosure-unreferenced");
const NO_CHECKOUT_MANDATE: Refusal = Refusal::new("ap2/no-checkout-mandate");
const MANDATE_AMBIGUOUS: Refusal = Refusal::new("ap2/mandate-ambiguous");
const CHECKOUT_NOT_LATEST: Refusal = Refusal::new("ap2/checkout-not-latest");
const CHECKOUT_HASH_MISMATCH: Refusal = Refusal::new("ap2/checkout-hash-mismatch");

/// Longest checkout JWT and longest mandate, in UTF-16 code units.
const MAX_LENGTH: usize = 1 << 20;
/// Most disclosures of an SD-JWT.
const MAX_DISCLOSURES: usize = 128;

/// The type of a closed checkout mandate.
pub(crate) const CHECKOUT_MANDATE: &str = "mandate.checkout.1";

/// The payload of a checkout JWT, whose signature is the merchant's affair.
pub(crate) fn checkout_payload(jwt: &Value) -> Result<Object, Refusal> {
    unverified_payload(checkout_jwt(jwt)?.as_str().ok_or(JWS_MALFORMED)?).map_err(|fault| match fault {
        TextFault::Malformed => JWS_MALFORMED,
        TextFault::TooDeep => TOO_LARGE,
    })
}

/// A checkout JWT of bounded length.
fn checkout_jwt(jwt: &Value) -> Result<&Text, Refusal> {
    let text = jwt.as_text().ok_or(JWS_MALFORMED)?;
    if text.utf16_len() <= MAX_LENGTH { Ok(text) } else { Err(TOO_LARGE) }
}

/// A closed checkout mandate.
pub(crate) struct CheckoutMandate {
    /// The digest of the checkout JWT that the mandate commits to.
    checkout_hash: Text,
    /// The checkout JWT, if the mandate discloses one.
    pub(crate) checkout_jwt: Option<Text>,
}

impl CheckoutMandate {
    /// Reads the one checkout mandate in an SD-JWT, alone or behind the open mandate's, to which `~~` joins it.
    pub(crate) fn read(text: &Text) -> Result<Self, Refusal> {
        if text.utf16_len() > MAX_LENGTH {
            return Err(TOO_LARGE);
        }
        let text = text.as_str().ok_or(MANDATE_MALFORMED)?;
        let mut hops = text.split("~~");
        let closed = match (hops.next(), hops.next(), hops.next()) {
            (Some(closed), None, _) => closed,
            (Some(open), Some(closed), None) => {
                // The joint took its last tilde.
                sd_jwt(&format!("{open}~"))?;
                closed
            }
            _ => return Err(MANDATE_MALFORMED),
        };
        let claims = sd_jwt(closed)?.claims;
        let mut mandates = Vec::new();
        collect(&claims, &mut mandates);
        let mandate = match *mandates {
            [] => return Err(NO_CHECKOUT_MANDATE),
            [mandate] => mandate,
            _ => return Err(MANDATE_AMBIGUOUS),
        };
        let checkout_hash = mandate.get("checkout_hash").and_then(Value::as_text).filter(|text| is_digest(text)).ok_or(MANDATE_MALFORMED)?;
        let checkout_jwt = mandate.get("checkout_jwt").map(|jwt| jwt.as_text().ok_or(MANDATE_MALFORMED)).transpose()?;
        Ok(Self { checkout_hash: checkout_hash.clone(), checkout_jwt: checkout_jwt.cloned() })
    }
}

/// The payload of the checkout JWT to which the mandate beside it commits: `{checkout_mandate, checkout_jwt}`.
pub(crate) fn mandated_checkout(payment: &Value) -> Result<Object, Refusal> {
    let mandate = payment.get("checkout_mandate").and_then(Value::as_text).ok_or(MANDATE_MALFORMED)?;
    let mandate = CheckoutMandate::read(mandate)?;
    let latest = payment.get("checkout_jwt").ok_or(JWS_MALFORMED)?;
    let is_committed = |jwt: &Text| jwt.as_str().is_some_and(|jwt| mandate.checkout_hash == *digest(jwt));
    if !is_committed(checkout_jwt(latest)?) {
        return Err(CHECKOUT_NOT_LATEST);
    }
    if !mandate.checkout_jwt.as_ref().is_none_or(is_committed) {
        return Err(CHECKOUT_HASH_MISMATCH);
    }
    checkout_payload(latest)
}

fn sd_jwt(text: &str) -> Result<SdJwt<'_>, Refusal> {
    SdJwt::read(text, MAX_DISCLOSURES).map_err(|fault| match fault {
        SdJwtFault::Malformed => MANDATE_MALFORMED,
        SdJwtFault::TooLarge => TOO_LARGE,
        SdJwtFault::HashUnsupported => SD_ALG_UNSUPPORTED,
        SdJwtFault::Unreferenced => DISCLOSURE_UNREFERENCED,
    })
}

/// Collects the checkout mandates among an object and what it holds, whose depth the reader bounds.
fn collect<'a>(object: &'a Object, mandates: &mut Vec<&'a Object>) {
    if object.get("vct").and_then(Value::as_str) == Some(CHECKOUT_MANDATE) {
        mandates.push(object);
    }
    object.iter().for_each(|(_, value)| collect_in(value, mandates));
}

fn collect_in<'a>(value: &'a Value, mandates: &mut Vec<&'a Object>) {
    match value {
        Value::Object(object) => collect(object, mandates),
        Value::Array(items) => items.iter().for_each(|item| collect_in(item, mandates)),
        _ => (),
    }
}

/// Whether a text looks like a digest: 43 letters of base64url.
fn is_digest(text: &Text) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.as_str().is_some_and(|text| text.len() == 43 && text.bytes().all(is_letter))
}
