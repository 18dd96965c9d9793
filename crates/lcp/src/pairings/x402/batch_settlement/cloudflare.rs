//! `x402/batch-settlement/cloudflare`: Cloudflare keeps the account. Nothing is signed here, and H is only echoed in the
//! payment's legal context, so an agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    pairing::{Buyer, Choice, Completed, Unsigned},
    wire::evm,
    x402::{
        Order, Scheme, Unserved, X402,
        document::{OPTION_MALFORMED, Payment, echoed_extensions, echoed_hash},
        option::{amount, names, timeout},
    },
};

pub(crate) static PAIRING: X402<Cloudflare> = X402(Cloudflare);

pub(crate) struct Cloudflare;

const NETWORK: &str = "cloudflare:402";
const LEGAL_CONTEXT_CONFLICT: Refusal = Refusal::new("x402/legal-context-conflict");

impl Scheme for Cloudflare {
    fn id(&self) -> &'static str {
        "x402/batch-settlement/cloudflare"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let currency = |text: &str| text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase());
        let ours = names(option, "scheme", "batch-settlement")
            && names(option, "network", NETWORK)
            && names(option, "payTo", "merchant")
            && option.get("asset").and_then(Value::as_str).is_some_and(currency)
            && option.get("extra").is_some_and(|extra| extra.get("version").is_some());
        if !ours {
            return Err(Unserved::Other);
        }
        let payable = amount(option).is_some_and(evm::is_amount) && timeout(option).is_some();
        if payable { Ok(()) } else { Err(Unserved::Refused(OPTION_MALFORMED)) }
    }

    /// `cloudflare:402:` and the agent's name, which is CAIP-10 but for the namespace's length.
    fn account(&self, text: &str) -> Option<Account> {
        let agent = text.strip_prefix(NETWORK)?.strip_prefix(':')?;
        let named = (1..=128).contains(&agent.len()) && agent.bytes().all(|b| matches!(b, b'-' | b'.' | b'%') || b.is_ascii_alphanumeric());
        named.then(|| Account { network: NETWORK.to_owned(), address: agent.to_owned() })
    }

    fn choose(&self, _order: &Order<'_>, _account: &Account, _buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Ok(Object::new())
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let order = Order::of(self, chosen.choice)?;
        if echoed_hash(order.required)? != **chosen.h {
            return Err(LEGAL_CONTEXT_CONFLICT);
        }
        Ok(Box::new(Built { required: order.required.clone(), accepted: order.accepted.clone(), reference: chosen.reference.clone() }))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        echoed_hash(payment.whole)
    }
}

/// A payment that waits for no wallet.
struct Built {
    required: Value,
    accepted: Value,
    reference: Value,
}

impl Unsigned for Built {
    fn request(&self) -> Result<Option<Value>, Refusal> {
        Ok(None)
    }

    fn complete(&self, _answer: &Value) -> Result<Completed, Refusal> {
        let payload = Object::new().with_some("amount", self.accepted.get("amount")).with_some("asset", self.accepted.get("asset"));
        let signed = Object::new()
            .with("x402Version", 2u32)
            .with("payload", payload)
            .with("accepted", &self.accepted)
            .with_some("extensions", echoed_extensions(&self.required, &self.reference)?);
        Ok(Completed::Payment { signed: signed.into(), landed: None })
    }
}
