//! What we make of stellar-sdk's transactions and strkeys, and the transfers that it signs as our pairings do.
//!
//! The files in `peers/stellar` are made by `peer.py`.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::fs;

use ed25519_dalek::{Signer as _, SigningKey};
use lcp::{
    ConfirmedHash, Hash, Object, Value, encoding, json,
    pairing::{Buyer, Choice, Completed},
    registry,
    wire::stellar::{Address, Credentials, Transaction},
};

const ATR: &[u8] = b"abc";
/// The seed of the payer's key in `peer.py`.
const SEED: [u8; 32] = [7; 32];

fn lines(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/peers/stellar/{name}", env!("CARGO_MANIFEST_DIR"));
    let lines: Vec<Value> = fs::read_to_string(path).unwrap().lines().map(|line| json::parse(line, json::MAX_DEPTH).unwrap()).collect();
    assert!(!lines.is_empty());
    lines
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap()
}

fn bytes(value: &Value, name: &str) -> Vec<u8> {
    encoding::from_base64(text(value, name)).unwrap()
}

#[test]
fn strkeys_are_read_and_written() {
    for line in lines("addresses.jsonl") {
        let key: [u8; 32] = encoding::from_hex(text(&line, "key")).unwrap().try_into().unwrap();
        let muxed = Address::Muxed { key, id: text(&line, "id").parse().unwrap() };
        for (name, address) in [("account", Address::Account(key)), ("muxed", muxed), ("contract", Address::Contract(key))] {
            let strkey = text(&line, name);
            assert_eq!(Address::parse(strkey), Some(address));
            assert_eq!(address.to_string(), strkey);
        }
    }
}

#[test]
fn every_operation_is_read() {
    for line in lines("operations.jsonl") {
        let (name, envelope) = (text(&line, "name"), bytes(&line, "envelope"));
        let transaction = Transaction::read(&envelope).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(transaction.bumped, name == "fee bump");
        let invokes = ["values", "upload", "create", "create of an asset"].contains(&name);
        assert_eq!(transaction.invocation.is_some(), invokes, "{name}");
        assert!(transaction.invocation.is_none_or(|invocation| invocation.transfer().is_none()));
        for cut in 0..envelope.len() {
            assert!(Transaction::read(&envelope[..cut]).is_none(), "{name}, {cut} bytes");
        }
        assert!(Transaction::read(&[&envelope[..], &[0; 4]].concat()).is_none(), "{name}");
    }
}

/// The x402 document and the MPP challenges that ask for the transfer.
fn offers(network: &str, payee: Address, token: Address) -> [(&'static str, Value); 2] {
    let h = Hash::of(ATR);
    let option = Object::new()
        .with("scheme", "exact")
        .with("network", network)
        .with("amount", "1234500")
        .with("asset", token.to_string())
        .with("payTo", payee.to_string())
        .with("maxTimeoutSeconds", 61u32)
        .with("extra", Object::new().with("areFeesSponsored", true));
    let info = Object::new().with("type", "sha256").with("value", h.to_string()).with("legalContextUrl", "https://atr.seller.example/x");
    let context = Object::new().with("legalContext", Object::new().with("info", info));
    let document = Object::new().with("x402Version", 2u32).with("accepts", [option.into()]).with("extensions", context);

    let encoded = |object: Object| encoding::base64url(json::canonical(&object.into()).unwrap().as_bytes());
    let request = Object::new()
        .with("amount", "1234500")
        .with("currency", token.to_string())
        .with("recipient", payee.to_string())
        .with("methodDetails", Object::new().with("network", network));
    let challenge = Object::new()
        .with("id", encoding::base64url(h.bytes()) + ".0")
        .with("realm", "api.seller.example")
        .with("intent", "charge")
        .with("method", "stellar")
        .with("expires", "2026-09-21T14:14:21Z")
        .with("request", encoded(request))
        .with("opaque", encoded(Object::new().with("legalContext", h.lcp_string()).with("legalContextUrl", "https://atr.seller.example/x")));
    [("x402/exact/stellar", document.into()), ("mpp/charge/stellar", [challenge.into()].into())]
}

#[test]
fn transfers_are_signed_alike() {
    let key = SigningKey::from_bytes(&SEED);
    let payer = Address::Account(key.verifying_key().to_bytes());
    for line in lines("transfers.jsonl") {
        let envelope = bytes(&line, "simulated");
        let transaction = Transaction::read(&envelope).unwrap();
        let transfer = transaction.invocation.as_ref().unwrap().transfer().unwrap();
        assert_eq!((transfer.from, transfer.amount), (payer, 1_234_500));
        let network = format!("stellar:{}", text(&line, "network"));
        for (id, document) in offers(&network, transfer.to, Address::Contract(transfer.contract)) {
            let pairing = registry::pairing(id).unwrap();
            let inputs = Object::new().with("simulatedXdr", text(&line, "simulated")).with("currentLedger", 1000u32);
            let buyer = Buyer { account: &format!("{network}:{payer}"), inputs: &inputs, now: 1_790_000_000, random: &|_| () };
            let choice = pairing.choose(&pairing.read(&document).unwrap(), &buyer).unwrap();
            let unsigned = pairing.build(&Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(ATR), atr: ATR }).unwrap();
            let preimage = encoding::from_hex(text(&unsigned.request().unwrap().unwrap(), "preimage")).unwrap();
            let signature = encoding::hex(&key.sign(Hash::of(&preimage).bytes()).to_bytes());
            let Completed::Payment { signed, .. } = unsigned.complete(&signature.into()).unwrap() else { panic!("{id}") };
            assert_eq!(text(signed.get("payload").unwrap(), "transaction"), text(&line, "signed"), "{id}, {}", text(&line, "name"));
            assert_eq!(pairing.bound(&signed, None), Ok(Hash::of(ATR)));
        }
    }
}

#[test]
fn entries_say_who_signs_them() {
    for line in lines("transfers.jsonl") {
        let envelope = bytes(&line, "signed");
        let transaction = Transaction::read(&envelope).unwrap();
        let entries = &transaction.invocation.as_ref().unwrap().entries;
        let signers: Vec<_> = entries
            .iter()
            .map(|entry| match &entry.credentials {
                Credentials::Address(credentials) => credentials.address,
                Credentials::Source | Credentials::Delegated => None,
            })
            .collect();
        let payer = SigningKey::from_bytes(&SEED).verifying_key().to_bytes();
        assert_eq!(signers, [Some(Address::Account(payer)), Some(Address::Account(transaction.source))]);
    }
}
