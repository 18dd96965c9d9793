//! `x402/exact/sui`: H is an input of the transaction that no command uses.

use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    encoding,
    pairing::{Buyer, Choice, Unsigned},
    wire::sui::{self, Transaction},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{NO_PAYABLE_OPTION, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED},
        option::{exact_on, extra, filled, is_plain, timeout, uint64_amount},
    },
};

pub(crate) static PAIRING: X402<Sui> = X402(Sui);

pub(crate) struct Sui;

const NETWORK_MALFORMED: Refusal = Refusal::new("sui/network-malformed");
const HASH_NOT_CARRIED: Refusal = Refusal::new("sui/hash-not-carried");
const AMBIGUOUS: Refusal = Refusal::new("sui/ambiguous");
const SIGNED_NOT_BOUND: Refusal = Refusal::new("x402/signed-not-bound");

impl Scheme for Sui {
    fn id(&self) -> &'static str {
        "x402/exact/sui"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let network = exact_on(option, "sui").ok_or(Unserved::Other)?;
        if !matches!(network, "mainnet" | "testnet" | "devnet") {
            return Err(NETWORK_MALFORMED.into());
        }
        let text = |name| option.get(name).and_then(Value::as_str);
        let ours = extra(option).is_some_and(is_plain)
            && text("payTo").is_some_and(|address| is_address(address) && !address.bytes().any(|b| b.is_ascii_uppercase()))
            && text("asset").is_some_and(is_coin_type)
            && uint64_amount(option).is_some()
            && timeout(option).is_some();
        if ours { Ok(()) } else { Err(Unserved::Other) }
    }

    fn choose(&self, _order: &Order<'_>, account: &Account, _buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        if is_address(&account.address) { Ok(Object::new()) } else { Err(NO_PAYABLE_OPTION) }
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let order = Order::of(self, chosen.choice)?;
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { accepted: order.accepted.clone(), h: **chosen.h })))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        filled(payload, "signature").ok_or(SIGNATURE_MALFORMED)?;
        carried(payload.get("transaction").and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED)?)
    }
}

/// `0x` and 64 hex digits.
fn is_address(text: &str) -> bool {
    text.len() == 66 && encoding::hex_len(text).is_some()
}

/// `0x` and up to 64 hex digits, `::`, a module, `::`, a name.
fn is_coin_type(text: &str) -> bool {
    let is_identifier = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let mut parts = text.split("::");
    let (Some(package), Some(module), Some(name), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else { return false };
    let digits = package.strip_prefix("0x").unwrap_or_default();
    (1..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit()) && is_identifier(module) && is_identifier(name)
}

/// H in a transaction: the one pure input that no command uses.
fn carried(transaction: &Text) -> Result<Hash, Refusal> {
    let wire = sui::from_base64(transaction)?;
    let transaction = Transaction::decode(&wire)?;
    let mut unused = transaction.unused();
    match (unused.next(), unused.next()) {
        (Some(input), None) => <[u8; 32]>::try_from(input).map(Hash::from).map_err(|_| HASH_NOT_CARRIED),
        (None, _) => Err(HASH_NOT_CARRIED),
        (Some(_), Some(_)) => Err(AMBIGUOUS),
    }
}

/// A payload that waits for the wallet's transaction.
struct Signed {
    accepted: Value,
    h: Hash,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        let request = Object::new()
            .with("kind", "sui-transaction")
            .with("accepted", &self.accepted)
            .with("pureInput", &self.h)
            .with("expiration", "epoch-bounded");
        Ok(request.into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let text = |name| answer.get(name).and_then(Value::as_text).ok_or(SIGNATURE_MALFORMED);
        let (signature, transaction) = (text("signature")?, text("transaction")?);
        if signature.utf16_len() == 0 || carried(transaction) != Ok(self.h) {
            return Err(SIGNED_NOT_BOUND);
        }
        Ok(Object::new().with("signature", signature.clone()).with("transaction", transaction.clone()))
    }
}
