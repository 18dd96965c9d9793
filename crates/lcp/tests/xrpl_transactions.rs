//! What xrpl-py makes of the transactions and claims that our pairings ask for, and what we make of its transactions.
//!
//! `peers/xrpl/requests.jsonl` is ours; `UPDATE=1` writes it anew. The other files are made of it, or by themselves, by
//! `peer.py`.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::{fs, path::PathBuf};

use lcp::{
    ConfirmedHash, Hash, Object, Value, encoding, json,
    pairing::{Buyer, Choice, Completed, Unsigned, WithinAsk},
    registry,
    wire::xrpl::{self, Content, Transaction, account_id},
};

const ATR: &[u8] = b"abc";
const PAYER: &str = "rLUEXYuLiQptky37CqLcm9USQpPiz5rkpD";
const SELLER: &str = "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe";

/// A name, the pairing, the account's network, what the seller asks for beside what all ask for, and the buyer's inputs.
const CASES: [(&str, &str, &str, &str, &str); 11] = [
    ("drops", "x402/exact/xrpl", "xrpl:1", r#"{"asset":"XRP","amount":"99999999999999999"}"#, SEQUENCE),
    ("issued", "x402/exact/xrpl", "xrpl:0", r#"{"asset":"USD","amount":"0.1234567890123456"}"#, SEQUENCE),
    ("hex", "x402/exact/xrpl", "xrpl:1", r#"{"asset":"0158415500000000C1F76FF6ECB0BAC600000000","amount":"9223372036854775000"}"#, SEQUENCE),
    ("ticket", "x402/exact/xrpl", "xrpl:1", r#"{"asset":"XRP","amount":"1","assetTransferMethod":"ticketSequence"}"#, r#""ticketSequence":5"#),
    ("sidechain", "x402/exact/xrpl", "xrpl:21337", r#"{"asset":"XRP","amount":"7","destinationTag":0}"#, SEQUENCE),
    ("charge", "mpp/charge/xrpl", "xrpl:1", r#"{"currency":"XRP","amount":"1000000"}"#, SEQUENCE),
    (
        "issued charge",
        "mpp/charge/xrpl",
        "xrpl:1",
        r#"{"currency":{"currency":"USD","issuer":"rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"},"amount":"12.5","destinationTag":5,"sourceTag":0}"#,
        SEQUENCE,
    ),
    (
        "charge of an issuance",
        "mpp/charge/xrpl",
        "xrpl:1",
        r#"{"currency":{"mpt_issuance_id":"00000001ABABABABABABABABABABABABABABABABABABABAB"},"amount":"50"}"#,
        SEQUENCE,
    ),
    ("session", "mpp/session/xrpl", "xrpl:1", r#"{"amount":"100"}"#, OPENING),
    ("voucher", "mpp/session/xrpl", "xrpl:1", r#"{"amount":"250"}"#, OPENING),
    ("close", "mpp/session/xrpl", "xrpl:1", r#"{"amount":"250"}"#, OPENING),
];

const SEQUENCE: &str = r#""sequence":7"#;
const OPENING: &str = r#""deposit":"5000000","xrpl":{"publicKey":"0xed01fa53fa5a7e77798f882ece20b1abc00bb358a9e55a202d0d0676bd0ce37a63","settleDelay":86400,"fee":"12","sequence":7,"lastLedgerSequence":90000000,"cancelAfter":800000000}"#;

fn parsed(text: &str) -> Value {
    json::parse(text, json::MAX_DEPTH).unwrap()
}

fn object(text: &str) -> Object {
    parsed(text).as_object().unwrap().clone()
}

/// What the seller asks for in x402.
fn document(network: &str, asked: &str) -> Value {
    let (h, asked) = (Hash::of(ATR), object(asked));
    let extra = Object::new()
        .with("areFeesSponsored", false)
        .with("invoiceId", h.lcp_string())
        .with("issuer", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh")
        .with_some("assetTransferMethod", asked.get("assetTransferMethod"))
        .with_some("destinationTag", asked.get("destinationTag"));
    let option = Object::new()
        .with("scheme", "exact")
        .with("network", network)
        .with_some("amount", asked.get("amount"))
        .with_some("asset", asked.get("asset"))
        .with("payTo", SELLER)
        .with("maxTimeoutSeconds", 60u32)
        .with("extra", extra);
    let info = Object::new().with("type", "sha256").with("value", h.to_string()).with("legalContextUrl", "https://atr.seller.example/x");
    let context = Object::new().with("legalContext", Object::new().with("info", info));
    Object::new().with("x402Version", 2u32).with("accepts", [option.into()]).with("extensions", context).into()
}

/// What the seller asks for in MPP.
fn challenges(intent: &str, asked: &str) -> Value {
    let (h, asked) = (Hash::of(ATR), object(asked));
    let details = Object::new()
        .with("network", "testnet")
        .with_some("destinationTag", asked.get("destinationTag"))
        .with_some("sourceTag", asked.get("sourceTag"))
        .with("invoiceId", &h.to_string()[2..]);
    let request = asked.without("destinationTag").without("sourceTag").with("recipient", SELLER).with("methodDetails", details);
    let encoded = |object: Object| encoding::base64url(json::canonical(&object.into()).unwrap().as_bytes());
    let challenge = Object::new()
        .with("id", encoding::base64url(h.bytes()) + ".0")
        .with("realm", "api.seller.example")
        .with("intent", intent)
        .with("method", "xrpl")
        .with("expires", "2030-01-01T00:00:00Z")
        .with("request", encoded(request))
        .with("opaque", encoded(Object::new().with("legalContext", h.lcp_string()).with("legalContextUrl", "https://atr.seller.example/x")));
    [challenge.into()].into()
}

fn offered(pairing: &str, network: &str, asked: &str) -> Value {
    match pairing.split('/').collect::<Vec<_>>()[..] {
        ["x402", ..] => document(network, asked),
        [_, intent, _] => challenges(intent, asked),
        _ => panic!("{pairing}"),
    }
}

fn built((_, pairing, network, asked, inputs): &(&str, &str, &str, &str, &str)) -> Box<dyn Unsigned> {
    let document = offered(pairing, network, asked);
    let pairing = registry::pairing(pairing).unwrap();
    let inputs = object(&format!(r#"{{{inputs},"fee":"12","lastLedgerSequence":90000000}}"#));
    let buyer = Buyer { account: &format!("{network}:{PAYER}"), inputs: &inputs, now: 1_790_000_000, random: &|_| () };
    let choice = pairing.choose(&pairing.read(&document).unwrap(), &buyer).unwrap();
    pairing.build(&Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(ATR), atr: ATR }).unwrap()
}

/// A payment inside the channel that an opening of the session's case makes, whose id does not depend on signatures.
fn within(opening: &Value, asked: &str, refund: Option<&Object>) -> Box<dyn Unsigned> {
    let channel = registry::pairing("mpp/session/xrpl").unwrap().channel().unwrap();
    let ask = WithinAsk {
        document: &challenges("session", asked),
        h: &ConfirmedHash::rehash(ATR),
        held: &channel.reference(opening, None).unwrap(),
        opening,
        landed: None,
        charged: "100",
        refund,
        inputs: &Object::new(),
        reference: &Value::Null,
    };
    channel.within().unwrap().build(&ask).unwrap().unsigned
}

fn completed(unsigned: &dyn Unsigned, answer: &Value) -> Value {
    let Completed::Payment { signed, .. } = unsigned.complete(answer).unwrap() else { panic!("{answer:?}") };
    signed
}

/// Each case's unsigned payment; those inside the channel stand on the opening that the file holds, where it does.
fn all_built() -> Vec<(&'static str, &'static str, Box<dyn Unsigned>)> {
    let mut all: Vec<_> = CASES[..9].iter().map(|case| (case.0, case.1, built(case))).collect();
    if let Some(line) = lines("signed.jsonl").get(8) {
        let opening = completed(&*all[8].2, &answer(line));
        let refunds = [None, Some(Object::new())];
        for ((name, pairing, _, asked, _), refund) in CASES[9..].iter().zip(&refunds) {
            all.push((name, pairing, within(&opening, asked, refund.as_ref())));
        }
    }
    all
}

/// The wallet's answer, of what `peer.py` signed.
fn answer(line: &Value) -> Value {
    match (line.get("blob"), line.get("claim")) {
        (Some(blob), None) => blob.clone(),
        (Some(blob), Some(claim)) => Object::new().with("signedBlob", blob).with("claimSignature", claim).into(),
        _ => [line.get("claim").unwrap().clone()].into(),
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/xrpl").join(name)
}

fn lines(name: &str) -> Vec<Value> {
    fs::read_to_string(file(name)).unwrap_or_default().lines().map(parsed).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap()
}

fn bytes(digits: &str) -> Vec<u8> {
    encoding::from_hex(&format!("0x{digits}")).unwrap()
}

#[test]
fn addresses_are_read() {
    for line in lines("addresses.jsonl") {
        let (id, address) = (text(&line, "id"), text(&line, "address"));
        assert_eq!(account_id(address).map(|id| encoding::hex(&id)).as_deref(), Some(id));
        for place in 0..address.len() {
            let mut changed = address.to_owned();
            changed.replace_range(place..=place, if &address[place..=place] == "s" { "t" } else { "s" });
            assert_eq!(account_id(&changed), None, "{changed}");
        }
    }
}

#[test]
fn xrpl_py_signs_what_is_asked() {
    let (all, signed) = (all_built(), lines("signed.jsonl"));
    let request = |unsigned: &dyn Unsigned| {
        let request = unsigned.request().unwrap().unwrap();
        request.get("requests").and_then(Value::as_array).map_or_else(|| request.clone(), |requests| requests[0].clone())
    };
    let requests: Vec<Value> =
        all.iter().map(|(name, _, unsigned)| Object::new().with("name", *name).with("request", request(&**unsigned)).into()).collect();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(file("requests.jsonl"), requests.iter().map(|line| json::write(line) + "\n").collect::<String>()).unwrap();
    }
    assert_eq!(requests, lines("requests.jsonl"));
    assert_eq!((all.len(), signed.len()), (CASES.len(), CASES.len()));
    for ((name, id, unsigned), line) in all.iter().zip(&signed) {
        assert_eq!(text(line, "name"), *name);
        let payment = completed(&**unsigned, &answer(line));
        let pairing = registry::pairing(id).unwrap();
        let inside = ["voucher", "close"].contains(name);
        assert_eq!(pairing.bound(&payment, None).is_ok(), !inside, "{name}");
        if let Some(blob) = line.get("blob") {
            let blob = bytes(blob.as_str().unwrap());
            assert_eq!(pairing.bound(&payment, None), Ok(Hash::of(ATR)), "{name}");
            assert_eq!(encoding::hex(&xrpl::hash(&blob)), text(line, "hash"));
        }
        if let Some(channel) = pairing.channel() {
            let opened = request(&*all[8].2).get("claim").unwrap().clone();
            assert_eq!(channel.reference(&payment, None).unwrap().channel, text(&opened, "channelId"));
        }
    }
}

/// A transaction's fields as `peer.py` writes them.
fn fields(object: &xrpl::Object<'_>) -> Value {
    let number = |byte: u8| Value::from(u32::from(byte));
    let row = |(kind, nth): (u8, u8), content: Value| Value::from([number(kind), number(nth), content]);
    let content = |content: &Content<'_>| match content {
        Content::Bytes(bytes) => encoding::hex(bytes)[2..].into(),
        Content::Object(object) => fields(object),
        Content::Array(members) => members.iter().map(|(code, member)| row(*code, fields(member))).collect::<Vec<_>>().into(),
    };
    object.iter().map(|(code, held)| row(code, content(held))).collect::<Vec<_>>().into()
}

#[test]
fn xrpl_pys_transactions_are_read() {
    let made = lines("made.jsonl");
    assert_eq!(made.len(), 22);
    for line in made {
        let kind = text(&line, "kind");
        let blob = bytes(text(&line, "blob"));
        let transaction = Transaction::read(&blob).unwrap_or_else(|| panic!("{kind}"));
        assert_eq!(Some(&fields(transaction.fields())), line.get("fields"), "{kind}");
        assert_eq!((transaction.is_payment(), transaction.is_channel_create()), (kind == "Payment", kind == "PaymentChannelCreate"));
        // The last field of a transaction is cut, and with it the transaction.
        assert_eq!(Transaction::read(&blob[..blob.len() - 1]), None, "{kind}");
        assert_eq!(Transaction::read(&[&blob[..], &[0]].concat()), None, "{kind}");
    }
}
