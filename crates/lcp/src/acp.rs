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
