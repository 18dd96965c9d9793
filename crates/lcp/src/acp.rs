//! ACP, the Agentic Commerce Protocol: a checkout session whose id is H and whose metadata holds the legal context.

use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    json,
    legal_context::{Fault, LegalContext, agreement, hash_and_link},
    pairing::{Advertised, Buyer},
};

pub(crate) const TOO_LARGE: Refusal = Refusal::new("acp/too-large");
pub(crate) const ID_NOT_HASH: Refusal = Refusal::new("acp/id-not-hash");
const SESSION_MALFORMED: Refusal = Refusal::new("acp/session-malformed");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("acp/no-legal-context");
const LEGAL_CONTEXT_MALFORMED: Refusal = Refusal::new("acp/legal-context-malformed");
const LEGAL_CONTEXT_CONFLICT: Refusal = Refusal::new("acp/legal-context-conflict");
const LINK_NOT_HTTPS: Refusal = Refusal::new("acp/link-not-https");
const NO_PAYABLE_OPTION: Refusal = Refusal::new("acp/no-payable-option");

/// Largest session, in bytes of JSON.
const MAX_SESSION: usize = 1 << 20;
/// Longest session id, in UTF-16 code units: that of a hash.
const MAX_ID: usize = 66;

/// What a checkout session advertises.
pub(crate) fn advertised(document: &Value) -> Result<Advertised, Refusal> {
    let session = document.as_object().ok_or(SESSION_MALFORMED)?;
    if !json::fits(document, MAX_SESSION) {
        return Err(TOO_LARGE);
    }
    let id = session.get("id").and_then(Value::as_text);
    if id.is_some_and(|id| id.utf16_len() > MAX_ID) {
        return Err(TOO_LARGE);
    }
    let id = id.and_then(Text::as_str).and_then(Hash::parse).ok_or(ID_NOT_HASH)?;
    let info = session.get("metadata").and_then(|metadata| metadata.get("legal_context")).ok_or(NO_LEGAL_CONTEXT)?;
    let (h, link) = hash_and_link(info).map_err(refusal)?;
    if h != id {
        return Err(LEGAL_CONTEXT_CONFLICT);
    }
    let agreement = info.as_object().map_or(Ok(None), agreement).map_err(refusal)?;
    Ok(Advertised::whole(LegalContext { h, link, agreement }, document))
}

fn refusal(fault: Fault) -> Refusal {
    match fault {
        Fault::Malformed => LEGAL_CONTEXT_MALFORMED,
        Fault::NotHttps => LINK_NOT_HTTPS,
        Fault::LinkTooLong => TOO_LARGE,
    }
}

/// The choice, the session itself: any account names the buyer.
pub(crate) fn choose(advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
    Account::parse(buyer.account).ok_or(NO_PAYABLE_OPTION)?;
    Ok(Object::new().with("session", &advertised.document))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "https://atr.seller.example/x";

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn legal_context() -> Object {
        Object::new()
            .with("type", "sha256")
            .with("value", &h())
            .with("legal_context_url", LINK)
            .with("legal_context_agreement_url", "https://agree.seller.example/a")
    }

    fn session(legal_context: impl Into<Value>) -> Object {
        Object::new().with("id", &h()).with("metadata", Object::new().with("legal_context", legal_context))
    }

    fn code(session: impl Into<Value>) -> String {
        advertised(&session.into()).map_or_else(|refusal| refusal.code().to_owned(), |read| read.link)
    }

    #[test]
    fn the_session_s_id_is_the_hash_of_its_legal_context() {
        let upper = h().to_string().to_uppercase().replace("0X", "0x");
        let document = session(legal_context()).with("id", upper).into();
        let read = advertised(&document).unwrap();
        assert_eq!((read.h, &*read.link, read.agreement.as_deref()), (h(), LINK, Some("https://agree.seller.example/a")));
        let choose = |account| choose(&read, &Buyer { account, inputs: &Object::new(), now: 0, random: &|_| () });
        assert_eq!(choose("abc:d:e"), Ok(Object::new().with("session", &document)));
        assert_eq!(choose(""), Err(NO_PAYABLE_OPTION));
        assert_eq!(code(session(legal_context().with("value", &Hash::of(b"abd")))), "acp/legal-context-conflict");
    }

    #[test]
    fn every_fault_has_its_code() {
        let linked = |name: &str, value: &str| session(legal_context().with(name, value));
        let long = format!("https://a.example/{}", "a".repeat(2048));
        for (session, expected) in [
            (session(legal_context()).without("id"), "acp/id-not-hash"),
            (session(legal_context()).with("id", "x".repeat(66)), "acp/id-not-hash"),
            (session(legal_context()).with("id", "x".repeat(67)), "acp/too-large"),
            (session(legal_context()).without("metadata"), "acp/no-legal-context"),
            (session(legal_context()).with("metadata", Object::new()), "acp/no-legal-context"),
            (session(Value::Null), "acp/legal-context-malformed"),
            (linked("legal_context_url", "http://a.example/"), "acp/link-not-https"),
            (linked("legal_context_url", &long), "acp/too-large"),
            (linked("legal_context_agreement_url", "http://a.example/"), "acp/link-not-https"),
            (linked("legal_context_agreement_url", &long), "acp/legal-context-malformed"),
            (linked("legal_context_agreement_url", "http://x/").with("id", &Hash::of(b"abd")), "acp/legal-context-conflict"),
            (session(legal_context()).with("note", "x".repeat(1 << 20)), "acp/too-large"),
            (session(legal_context()).with("note", (0..64).fold(Value::Null, |inner, _| [inner].into())), "acp/too-large"),
        ] {
            assert_eq!(code(session), expected);
        }
        for other in [Value::Null, "x".into(), [session(legal_context()).into()].into()] {
            assert_eq!(code(other), "acp/session-malformed");
        }
    }
}
