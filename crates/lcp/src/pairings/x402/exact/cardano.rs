//! `x402/exact/cardano`: H is in the message (CIP-20) of the transaction that the wallet makes.
//!
//! A test network's address holds an underscore, which no CAIP-10 account may: there it is written `%5F`.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing, json, peers,
        x402::solana::sample::{build, document, h, signed},
    };

    const ACCOUNT: &str = "cardano:preprod:addr%5Ftest1qqqqqq";

    fn option() -> Object {
        Object::new().with("scheme", "exact").with("network", "cardano:preprod").with("amount", "2000000").with("maxTimeoutSeconds", 60u32)
    }

    fn choice(option: &Object, account: &str) -> Result<Object, Refusal> {
        let buyer = Buyer { account, inputs: &Object::new(), now: 1_790_000_000, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&document([option.clone()]))?, &buyer)
    }

    /// Transactions with H as pycardano writes them, in base64, with or without the last slot.
    fn made(ttl: bool) -> Vec<String> {
        let rows = json::lines(include_str!("../../../../tests/peers/cardano/transactions.jsonl"));
        let rows = rows.iter().filter(|row| row.get("ttl").is_some_and(|slot| slot.is_null() != ttl));
        rows.map(|row| encoding::base64(&encoding::from_hex(&format!("0x{}", row.get("transaction").unwrap().as_str().unwrap())).unwrap())).collect()
    }

    fn answer(transaction: &str) -> Object {
        Object::new().with("transaction", transaction).with("nonce", "00#0")
    }

    #[test]
    fn the_message_is_h() {
        let choice = choice(&option(), ACCOUNT).unwrap();
        let unsigned = build(&PAIRING, &choice).unwrap();
        for transaction in made(true) {
            assert_eq!(PAIRING.bound(&signed(&*unsigned, answer(&transaction)), None), Ok(h()));
        }
        // One that stays payable for ever is not taken from the wallet, yet it carries H.
        for transaction in made(false) {
            assert_eq!(unsigned.complete(&answer(&transaction).into()).unwrap_err(), SIGNED_NOT_BOUND);
            let payment = signed(&*unsigned, answer(&made(true)[0])).as_object().unwrap().clone().with("payload", answer(&transaction));
            assert_eq!(PAIRING.bound(&payment.into(), None), Ok(h()));
        }
        let data = unsigned.request().unwrap().unwrap().get("auxiliaryData").unwrap().clone();
        assert_eq!(data.as_str().unwrap().len(), 2 + 2 * 95);
        assert_eq!(unsigned.complete(&answer("x").without("nonce").into()).unwrap_err(), SIGNATURE_MALFORMED);
    }

    fn carried_in(lines: [&str; 2]) -> Result<Hash, Refusal> {
        let data = message_of(lines).unwrap();
        let item = Item::read(&data, crate::wire::cbor::Bounds { indefinite: true, depth: 64, items: 99 }).unwrap();
        carried(&Transaction { ttl: None, auxiliary_data: item })
    }

    #[test]
    fn the_marker_stands_once_before_h() {
        let digits = &h().to_string()[2..];
        assert_eq!(carried_in([MARKER, digits]), Ok(h()));
        for lines in [[digits, MARKER], ["LCP:sha256:0x", digits], ["\u{FEFF}lcp:sha256:0x", digits], [MARKER, &digits.to_uppercase()], [MARKER, ""]]
        {
            assert_eq!(carried_in(lines), Err(HASH_NOT_CARRIED), "{lines:?}");
        }
        assert_eq!(carried_in([MARKER, "\u{FEFF}LCP:sha256:0X"]), Err(AMBIGUOUS));
    }

    #[test]
    fn options_and_accounts() {
        let refused = |option: &Object| match PAIRING.0.serves(option) {
            Err(Unserved::Refused(refusal)) => refusal.code().to_owned(),
            Err(Unserved::Other) => "other".to_owned(),
            Ok(()) => "served".to_owned(),
        };
        for (name, value, outcome) in [
            ("network", "cip34:0-1", "served"),
            ("network", "cip34:0-4", "cardano/network-malformed"),
            ("network", "cardano:testnet", "cardano/network-malformed"),
            ("network", "eip155:1", "other"),
            ("amount", "01", "other"),
            ("scheme", "upto", "other"),
        ] {
            assert_eq!(refused(&option().with(name, value)), outcome, "{value}");
        }
        assert_eq!(refused(&option().with("extra", Object::new().with("assetTransferMethod", "masumi"))), "served");
        assert_eq!(refused(&option().with("extra", Object::new().with("paymentFlow", "upfront"))), "other");
        for account in ["cardano:preprod:addr_test1qqqqqq", "cardano:preprod:Ae2tdPwUPEZ", "cardano:mainnet:addr1qqqqqq"] {
            assert_eq!(choice(&option(), account).unwrap_err(), NO_PAYABLE_OPTION, "{account}");
        }
    }

    /// pycardano makes transactions with our auxiliary data, and reads in our payloads, with valid hashes and signatures, the
    /// same and its message.
    #[test]
    fn the_library_pays_and_reads() {
        let networks = ["cardano:preprod", "cardano:mainnet", "cip34:1-764824073"];
        let addresses = ["addr%5Ftest1vqn78rgwr835xn3nl0gqr5l7qj6mwemrlz9v6cj7p4mskscud5urh", "addr1qqqqqq", "addr1qqqqqq"];
        let options = networks.map(|network| option().with("network", network));
        let chosen =
            |(option, address): (&Object, &str)| choice(option, &format!("{}:{address}", option.get("network").unwrap().as_str().unwrap())).unwrap();
        let unsigned: Vec<_> = options.iter().zip(addresses).map(|case| build(&PAIRING, &chosen(case)).unwrap()).collect();
        let digits = &h().to_string()[2..];
        for (option, (payment, read)) in options.iter().zip(peers::paid("cardano", &unsigned)) {
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            assert_eq!(read.get("lines"), Some(&[MARKER.into(), digits.into()].into()));
            assert_eq!(read.get("ttl"), Some(&98_000_000_u32.into()));
            assert_eq!(read.get("amount"), option.get("amount"));
            assert!(is_address(read.get("to").unwrap().as_str().unwrap()));
            let data = encoding::hex(&message_of([MARKER, digits]).unwrap());
            assert_eq!(read.get("auxiliaryData"), Some(&data.into()));
        }
    }
}
