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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        json,
        pairing::Pairing,
        x402::sample::{self, build, h, object, paid, request, unserved, with_payload},
    };

    const PAYER: &str = "sui:testnet:0xABababababababababababababababababababababababababababababababab";

    fn option() -> Object {
        object("{'scheme':'exact','network':'sui:testnet','amount':'250000','asset':'0x2::sui::SUI','maxTimeoutSeconds':60}")
            .with("payTo", format!("0x{}", "a1".repeat(32)))
    }

    fn choose(account: &str) -> Result<Object, Refusal> {
        sample::choose(&PAIRING, account, option(), &Object::new())
    }

    /// The transaction of that name that the SDK made, with another hash in the place of its own.
    fn transaction(name: &str, h: &Hash) -> Object {
        let cases = json::parse(include_str!("../../../../tests/peers/sui/cases.json"), json::MAX_DEPTH).unwrap();
        let mut built = cases.get("built").unwrap().as_array().unwrap().iter();
        let wire = built.find(|case| case.get("name") == Some(&name.into())).unwrap().get("wire").unwrap();
        let wire = wire.as_str().unwrap().replace(&"ab".repeat(32), &h.to_string()[2..]);
        Object::new().with("signature", "any text").with("transaction", encoding::base64(&encoding::from_hex(&wire).unwrap()))
    }

    #[test]
    fn options() {
        for (name, value, code) in [
            ("scheme", "upto".into(), "x402/option-not-this-pairing"),
            ("network", "sui".into(), "x402/option-not-this-pairing"),
            ("network", "sui:localnet".into(), "sui/network-malformed"),
            ("extra", Value::Null, "x402/option-not-this-pairing"),
            ("extra", object("{'paymentFlow':'upfront'}").into(), "x402/option-not-this-pairing"),
            ("payTo", format!("0x{}", "A1".repeat(32)).into(), "x402/option-not-this-pairing"),
            ("payTo", "0x1".into(), "x402/option-not-this-pairing"),
            ("amount", "0".into(), "x402/option-not-this-pairing"),
            ("amount", "18446744073709551616".into(), "x402/option-not-this-pairing"),
            ("maxTimeoutSeconds", 0u32.into(), "x402/option-not-this-pairing"),
        ] {
            assert_eq!(unserved(&PAIRING, option().with(name, &value)), code, "{name}: {value:?}");
        }
        assert_eq!(unserved(&PAIRING, option().with("network", "sui:x").with("amount", "0")), "sui/network-malformed");
    }

    #[test]
    fn coin_types() {
        for coin in ["0x2::sui::SUI", "0xA::_a::_B9", &format!("0x{}::usdc::USDC", "a".repeat(64))] {
            assert!(is_coin_type(coin), "{coin}");
        }
        for odd in [
            "0x2::sui",
            "0x2::sui::SUI::x",
            "0x::sui::SUI",
            "2::sui::SUI",
            "0x2::1sui::SUI",
            "0x2::sui::",
            "0x2::sui::SUI ",
            "0x2::sui::é",
            &format!("0x{}::a::B", "a".repeat(65)),
        ] {
            assert!(!is_coin_type(odd), "{odd}");
        }
    }

    #[test]
    fn an_unused_input_is_the_hash() {
        assert_eq!(choose("sui:testnet:0x1"), Err(NO_PAYABLE_OPTION));
        let unsigned = build(&PAIRING, &choose(PAYER).unwrap()).unwrap();
        let asked =
            Object::new().with("kind", "sui-transaction").with("accepted", option()).with("pureInput", &h()).with("expiration", "epoch-bounded");
        assert_eq!(request(&*unsigned), asked.into());

        let payment = paid(&*unsigned, transaction("payment", &h()).with("more", 1u32)).unwrap();
        assert_eq!(payment.get("payload"), Some(&transaction("payment", &h()).into()));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let bound = |name, value: Value| PAIRING.bound(&with_payload(&payment, name, value), None).unwrap_err();
        assert_eq!(bound("signature", "".into()), SIGNATURE_MALFORMED);
        assert_eq!(bound("transaction", Value::Null), PAYLOAD_MALFORMED);
        assert_eq!(bound("transaction", transaction("hash used", &h()).get("transaction").unwrap().clone()), HASH_NOT_CARRIED);
        assert_eq!(bound("transaction", "AAE=".into()).code(), "sui/not-programmable");

        for other in [transaction("payment", &Hash::of(b"abd")), transaction("hash used", &h()), transaction("payment", &h()).with("signature", "")] {
            assert_eq!(paid(&*unsigned, other), Err(SIGNED_NOT_BOUND));
        }
        for odd in [Value::Null, "x".into(), transaction("payment", &h()).without("signature").into()] {
            assert_eq!(paid(&*unsigned, odd), Err(SIGNATURE_MALFORMED));
        }
    }

    #[test]
    fn one_input_is_left_unused() {
        // The amount is left too where no coin is split by it.
        let wire = encoding::from_base64(transaction("payment", &h()).get("transaction").unwrap().as_str().unwrap()).unwrap();
        let split = [2, 1, 0, 0, 1, 1, 1, 0];
        let at = wire.windows(split.len()).position(|bytes| bytes == split).unwrap();
        let mut other = wire.clone();
        other[at + 6] = 9;
        assert_eq!(carried(&encoding::base64(&other).into()), Err(AMBIGUOUS));
        assert_eq!(carried(&encoding::base64(&wire).into()), Ok(h()));
    }

    /// Sui's SDK makes a transaction of our request, and reads in our payload the payment, and H as the one input left unused.
    #[test]
    fn the_sdk_pays_and_reads() {
        let ours = json::lines(include_str!("../../../../tests/peers/sui/ours.jsonl"));
        let sdk = json::lines(include_str!("../../../../tests/peers/sui/payments.jsonl"));
        let amounts = ["250000", "18446744073709551615"];
        assert_eq!((ours.len(), sdk.len()), (amounts.len(), amounts.len()));
        for ((ours, sdk), amount) in ours.iter().zip(&sdk).zip(amounts) {
            let option = option().with("amount", amount);
            let unsigned = build(&PAIRING, &sample::choose(&PAIRING, PAYER, option.clone(), &Object::new()).unwrap()).unwrap();
            assert_eq!(Some(&request(&*unsigned)), ours.get("request"));
            let payment = paid(&*unsigned, sdk.get("answer").unwrap().clone()).unwrap();
            assert_eq!(payment.get("payload"), ours.get("payload"));
            assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
            let read = sdk.get("read").unwrap();
            assert_eq!((read.get("to"), read.get("amount")), (option.get("payTo"), option.get("amount")));
            assert_eq!(read.get("unused"), Some(&vec![Value::from(&h())].into()));
        }
    }
}
