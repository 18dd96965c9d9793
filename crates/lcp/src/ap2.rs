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
    for (_, value) in object.iter() {
        collect_in(value, mandates);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::sample::{claim, digests, element, encoded, jwt, place};

    fn checkout() -> String {
        jwt(Object::new(), Object::new().with("id", "chk_1"))
    }

    fn mandate(checkout: &str) -> Object {
        Object::new().with("vct", CHECKOUT_MANDATE).with("checkout_hash", digest(checkout))
    }

    fn sd_jwt_of(payload: Object, disclosures: &[&str]) -> String {
        disclosures.iter().fold(jwt(Object::new(), payload) + "~", |text, disclosure| text + disclosure + "~")
    }

    /// What a mandate beside the checkout comes to.
    fn judge(mandate: &str) -> String {
        judge_beside(mandate, checkout())
    }

    fn judge_beside(mandate: impl Into<Value>, checkout: impl Into<Value>) -> String {
        let payment = Object::new().with("checkout_mandate", mandate).with("checkout_jwt", checkout);
        mandated_checkout(&payment.into())
            .map_or_else(|refusal| refusal.code().to_owned(), |payload| payload.get("id").and_then(Value::as_str).unwrap_or("no id").to_owned())
    }

    #[test]
    fn a_mandate_commits_to_the_checkout_whether_it_discloses_it_or_not() {
        let (committed, disclosed) = (mandate(&checkout()), claim("checkout_jwt", checkout()));
        assert_eq!(judge(&sd_jwt_of(committed.clone(), &[])), "chk_1");
        assert_eq!(judge(&sd_jwt_of(committed.clone().with("checkout_jwt", checkout()), &[])), "chk_1");
        let hidden = committed.clone().with("_sd", digests(&[&disclosed]));
        assert_eq!(judge(&sd_jwt_of(hidden.clone(), &[])), "chk_1");
        assert_eq!(judge(&sd_jwt_of(hidden.clone(), &[&disclosed])), "chk_1");
        assert_eq!(judge(&(sd_jwt_of(hidden, &[&disclosed]) + "a.b.c")), "chk_1");

        let another = jwt(Object::new(), Object::new());
        assert_eq!(judge(&sd_jwt_of(mandate(&another), &[])), "ap2/checkout-not-latest");
        assert_eq!(judge(&sd_jwt_of(committed.clone().with("checkout_jwt", &*another), &[])), "ap2/checkout-hash-mismatch");
        assert_eq!(judge(&sd_jwt_of(mandate(&another).with("checkout_jwt", checkout()), &[])), "ap2/checkout-not-latest");
        for hash in [Value::Null, "".into(), digest(&checkout())[1..].into(), (digest(&checkout()) + "A").into(), "é".repeat(43).into()] {
            assert_eq!(judge(&sd_jwt_of(committed.clone().with("checkout_hash", hash), &[])), "ap2/mandate-malformed");
        }
        assert_eq!(judge(&sd_jwt_of(committed.clone().with("checkout_jwt", Value::Null), &[])), "ap2/mandate-malformed");
        assert_eq!(judge(&sd_jwt_of(committed.without("checkout_hash"), &[])), "ap2/mandate-malformed");
    }

    #[test]
    fn the_one_mandate_may_stand_anywhere() {
        let mandate = mandate(&checkout());
        let inside = |value: Value| judge(&sd_jwt_of(Object::new().with("a", value), &[]));
        assert_eq!(inside(mandate.clone().into()), "chk_1");
        assert_eq!(inside([[Object::new().with("b", mandate.clone()).into()].into()].into()), "chk_1");
        let disclosed = element(mandate.clone());
        assert_eq!(judge(&sd_jwt_of(Object::new().with("delegate_payload", [place(&disclosed)]), &[&disclosed])), "chk_1");
        assert_eq!(inside([mandate.clone().into(), mandate.clone().into()].into()), "ap2/mandate-ambiguous");
        assert_eq!(inside(mandate.clone().with("inside", Object::new().with("vct", CHECKOUT_MANDATE)).into()), "ap2/mandate-ambiguous");
        assert_eq!(inside(mandate.clone().with("vct", "mandate.checkout.open.1").into()), "ap2/no-checkout-mandate");
        assert_eq!(inside(json_text(&mandate)), "ap2/no-checkout-mandate");
        assert_eq!(judge(&sd_jwt_of(Object::new().with("delegate_payload", [place(&disclosed)]), &[])), "ap2/no-checkout-mandate");
    }

    fn json_text(object: &Object) -> Value {
        crate::json::write(&object.clone().into()).into()
    }

    #[test]
    fn two_hops_at_most() {
        let closed = sd_jwt_of(mandate(&checkout()), &[]);
        let (open, disclosed) = (jwt(Object::new(), Object::new()), claim("a", 1u32));
        let listing = jwt(Object::new(), Object::new().with("_sd", digests(&[&disclosed])));
        for chain in [format!("{open}~~{closed}"), format!("{listing}~{disclosed}~~{closed}"), format!("{open}~~{closed}a.b")] {
            assert_eq!(judge(&chain), "chk_1", "{chain}");
        }
        // What the open mandate says is the merchant's affair, but it must be readable.
        for (chain, code) in [
            (format!("{open}~~{open}~~{closed}"), "ap2/mandate-malformed"),
            (format!("~~{closed}"), "ap2/mandate-malformed"),
            (format!("{open}~~~{closed}"), "ap2/mandate-malformed"),
            (format!("{closed}~~"), "ap2/mandate-malformed"),
            (format!("{open}~a.b~~{closed}"), "ap2/mandate-malformed"),
            (format!("x~~{closed}"), "ap2/mandate-malformed"),
            (format!("{open}~{disclosed}~~{closed}"), "ap2/disclosure-unreferenced"),
            (format!("{}~~{closed}", jwt(Object::new(), Object::new().with("_sd_alg", "md5"))), "ap2/sd-alg-unsupported"),
            (format!("{}~~{open}~", closed.trim_end_matches('~')), "ap2/no-checkout-mandate"),
        ] {
            assert_eq!(judge(&chain), code, "{chain}");
        }
    }

    #[test]
    fn forms_and_bounds() {
        let good = sd_jwt_of(mandate(&checkout()), &[]);
        for other in [Value::Null, 5u32.into(), "".into(), "~".into(), good[..good.len() - 1].into(), "x".repeat(1 << 20).into()] {
            assert_eq!(judge_beside(other, checkout()), "ap2/mandate-malformed");
        }
        assert_eq!(judge_beside("x".repeat((1 << 20) + 1), checkout()), "ap2/too-large");
        assert_eq!(judge_beside(&*good, Value::Null), "ap2/jws-malformed");
        assert_eq!(judge_beside(&*good, "x".repeat((1 << 20) + 1)), "ap2/too-large");
        for text in ["", "x", "..", "a.b.c"] {
            assert_eq!(judge_beside(sd_jwt_of(mandate(text), &[]), text), "ap2/jws-malformed", "{text}");
        }
        let deep = (0..64).fold(Value::Null, |inner, _| [inner].into());
        let too_deep = format!("AA.{}.", encoded(Object::new().with("a", deep.clone())));
        assert_eq!(judge_beside(sd_jwt_of(mandate(&too_deep), &[]), too_deep), "ap2/too-large");
        assert_eq!(judge(&sd_jwt_of(mandate(&checkout()).with("a", deep), &[])), "ap2/too-large");
        let many: Vec<_> = (0..129).map(|n: u32| claim(n.to_string(), n)).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let disclosing = |count: usize| judge(&sd_jwt_of(mandate(&checkout()).with("_sd", digests(&many)), &many[..count]));
        assert_eq!((&*disclosing(128), &*disclosing(129)), ("chk_1", "ap2/too-large"));
    }
}
