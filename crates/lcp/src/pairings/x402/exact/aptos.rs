//! `x402/exact/aptos`: a transfer that has no place for H; the payment echoes the document's legal context, and the agreement
//! is paid first.

use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    encoding,
    pairing::{Buyer, Choice, Unsigned},
    wire::aptos::Transfer,
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{NO_LEGAL_CONTEXT, NO_PAYABLE_OPTION, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED, echoed_hash},
        option::{exact_on, extra, is_plain, timeout, uint64_amount},
    },
};

pub(crate) static PAIRING: X402<Aptos> = X402(Aptos);

pub(crate) struct Aptos;

const NETWORK_MALFORMED: Refusal = Refusal::new("aptos/network-malformed");
const CHAIN_MISMATCH: Refusal = Refusal::new("aptos/chain-mismatch");

impl Scheme for Aptos {
    fn id(&self) -> &'static str {
        "x402/exact/aptos"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        exact_on(option, "aptos").ok_or(Unserved::Other)?;
        chain_id(option).ok_or(NETWORK_MALFORMED)?;
        let is_address = |name| option.get(name).and_then(Value::as_str).is_some_and(|text| text.len() == 66 && encoding::hex_len(text).is_some());
        let ours = extra(option).is_some_and(is_plain)
            && ["asset", "payTo"].into_iter().all(is_address)
            && uint64_amount(option).is_some()
            && timeout(option).is_some();
        if ours { Ok(()) } else { Err(Unserved::Other) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, _buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let digits = account.address.strip_prefix("0x").ok_or(NO_PAYABLE_OPTION)?;
        let is_address = (1..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        if is_address { Ok(Object::new()) } else { Err(NO_PAYABLE_OPTION) }
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let order = Order::of(self, chosen.choice)?;
        let chain_id = chain_id(order.option()?).ok_or(NETWORK_MALFORMED)?;
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { accepted: order.accepted.clone(), chain_id })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        payment.payload()?.get("transaction").and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED)?;
        echoed_hash(payment.whole).map_err(|_| NO_LEGAL_CONTEXT)
    }
}

/// The chain of the option's network, 1 to 255.
fn chain_id(option: &Object) -> Option<u8> {
    let text = exact_on(option, "aptos")?;
    text.parse().ok().filter(|&chain: &u8| chain > 0 && chain.to_string() == text)
}

/// A payload that waits for the wallet's transaction.
struct Signed {
    accepted: Value,
    chain_id: u8,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(Object::new().with("kind", "aptos-transaction").with("accepted", &self.accepted).into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let transaction: &Text = answer.get("transaction").and_then(Value::as_text).ok_or(SIGNATURE_MALFORMED)?;
        if Transfer::read(transaction)?.chain_id != self.chain_id {
            return Err(CHAIN_MISMATCH);
        }
        Ok(Object::new().with("transaction", transaction.clone()))
    }
}
