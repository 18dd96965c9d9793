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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash,
        jose::{
            digest,
            sample::{claim, digests, jwt},
        },
    };

    const MANDATED: Ap2Mandate = Ap2Mandate("ucp/checkout/ap2-mandate");
    const UNSIGNED: NotSigned = NotSigned("ucp/checkout/unsigned");

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn link() -> Object {
        Object::new().with("type", "legal_context").with("url", "https://atr.seller.example/x").with("title", h().lcp_string())
    }

    fn agreement_link() -> Object {
        Object::new().with("type", "legal_context_agreement").with("url", "https://agree.seller.example/a")
    }

    fn linked(links: &[Object]) -> Object {
        let authorization = Object::new().with("merchant_authorization", "e30..AA");
        let links: Vec<Value> = links.iter().cloned().map(Value::from).collect();
        Object::new().with("id", "chk_1").with("links", links).with("ap2", authorization)
    }

    fn checkout_of() -> Object {
        linked(&[Object::new().with("type", "terms_of_service"), link(), agreement_link()])
    }

    /// What each pairing reads.
    fn read(checkout: &Object) -> [String; 2] {
        let document = checkout.clone().into();
        [MANDATED.read(&document), UNSIGNED.read(&document)]
            .map(|read| read.map_or_else(|refusal| refusal.code().to_owned(), |read| read.agreement.unwrap_or_default()))
    }

    fn assert_both(checkout: &Object, expected: &str) {
        assert_eq!(read(checkout), [expected, expected], "{checkout:?}");
    }

    fn build(pairing: &dyn Pairing, checkout: impl Into<Value>, atr: &[u8]) -> Result<Box<dyn Unsigned>, String> {
        let choice = Object::new().with("checkout", checkout);
        let chosen = Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(atr), atr };
        pairing.build(&chosen).map_err(|refusal| refusal.code().to_owned())
    }

    fn refused(checkout: impl Into<Value>, atr: &[u8]) -> String {
        build(&MANDATED, checkout, atr).err().unwrap_or_default()
    }

    #[test]
    fn links_name_the_legal_context() {
        let read_ = MANDATED.read(&checkout_of().into()).unwrap();
        assert_eq!(
            (read_.h, &*read_.link, read_.agreement.as_deref()),
            (h(), "https://atr.seller.example/x", Some("https://agree.seller.example/a"))
        );
        let choose = |account| MANDATED.choose(&read_, &Buyer { account, inputs: &Object::new(), now: 0, random: &|_| () });
        assert_eq!(choose("abc:d:e"), Ok(Object::new().with("checkout", checkout_of())));
        assert_eq!(choose("abc:d").unwrap_err(), NO_PAYABLE_OPTION);
        assert_both(&linked(&[link()]), "");
        assert_both(&linked(&[agreement_link()]), "ucp/no-legal-context");
        assert_both(&checkout_of().without("links"), "ucp/no-legal-context");
        assert_both(&linked(&[link(), link()]), "ucp/legal-context-conflict");
        assert_both(&linked(&[link(), agreement_link(), agreement_link()]), "ucp/legal-context-conflict");
        let long = |length: usize| format!("https://a.example/{}", "a".repeat(length - 18));
        for (name, value, expected) in [
            ("title", h().to_string(), "ucp/legal-context-malformed"),
            ("title", h().lcp_string() + " ", "ucp/legal-context-malformed"),
            ("url", "http://a.example/".to_owned(), "ucp/link-not-https"),
            ("url", "a.example".to_owned(), "ucp/legal-context-malformed"),
            ("url", long(2048), ""),
            ("url", long(2049), "ucp/too-large"),
            ("type", "Legal_Context".to_owned(), "ucp/no-legal-context"),
        ] {
            assert_both(&linked(&[link().with(name, value)]), expected);
        }
        assert_both(&linked(&[link().without("url").without("title")]), "ucp/legal-context-malformed");
        for (url, expected) in
            [("http://a.example/", "ucp/link-not-https"), ("", "ucp/legal-context-malformed"), (&long(2049), "ucp/legal-context-malformed")]
        {
            assert_both(&linked(&[link(), agreement_link().with("url", url)]), expected);
        }
    }

    #[test]
    fn a_checkout_has_an_id_and_bounded_size() {
        for (name, value, expected) in [
            ("id", Value::Null, "ucp/checkout-malformed"),
            ("id", "".into(), "ucp/checkout-malformed"),
            ("id", "c".repeat(257).into(), "ucp/too-large"),
            ("links", Value::Null, "ucp/checkout-malformed"),
            ("links", Object::new().into(), "ucp/checkout-malformed"),
            ("links", vec![Value::Null; 65].into(), "ucp/too-large"),
            ("links", vec![Value::Null; 64].into(), "ucp/no-legal-context"),
            ("note", (0..64).fold(Value::Null, |inner, _| [inner].into()), "ucp/too-large"),
            ("note", "x".repeat(1 << 20).into(), "ucp/too-large"),
        ] {
            assert_both(&checkout_of().with(name, value), expected);
        }
        for document in [Value::Null, "x".into(), [checkout_of().into()].into()] {
            assert_eq!(UNSIGNED.read(&document).unwrap_err(), CHECKOUT_MALFORMED);
        }
    }

    #[test]
    fn only_a_checkout_that_offers_ap2_is_mandated() {
        let agreed = "https://agree.seller.example/a";
        for authorization in ["e30..AA", "A..B", "-_..x"] {
            let checkout = checkout_of().with("ap2", Object::new().with("merchant_authorization", authorization));
            assert_eq!(read(&checkout), [agreed, agreed], "{authorization}");
        }
        for authorization in ["", "..", "a..", "..a", "a.b", "a.b.c", "a...b", "a..b..c", "a..b=", " a..b", "a..b\n", "é..b"] {
            let checkout = checkout_of().with("ap2", Object::new().with("merchant_authorization", authorization));
            assert_eq!(read(&checkout), ["ucp/ap2-not-active", agreed], "{authorization}");
        }
        assert_eq!(read(&checkout_of().without("ap2")), ["ucp/ap2-not-active", agreed]);
        // The agreement is looked at last.
        let http = linked(&[link(), agreement_link().with("url", "http://x/")]).without("ap2");
        assert_eq!(read(&http), ["ucp/ap2-not-active", "ucp/link-not-https"]);
    }

    #[test]
    fn the_mandate_discloses_the_checkout_that_it_commits_to() {
        let unsigned = build(&MANDATED, checkout_of(), b"abc").unwrap();
        assert_eq!(unsigned.request(), Ok(Some(Object::new().with("kind", "ucp-checkout").with("checkout", checkout_of()).into())));
        let checkout = jwt(Object::new(), checkout_of().without("ap2"));
        let disclosed = claim("checkout_jwt", &*checkout);
        let payload = Object::new().with("vct", "mandate.checkout.1").with("checkout_hash", digest(&checkout)).with("_sd", digests(&[&disclosed]));
        let hidden = jwt(Object::new(), payload) + "~";
        let mandate = format!("{hidden}{disclosed}~");
        let Ok(Completed::Payment { signed, landed: None }) = unsigned.complete(&mandate.as_str().into()) else { panic!() };
        assert_eq!(signed, Object::new().with("checkout_mandate", mandate).with("checkout_jwt", &*checkout).into());
        assert_eq!(MANDATED.bound(&signed, None), Ok(h()));
        assert_eq!(unsigned.complete(&hidden.into()).unwrap_err().code(), "ap2/mandate-malformed");
        assert_eq!(unsigned.complete(&"".into()), Err(SIGNATURE_MALFORMED));
        assert_eq!(unsigned.complete(&Value::Null), Err(SIGNATURE_MALFORMED));

        for (payload, code) in [(Object::new(), NO_LEGAL_CONTEXT), (linked(&[link(), link()]), LEGAL_CONTEXT_CONFLICT)] {
            let other = jwt(Object::new(), payload);
            let mandate = Object::new().with("vct", "mandate.checkout.1").with("checkout_hash", digest(&other));
            let signed = Object::new().with("checkout_mandate", jwt(Object::new(), mandate) + "~").with("checkout_jwt", other);
            assert_eq!(MANDATED.bound(&signed.into(), None), Err(code));
        }
        assert_eq!(MANDATED.bound(&Value::Null, None).unwrap_err().code(), "ap2/mandate-malformed");
    }

    #[test]
    fn a_choice_is_judged_again_but_for_its_agreement() {
        assert_eq!(refused(linked(&[link(), agreement_link(), agreement_link()]), b"abc"), "");
        assert_eq!(refused(checkout_of(), b"abd"), "ucp/hash-not-in-checkout");
        assert_eq!(refused(checkout_of().without("ap2"), b"abd"), "ucp/ap2-not-active");
        assert_eq!(refused(checkout_of().without("id"), b"abc"), "ucp/checkout-malformed");
        assert_eq!(refused(Value::Null, b"abc"), "ucp/checkout-malformed");
    }

    #[test]
    fn nothing_is_signed_without_ap2() {
        assert_eq!(build(&UNSIGNED, Value::Null, b"abc").err().unwrap(), "ucp/nothing-to-sign");
        assert_eq!(UNSIGNED.bound(&Value::Null, None), Err(NOT_BUYER_SIGNED));
        assert!(NOTHING_TO_SIGN.leaves_nothing_to_sign());
    }
}
