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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConfirmedHash, jose::sample::jwt};

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn legal_context() -> Object {
        Object::new().with("type", "sha256").with("value", &h()).with("legalContextUrl", "https://atr.seller.example/x")
    }

    fn option(network: &str) -> Value {
        Object::new().with("network", network).with("amount", "5").into()
    }

    fn request() -> Object {
        Object::new().with("id", h().lcp_string()).with("paymentOptions", [Value::Null, option("eip155:1"), option("eip155:84532")])
    }

    fn body(request: Object) -> Object {
        Object::new().with("paymentRequestToken", jwt(Object::new(), request)).with("legalContext", legal_context())
    }

    fn code(body: impl Into<Value>) -> String {
        PAIRING.read(&body.into()).map_or_else(|refusal| refusal.code().to_owned(), |read| read.h.to_string())
    }

    #[test]
    fn the_first_option_on_the_account_s_network_is_chosen() {
        let document = body(request()).with("paymentRequest", Object::new().with("id", "another")).into();
        let read = PAIRING.read(&document).unwrap();
        assert_eq!((read.h, &*read.link, &read.agreement), (h(), "https://atr.seller.example/x", &None));
        let choose = |account| PAIRING.choose(&read, &Buyer { account, inputs: &Object::new(), now: 0, random: &|_| () });
        assert_eq!(choose("eip155:84532:0x1"), Ok(Object::new().with("option", option("eip155:84532"))));
        for account in ["eip155:8453:0x1", "eip155:84532", ""] {
            assert_eq!(choose(account), Err(NO_PAYABLE_OPTION), "{account}");
        }
    }

    #[test]
    fn the_first_fault_is_told() {
        let set = |name: &str, value: Value| code(body(request()).with(name, value));
        let sign = |request: Object| code(body(request));
        let agreed = |url: &str| set("legalContext", legal_context().with("legalContextAgreementUrl", url).into());
        for other in [Value::Null, "x".into(), [body(request()).into()].into(), Object::new().into()] {
            assert_eq!(code(other), "ack/token-malformed");
        }
        assert_eq!(set("note", "x".repeat(65_536).into()), "ack/too-large");
        assert_eq!(set("note", (0..64).fold(Value::Null, |inner, _| [inner].into())), "ack/too-large");
        assert_eq!(set("paymentRequestToken", "x".repeat(16_384).into()), "ack/token-malformed");
        assert_eq!(set("paymentRequestToken", "x".repeat(16_385).into()), "ack/too-large");
        assert_eq!(set("paymentRequestToken", Object::new().into()), "ack/token-malformed");
        assert_eq!(sign(request().with("a", (0..64).fold(Value::Null, |inner, _| [inner].into()))), "ack/token-malformed");
        assert_eq!(sign(request().with("id", h().to_string())), "ack/id-not-lcp");
        assert_eq!(code(body(request()).without("legalContext")), "ack/no-legal-context");
        assert_eq!(set("legalContext", Value::Null), "ack/legal-context-malformed");
        assert_eq!(set("legalContext", legal_context().with("legalContextUrl", "http://a.example/").into()), "ack/legal-context-malformed");
        assert_eq!(set("legalContext", legal_context().with("value", &Hash::of(b"abd")).into()), "ack/legal-context-conflict");
        assert_eq!(agreed("http://a.example/"), "ack/legal-context-malformed");
        assert_eq!(agreed("https://a.example/"), h().to_string());
        assert_eq!(sign(request().without("paymentOptions")), "ack/token-malformed");
        assert_eq!(sign(request().with("paymentOptions", vec![Value::Null; 16])), h().to_string());
        assert_eq!(sign(request().with("paymentOptions", vec![Value::Null; 17])), "ack/too-large");
    }

    #[test]
    fn has_no_place_for_the_hash() {
        let choice = Object::new();
        let chosen = Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" };
        assert_eq!(PAIRING.build(&chosen).err(), Some(NO_SIGNED_PLACE));
        assert_eq!(PAIRING.bound(&Value::Null, None), Err(NO_SIGNED_PLACE));
    }
}
