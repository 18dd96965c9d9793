//! `x402/exact/cardano`: H is in the message (CIP-20) of the transaction that the wallet makes.

use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    encoding,
    pairing::{Buyer, Choice, Unsigned},
    wire::{
        cardano::{self, NoMessage, Transaction, is_address, message_of},
        cbor::{Item, without_bom},
        evm::is_amount,
    },
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{NO_PAYABLE_OPTION, PAYLOAD_MALFORMED, Payment, SIGNATURE_MALFORMED},
        option::{absent_or, amount, exact_on, extra, timeout},
    },
};

pub(crate) static PAIRING: X402<Cardano> = X402(Cardano);

pub(crate) struct Cardano;

const NETWORK_MALFORMED: Refusal = Refusal::new("cardano/network-malformed");
const HASH_NOT_CARRIED: Refusal = Refusal::new("cardano/hash-not-carried");
const AMBIGUOUS: Refusal = Refusal::new("cardano/ambiguous");
const SIGNED_NOT_BOUND: Refusal = Refusal::new("x402/signed-not-bound");

/// The line before the one that holds H in hex. A line takes 64 bytes, so that the two do not fit one.
const MARKER: &str = "lcp:sha256:0x";

impl Scheme for Cardano {
    fn id(&self) -> &'static str {
        "x402/exact/cardano"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        let is_known = match (exact_on(option, "cardano"), exact_on(option, "cip34")) {
            (Some(name), _) => matches!(name, "mainnet" | "preprod" | "preview"),
            (_, Some(name)) => matches!(name, "1-764824073" | "0-1" | "0-2"),
            _ => return Err(Unserved::Other),
        };
        if !is_known {
            return Err(NETWORK_MALFORMED.into());
        }
        let ours = extra(option).is_some_and(|extra| {
            absent_or(extra, "assetTransferMethod", &["default", "script", "masumi"]) && absent_or(extra, "paymentFlow", &["authorization"])
        }) && amount(option).is_some_and(|amount| amount.len() <= 78 && is_amount(amount))
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
        let text = |name| payload.get(name).and_then(Value::as_text).ok_or(PAYLOAD_MALFORMED);
        let (transaction, _) = (text("transaction")?, text("nonce")?);
        carried(&Transaction::decode(&cardano::from_base64(transaction)?)?)
    }
}

/// H in a transaction: the line after the one marker.
fn carried(transaction: &Transaction<'_>) -> Result<Hash, Refusal> {
    let lines = transaction.message().map_err(|fault| match fault {
        NoMessage::None => HASH_NOT_CARRIED,
        NoMessage::Several => AMBIGUOUS,
    })?;
    // A line that a lenient reader may take for a marker counts as one.
    let looks_like = |line: &Item<'_>| line.text().is_some_and(|text| without_bom(text).eq_ignore_ascii_case(MARKER));
    let mut rest = lines.iter().skip_while(|line| !looks_like(line));
    let (marker, digits) = (rest.next(), rest.next());
    if digits.into_iter().chain(rest).any(looks_like) {
        return Err(AMBIGUOUS);
    }
    let digits = digits.and_then(Item::text).filter(|_| marker.and_then(Item::text) == Some(MARKER)).ok_or(HASH_NOT_CARRIED)?;
    Hash::parse(&format!("0x{digits}")).filter(|h| h.to_string().ends_with(digits)).ok_or(HASH_NOT_CARRIED)
}

/// A payload that waits for the wallet's transaction.
struct Signed {
    accepted: Value,
    h: Hash,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        let digits = self.h.to_string();
        let message = message_of([MARKER, digits.trim_start_matches("0x")]).ok_or(HASH_NOT_CARRIED)?;
        let request =
            Object::new().with("kind", "cardano-transaction").with("accepted", &self.accepted).with("auxiliaryData", encoding::hex(&message));
        Ok(request.into())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let text = |name| answer.get(name).and_then(Value::as_text).ok_or(SIGNATURE_MALFORMED);
        let (transaction, nonce) = (text("transaction")?, text("nonce")?);
        if !self.is_bound(transaction) {
            return Err(SIGNED_NOT_BOUND);
        }
        Ok(Object::new().with("transaction", transaction.clone()).with("nonce", nonce.clone()))
    }
}

impl Signed {
    /// Whether the wallet's transaction carries H and ends at some slot.
    fn is_bound(&self, transaction: &Text) -> bool {
        let Ok(wire) = cardano::from_base64(transaction) else { return false };
        Transaction::decode(&wire).is_ok_and(|transaction| transaction.ttl.is_some() && carried(&transaction) == Ok(self.h))
    }
}
