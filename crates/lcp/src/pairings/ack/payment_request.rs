//! `ack/payment-request`: a payment request whose signed token has H for its id; nothing the buyer signs has a place for H,
//! and the agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    jose::unverified_payload,
    json,
    legal_context::{LegalContext, agreement, hash_and_link},
    pairing::{Advertised, Buyer, Choice, Pairing, Unsigned},
};

const TOKEN_MALFORMED: Refusal = Refusal::new("ack/token-malformed");
const TOO_LARGE: Refusal = Refusal::new("ack/too-large");
const ID_NOT_LCP: Refusal = Refusal::new("ack/id-not-lcp");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("ack/no-legal-context");
const LEGAL_CONTEXT_MALFORMED: Refusal = Refusal::new("ack/legal-context-malformed");
const LEGAL_CONTEXT_CONFLICT: Refusal = Refusal::new("ack/legal-context-conflict");
const NO_PAYABLE_OPTION: Refusal = Refusal::new("ack/no-payable-option");
const NO_SIGNED_PLACE: Refusal = Refusal::new("ack/no-signed-place");

/// Largest body, in bytes of JSON.
const MAX_BODY: usize = 65_536;
/// Longest token, in UTF-16 code units.
const MAX_TOKEN: usize = 16_384;
/// Most payment options.
const MAX_OPTIONS: usize = 16;

pub(crate) static PAIRING: PaymentRequest = PaymentRequest;

pub(crate) struct PaymentRequest;

impl Pairing for PaymentRequest {
    fn id(&self) -> &'static str {
        "ack/payment-request"
    }

    fn public_proof(&self) -> bool {
        false
    }

    /// Reads the signed token, and the legal context beside it. The copy of the request beside both is not looked at.
    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        let body = document.as_object().ok_or(TOKEN_MALFORMED)?;
        if !json::fits(document, MAX_BODY) {
            return Err(TOO_LARGE);
        }
        let token = body.get("paymentRequestToken").and_then(Value::as_text).ok_or(TOKEN_MALFORMED)?;
        if token.utf16_len() > MAX_TOKEN {
            return Err(TOO_LARGE);
        }
        let request = token.as_str().and_then(|token| unverified_payload(token).ok()).ok_or(TOKEN_MALFORMED)?;
        let id = request.get("id").and_then(Value::as_str).and_then(Hash::from_lcp_string).ok_or(ID_NOT_LCP)?;
        let info = body.get("legalContext").ok_or(NO_LEGAL_CONTEXT)?;
        let (h, link) = hash_and_link(info).map_err(|_| LEGAL_CONTEXT_MALFORMED)?;
        if h != id {
            return Err(LEGAL_CONTEXT_CONFLICT);
        }
        let agreement = info.as_object().map_or(Ok(None), agreement).map_err(|_| LEGAL_CONTEXT_MALFORMED)?;
        let options = request.get("paymentOptions").and_then(Value::as_array).ok_or(TOKEN_MALFORMED)?;
        if options.len() > MAX_OPTIONS {
            return Err(TOO_LARGE);
        }
        Ok(Advertised { options: options.to_vec(), ..Advertised::whole(LegalContext { h, link, agreement }, document) })
    }

    /// The first option on the account's network.
    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let network = Account::parse(buyer.account).ok_or(NO_PAYABLE_OPTION)?.network;
        let serves = |option: &&Value| option.get("network").and_then(Value::as_str) == Some(&*network);
        Ok(Object::new().with("option", advertised.options.iter().find(serves).ok_or(NO_PAYABLE_OPTION)?))
    }

    fn build(&self, _chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        Err(NO_SIGNED_PLACE)
    }

    fn bound(&self, _payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        Err(NO_SIGNED_PLACE)
    }
}
