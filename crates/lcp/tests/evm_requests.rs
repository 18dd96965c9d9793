//! What wallets built on eth-account make of the typed data that the MPP pairings on EVM networks ask them to sign.
//!
//! `peers/evm/requests.jsonl` holds the requests, `peers/evm/signed.jsonl` what `peers/evm/sign.py` made of them, and
//! `peers/evm/credentials.jsonl` the credentials with its signatures, which `peers/evm/mppx.mjs` reads. `UPDATE=1` writes
//! the first and the last anew.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::{fs, path::PathBuf};

use lcp::{
    ConfirmedHash, Hash, Object, Value, encoding, json,
    pairing::{Buyer, Choice, Completed, Unsigned},
    registry,
    wire::evm::{U256, Word, address_word, keccak, typed_data_digest},
};

const ATR: &[u8] = b"abc";
const ACCOUNT: &str = "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/// A name, the pairing, the challenge's request, and the buyer's inputs.
const CASES: [(&str, &str, &str, &str); 7] = [
    (
        "authorization",
        "mpp/charge/evm/authorization",
        r#"{"amount":"10000","methodDetails":{"chainId":84532,"credentialTypes":["authorization"]}}"#,
        TOKEN,
    ),
    (
        "permit2",
        "mpp/charge/evm/permit2",
        r#"{"amount":"10000","externalId":"é","methodDetails":{"chainId":84532,"credentialTypes":["permit2"]}}"#,
        SPENDER,
    ),
    (
        "permit2 in parts",
        "mpp/charge/evm/permit2",
        r#"{"amount":"10000","methodDetails":{"chainId":84532,"credentialTypes":["permit2"],
            "splits":[{"amount":"1","recipient":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"},{"amount":"2","recipient":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}]}}"#,
        SPENDER,
    ),
    ("usdc", "mpp/charge/usdc/evm", r#"{"amount":"10000","methodDetails":{"evm":{"chainId":84532},"type":"evm"}}"#, TOKEN),
    ("session by authorization", "mpp/session/evm", SESSION, r#"{"deposit":"5000000","tokenDomain":{"name":"USDC","version":"2"}}"#),
    ("session by permit2", "mpp/session/evm", SESSION, r#"{"deposit":"5000000","credentialType":"permit2"}"#),
    ("session's voucher", "mpp/session/evm", SESSION, r#"{"deposit":"5000000","credentialType":"hash"}"#),
];

const TOKEN: &str = r#"{"tokenDomain":{"name":"USDC","version":"2"}}"#;
const SPENDER: &str = r#"{"spender":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C"}"#;
const SESSION: &str = r#"{"amount":"100","methodDetails":{"chainId":84532,"credentialTypes":["authorization","permit2","hash"],
    "escrowContract":"0x1234567890AbcdEF1234567890aBcdef12345678"}}"#;

fn parsed(text: &str) -> Value {
    json::parse(text, json::MAX_DEPTH).unwrap()
}

fn object(value: &Value) -> Object {
    value.as_object().unwrap().clone()
}

fn built(pairing: &str, request: &str, inputs: &str) -> Box<dyn Unsigned> {
    let h = Hash::of(ATR);
    let request = object(&parsed(request))
        .with("currency", "0x036CbD53842c5426634e7929541eC2318f3dCF7e")
        .with("recipient", "0x209693Bc6afc0C5328bA36FaF03C514EF312287C");
    let opaque = Object::new().with("legalContext", h.lcp_string()).with("legalContextUrl", "https://atr.seller.example/x");
    let encoded = |object: Object| encoding::base64url(json::canonical(&object.into()).unwrap().as_bytes());
    let mut id = pairing.split('/').skip(1);
    let challenge = Object::new()
        .with("id", encoding::base64url(h.bytes()) + ".0")
        .with("realm", "api.seller.example")
        .with("intent", id.next().unwrap())
        .with("method", id.next().unwrap())
        .with("request", encoded(request))
        .with("opaque", encoded(opaque))
        .with("expires", "2030-01-01T00:00:00Z");
    let pairing = registry::pairing(pairing).unwrap();
    let buyer = Buyer { account: ACCOUNT, inputs: &object(&parsed(inputs)), now: 1_790_000_000, random: &|_| () };
    let choice = pairing.choose(&pairing.read(&[challenge.into()].into()).unwrap(), &buyer).unwrap();
    pairing.build(&Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(ATR), atr: ATR }).unwrap()
}

/// What the wallet signs in a case: the first request or, where that is for transactions, the one after it.
fn request(unsigned: &dyn Unsigned) -> Value {
    let request = unsigned.request().unwrap().unwrap();
    if request.get("kind").and_then(Value::as_str) == Some("eip712") {
        return request;
    }
    match unsigned.complete(&Hash::of(b"a transaction").to_string().into()).unwrap() {
        Completed::Next(request) => request,
        Completed::Payment { signed, .. } => panic!("{signed:?}"),
    }
}

fn payment(unsigned: &dyn Unsigned, signature: &str) -> Value {
    let completed = match unsigned.complete(&signature.into()) {
        Ok(Completed::Next(_)) => unsigned.complete(&[signature, signature].map(Value::from).into()),
        Err(_) => unsigned.complete(&[&Hash::of(b"a transaction").to_string(), signature].map(Value::from).into()),
        completed => completed,
    };
    match completed.unwrap() {
        Completed::Payment { signed, .. } => signed,
        Completed::Next(request) => panic!("{request:?}"),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap()
}

/// EIP-712 over a request's typed data, with what the crate has of it.
struct Typed<'a> {
    types: &'a Object,
}

impl Typed<'_> {
    fn digest(request: &Value) -> Word {
        let data = request.get("typedData").unwrap();
        let all = [("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")];
        let domain = data.get("domain").unwrap();
        let members: Vec<Value> = all
            .into_iter()
            .filter(|(name, _)| domain.get(name).is_some())
            .map(|(name, kind)| Object::new().with("name", name).with("type", kind).into())
            .collect();
        let types = object(data.get("types").unwrap());
        if let Some(stated) = types.get("EIP712Domain") {
            assert_eq!(stated, &members.clone().into());
        }
        let types = types.with("EIP712Domain", members);
        let typed = Typed { types: &types };
        let primary = text(data, "primaryType");
        typed_data_digest(&typed.word("EIP712Domain", domain), &typed.word(primary, data.get("message").unwrap()))
    }

    fn members(&self, name: &str) -> Vec<(&str, &str)> {
        self.types.get(name).unwrap().as_array().unwrap().iter().map(|member| (text(member, "name"), text(member, "type"))).collect()
    }

    fn encoded_type(&self, name: &str) -> String {
        let members: Vec<_> = self.members(name).iter().map(|(name, kind)| format!("{kind} {name}")).collect();
        format!("{name}({})", members.join(","))
    }

    fn word(&self, kind: &str, value: &Value) -> Word {
        if let Some(kind) = kind.strip_suffix("[]") {
            let words: Vec<Word> = value.as_array().unwrap().iter().map(|item| self.word(kind, item)).collect();
            return keccak(words.as_flattened());
        }
        if self.types.has(kind) {
            // No type here nests deeper than one level.
            let members = self.members(kind);
            let mut inner: Vec<_> = members.iter().map(|(_, kind)| kind.trim_end_matches("[]")).filter(|kind| self.types.has(kind)).collect();
            inner.sort_unstable();
            let types: String = std::iter::once(kind).chain(inner).map(|name| self.encoded_type(name)).collect();
            let words = members.iter().map(|(name, kind)| self.word(kind, value.get(name).unwrap()));
            return keccak(std::iter::once(keccak(types.as_bytes())).chain(words).collect::<Vec<_>>().as_flattened());
        }
        let text = value.as_str().map_or_else(|| value.as_safe_unsigned().unwrap().to_string(), str::to_owned);
        match kind {
            "string" => keccak(text.as_bytes()),
            "address" => address_word(&text).unwrap(),
            "bytes32" => *Hash::parse(&text).unwrap().bytes(),
            _ => *U256::from_decimal(&text).unwrap().bytes(),
        }
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/evm").join(name)
}

fn lines(name: &str) -> Vec<Value> {
    fs::read_to_string(file(name)).unwrap_or_default().lines().map(parsed).collect()
}

/// Holds what was made to what stands in the file.
fn same(name: &str, made: Vec<Value>) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(file(name), made.iter().map(|line| json::write(line) + "\n").collect::<String>()).unwrap();
    }
    assert_eq!(made, lines(name));
}

#[test]
fn eth_account_signs_what_is_asked() {
    let made =
        CASES.map(|(name, pairing, asked, inputs)| Object::new().with("name", name).with("request", request(&*built(pairing, asked, inputs))).into());
    same("requests.jsonl", made.into());
    let signed = lines("signed.jsonl");
    assert_eq!(signed.len(), CASES.len());
    for (line, row) in signed.iter().zip(lines("requests.jsonl")) {
        assert_eq!(line.get("name"), row.get("name"));
        let digest = encoding::hex(&Typed::digest(row.get("request").unwrap()));
        assert_eq!(text(line, "digest"), digest, "{line:?}");
        assert!(ACCOUNT.ends_with(text(line, "signer")), "{line:?}");
    }
}

#[test]
fn the_credentials_carry_the_hash() {
    let mut made = Vec::new();
    for ((name, id, asked, inputs), line) in CASES.into_iter().zip(lines("signed.jsonl")) {
        let signed = payment(&*built(id, asked, inputs), text(&line, "signature"));
        assert_eq!(registry::pairing(id).unwrap().bound(&signed, None), Ok(Hash::of(ATR)), "{name}");
        made.push(Object::new().with("name", name).with("signed", signed).into());
    }
    same("credentials.jsonl", made);
}
