//! The seller's PAYMENT-REQUIRED document and the buyer's payment, as every x402 pairing reads them.

use super::Scheme;
use crate::{
    Hash, Object, Refusal, Value,
    legal_context::{self, Fault, LegalContext},
};

pub(crate) const NOT_V2: Refusal = Refusal::new("x402/not-v2");
pub(crate) const OPTION_MALFORMED: Refusal = Refusal::new("x402/option-malformed");
pub(crate) const OPTION_NOT_IN_DOCUMENT: Refusal = Refusal::new("x402/option-not-in-document");
pub(crate) const OPTION_NOT_THIS_PAIRING: Refusal = Refusal::new("x402/option-not-this-pairing");
/// Nothing in the document serves the pairing or the account.
pub const NO_PAYABLE_OPTION: Refusal = Refusal::new("x402/no-payable-option");
pub(crate) const NO_LEGAL_CONTEXT: Refusal = Refusal::new("x402/no-legal-context");
pub(crate) const LEGAL_CONTEXT_MALFORMED: Refusal = Refusal::new("x402/legal-context-malformed");
pub(crate) const LINK_NOT_HTTPS: Refusal = Refusal::new("x402/link-not-https");
pub(crate) const PAYLOAD_MALFORMED: Refusal = Refusal::new("x402/payload-malformed");
pub(crate) const SIGNATURE_MALFORMED: Refusal = Refusal::new("x402/signature-malformed");
pub(crate) const CHOICE_MALFORMED: Refusal = Refusal::new("x402/choice-malformed");
pub(crate) const INPUT_MISSING: Refusal = Refusal::new("x402/input-missing");
const PAYMENT_IDENTIFIER_UNWRITABLE: Refusal = Refusal::new("x402/payment-identifier-unwritable");

/// Most options a document may offer.
pub const MAX_OPTIONS: usize = 32;

/// The version check that every reading starts with.
pub(crate) fn version_2(value: &Value) -> Result<&Object, Refusal> {
    value.as_object().filter(|object| object.get("x402Version") == Some(&Value::Number(2.0))).ok_or(NOT_V2)
}

/// The document's options, at most [`MAX_OPTIONS`].
pub(crate) fn accepts(document: &Value) -> Result<&[Value], Refusal> {
    document.get("accepts").and_then(Value::as_array).filter(|options| options.len() <= MAX_OPTIONS).ok_or(OPTION_MALFORMED)
}

/// What every x402 pairing's read checks before it looks at the options: version, the form of `accepts`, and the legal
/// context.
pub fn legal_context(document: &Value) -> Result<LegalContext, Refusal> {
    version_2(document)?;
    accepts(document)?;
    LegalContext::read(info(document)?).map_err(refused)
}

/// H in the legal context that a document offers or a payment echoes; its agreement URL is not looked at.
pub(crate) fn echoed_hash(holder: &Value) -> Result<Hash, Refusal> {
    legal_context::hash_and_link(info(holder)?).map(|(h, _)| h).map_err(refused)
}

/// H in the legal context that a payment echoes, where its link may be of any length.
pub(crate) fn echoed_hash_of_any_link(payment: &Value) -> Option<Hash> {
    info(payment).ok().and_then(legal_context::hash_of_any_link)
}

/// The legal context's info object, unread.
fn info(holder: &Value) -> Result<&Value, Refusal> {
    let extension = holder.get("extensions").and_then(|extensions| extensions.get("legalContext")).ok_or(NO_LEGAL_CONTEXT)?;
    Ok(extension.get("info").unwrap_or(&Value::Null))
}

fn refused(fault: Fault) -> Refusal {
    match fault {
        Fault::NotHttps => LINK_NOT_HTTPS,
        Fault::Malformed | Fault::LinkTooLong => LEGAL_CONTEXT_MALFORMED,
    }
}

/// The document's extensions as a payment echoes them: where the seller asks for a payment identifier, with the
/// reference written as its id.
pub(crate) fn echoed_extensions(required: &Value, reference: &Value) -> Result<Option<Value>, Refusal> {
    let Some(extensions) = required.get("extensions") else { return Ok(None) };
    let Some((extensions_object, identifier)) = extensions.as_object().and_then(|object| Some((object, object.get("payment-identifier")?))) else {
        return Ok(Some(extensions.clone()));
    };
    let holder = identifier.as_object().ok_or(PAYMENT_IDENTIFIER_UNWRITABLE)?;
    let info = holder.get("info").and_then(Value::as_object).filter(|info| !info.has("id")).ok_or(PAYMENT_IDENTIFIER_UNWRITABLE)?;
    let info = info.clone().with("id", reference);
    Ok(Some(extensions_object.clone().with("payment-identifier", holder.clone().with("info", info)).into()))
}

/// A payment whose version and accepted option are this pairing's.
pub(crate) struct Payment<'a> {
    pub(crate) whole: &'a Value,
    pub(crate) accepted: &'a Object,
}

impl<'a> Payment<'a> {
    pub(crate) fn read(scheme: &dyn Scheme, payment: &'a Value) -> Result<Self, Refusal> {
        scheme.judge_envelope(payment)?;
        let accepted = payment.get("accepted").and_then(Value::as_object).ok_or(PAYLOAD_MALFORMED)?;
        scheme.serves(accepted)?;
        Ok(Self { whole: payment, accepted })
    }

    /// The payload's members.
    pub(crate) fn payload(&self) -> Result<&'a Object, Refusal> {
        self.whole.get("payload").and_then(Value::as_object).ok_or(PAYLOAD_MALFORMED)
    }
}
