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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        json,
        pairing::Pairing,
        x402::sample::{self, build, h, object, paid, request, unserved, with_payload},
    };

    fn option() -> Object {
        let address = format!("0x{}", "a1".repeat(32));
        object("{'scheme':'exact','network':'aptos:2','amount':'250000','maxTimeoutSeconds':60,'extra':{}}")
            .with("asset", &*address)
            .with("payTo", address)
    }

    fn choose(account: &str) -> Result<Object, Refusal> {
        sample::choose(&PAIRING, account, option(), &Object::new())
    }

    /// The transaction of that name that the SDK made.
    fn transaction(name: &str) -> Object {
        let cases = json::parse(include_str!("../../../../tests/peers/aptos/cases.json"), json::MAX_DEPTH).unwrap();
        let case = cases.as_array().unwrap().iter().find(|case| case.get("name") == Some(&name.into())).unwrap().clone();
        let wire = encoding::from_hex(case.get("wire").unwrap().as_str().unwrap()).unwrap();
        Object::new().with("transaction", encoding::base64(&wire))
    }

    #[test]
    fn options() {
        for (name, value, code) in [
            ("scheme", "upto".into(), "x402/option-not-this-pairing"),
            ("network", "aptos".into(), "x402/option-not-this-pairing"),
            ("network", "aptos:0".into(), "aptos/network-malformed"),
            ("network", "aptos:256".into(), "aptos/network-malformed"),
            ("network", "aptos:02".into(), "aptos/network-malformed"),
            ("network", "aptos:+2".into(), "aptos/network-malformed"),
            ("extra", Value::Null, "x402/option-not-this-pairing"),
            ("asset", "0xa".into(), "x402/option-not-this-pairing"),
            ("payTo", Value::Null, "x402/option-not-this-pairing"),
            ("amount", "0".into(), "x402/option-not-this-pairing"),
            ("amount", "18446744073709551616".into(), "x402/option-not-this-pairing"),
            ("maxTimeoutSeconds", true.into(), "x402/option-not-this-pairing"),
        ] {
            assert_eq!(unserved(&PAIRING, option().with(name, &value)), code, "{name}: {value:?}");
        }
        assert_eq!(unserved(&PAIRING, option().with("network", "aptos:0").with("amount", "0")), "aptos/network-malformed");
        assert!(PAIRING.read(&sample::document([option().without("extra").with("network", "aptos:255")]).into()).is_ok());
    }

    #[test]
    fn accounts() {
        for address in ["0x1", &format!("0x{}", "A".repeat(64))] {
            assert!(choose(&format!("aptos:2:{address}")).is_ok());
        }
        for account in ["aptos:2:0x", "aptos:2:1", "aptos:2:0xg", &format!("aptos:2:0x{}", "1".repeat(65)), "aptos:1:0x1", "0x1"] {
            assert_eq!(choose(account), Err(NO_PAYABLE_OPTION), "{account}");
        }
    }

    #[test]
    fn the_echo_is_the_hash() {
        let unsigned = build(&PAIRING, &choose("aptos:2:0x1").unwrap()).unwrap();
        assert_eq!(request(&*unsigned), Object::new().with("kind", "aptos-transaction").with("accepted", option()).into());
        let payment = paid(&*unsigned, transaction("primary store").with("more", 1u32)).unwrap();
        assert_eq!(payment.get("payload"), Some(&transaction("primary store").into()));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        assert_eq!(PAIRING.bound(&with_payload(&payment, "transaction", "any text"), None), Ok(h()));
        assert_eq!(PAIRING.bound(&with_payload(&payment, "transaction", 1u32), None), Err(PAYLOAD_MALFORMED));
        let silent = payment.as_object().unwrap().without("extensions").into();
        assert_eq!(PAIRING.bound(&silent, None), Err(NO_LEGAL_CONTEXT));

        assert_eq!(paid(&*unsigned, transaction("chain 255")), Err(CHAIN_MISMATCH));
        assert_eq!(paid(&*unsigned, transaction("script")).unwrap_err().code(), "aptos/not-entry-function");
        for odd in [Value::Null, "x".into(), Object::new().with("transaction", 1u32).into()] {
            assert_eq!(paid(&*unsigned, odd), Err(SIGNATURE_MALFORMED));
        }
    }

    /// Aptos's SDK makes transactions of our requests, and reads in our payloads what we read.
    #[test]
    fn the_sdk_pays_and_reads() {
        let ours = json::lines(include_str!("../../../../tests/peers/aptos/ours.jsonl"));
        let sdk = json::lines(include_str!("../../../../tests/peers/aptos/payments.jsonl"));
        let list = |of: &Value, name: &str| of.get(name).unwrap().as_array().unwrap().to_vec();
        let options = [(2u32, "250000"), (255, "18446744073709551615")];
        assert_eq!((ours.len(), sdk.len()), (options.len(), options.len()));
        for ((ours, sdk), (chain, amount)) in ours.iter().zip(&sdk).zip(options) {
            let (asset, to) = (format!("0x{}", "a1".repeat(32)), format!("0x{}", "b2".repeat(32)));
            let option = option().with("network", format!("aptos:{chain}")).with("amount", amount).with("payTo", &*to);
            let choice = sample::choose(&PAIRING, &format!("aptos:{chain}:0x1"), option, &Object::new()).unwrap();
            let unsigned = build(&PAIRING, &choice).unwrap();
            assert_eq!(Some(&request(&*unsigned)), ours.get("request"));
            let (answers, payloads, read) = (list(sdk, "answers"), list(ours, "payloads"), list(sdk, "read"));
            assert_eq!((answers.len(), payloads.len(), read.len()), (2, 2, 2));
            for ((answer, payload), read) in answers.into_iter().zip(&payloads).zip(&read) {
                let payment = paid(&*unsigned, answer).unwrap();
                assert_eq!(payment.get("payload"), Some(payload));
                let transfer = Transfer::read(payload.get("transaction").and_then(Value::as_text).unwrap()).unwrap();
                let addresses = [("sender", transfer.sender), ("asset", transfer.asset), ("to", transfer.to)];
                for (name, address) in addresses {
                    assert_eq!(read.get(name), Some(&encoding::hex(&address).into()));
                }
                assert_eq!((read.get("asset"), read.get("to")), (Some(&asset.as_str().into()), Some(&to.as_str().into())));
                assert_eq!((transfer.amount.to_string().as_str(), u32::from(transfer.chain_id)), (amount, chain));
                assert_eq!((read.get("amount"), read.get("chain")), (Some(&amount.into()), Some(&chain.into())));
            }
        }
    }
}
