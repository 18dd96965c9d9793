//! What solders and `@solana/kit` make of the messages and transactions that the pairings on Solana build, and what we make
//! of solders' transactions.
//!
//! `peers/solana/requests.jsonl` and `transactions.jsonl` are ours; `UPDATE=1` writes them anew. The other files are made
//! of them by `peers/solana/peer.py` and `kit.mjs`.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::{fs, path::PathBuf};

use lcp::{
    ConfirmedHash, Hash, Object, Value, encoding, json,
    pairing::{Buyer, Choice, Completed, Unsigned, WithinAsk},
    registry,
    wire::solana::{Message, Transaction, base58},
};

const ATR: &[u8] = b"abc";
/// The key that `peer.py` signs with.
const PAYER: &str = "GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB";

/// A name, the pairing, what the seller asks for, and the buyer's inputs. The last is a refund inside the channel before.
const CASES: [(&str, &str, &str, &str); 9] = [
    ("exact", "x402/exact/solana", "{}", r#""decimals":6"#),
    (
        "exact, own fee",
        "x402/exact/solana",
        r#"{"feePayer":"GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB"}"#,
        r#""decimals":6,"computeUnitPrice":"5""#,
    ),
    ("upto", "x402/upto/solana", r#"{"withdrawDelay":3600}"#, r#""nonce":"7","openSlot":"312345678""#),
    ("batch", "x402/batch-settlement/solana", r#"{"minDeposit":"100000","withdrawDelay":86400}"#, CHANNEL),
    ("charge", "mpp/charge/solana", r#"{"currency":"4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"}"#, r#""decimals":6"#),
    ("charge in lamports", "mpp/charge/solana", r#"{"currency":"sol"}"#, r#""computeUnitLimit":300"#),
    (
        "charge, the seller's fee",
        "mpp/charge/solana",
        r#"{"currency":"4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU","feePayer":true}"#,
        r#""decimals":0"#,
    ),
    ("usdc", "mpp/charge/usdc/solana", r#"{"currency":"4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"}"#, r#""decimals":6"#),
    ("batch, closing", "x402/batch-settlement/solana", r#"{"minDeposit":"100000","withdrawDelay":86400}"#, CHANNEL),
];

const CHANNEL: &str = r#""payerAuthorizer":"8SFqwqnq4whPhs8icwHA2hQg3hUoN1qrCLK1SBx3WKwe","openSlot":"312345678","salt":"18446744073709551615""#;
const FEE_PAYER: &str = "CNRcamMbSQwrsAsBJbDo68uAWEvpVvqhDeDrCaRt7hym";
const SELLER: &str = "2Fub4Rhb6TuNZ6XTEKAxbLeogqp52UHW7qAWF1WTk9Ka";
const MINT: &str = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
const TOKEN_PROGRAM: &str = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const DEVNET: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

fn parsed(text: &str) -> Value {
    json::parse(text, json::MAX_DEPTH).unwrap()
}

fn object(text: &str) -> Object {
    parsed(text).as_object().unwrap().clone()
}

/// The x402 document that asks for something, `asked` in the option's `extra`.
fn document(scheme: &str, asked: &str) -> Value {
    let h = Hash::of(ATR);
    let extra = [("feePayer", FEE_PAYER), ("tokenProgram", TOKEN_PROGRAM), ("receiverAuthorizer", SELLER), ("memo", &h.lcp_string())];
    let extra = extra.into_iter().fold(object(asked), |extra, (name, value)| if extra.has(name) { extra } else { extra.with(name, value) });
    let option = Object::new()
        .with("scheme", scheme)
        .with("network", DEVNET)
        .with("amount", "2500")
        .with("asset", MINT)
        .with("payTo", SELLER)
        .with("maxTimeoutSeconds", 300u32)
        .with("extra", extra);
    let info = Object::new().with("type", "sha256").with("value", h.to_string()).with("legalContextUrl", "https://atr.seller.example/x");
    let context = Object::new().with("legalContext", Object::new().with("info", info));
    Object::new().with("x402Version", 2u32).with("accepts", [option.into()]).with("extensions", context).into()
}

/// The MPP challenges that ask for something, `asked` in the request and, but for the currency, in its details.
fn challenges(method: &str, asked: &str) -> Value {
    let h = Hash::of(ATR);
    let asked = object(asked);
    let details = asked.without("currency").with("network", "devnet").with("feePayerKey", FEE_PAYER);
    let details = if method == "usdc" { Object::new().with("type", "solana").with("solana", details) } else { details };
    let request = Object::new()
        .with("amount", "2500")
        .with_some("currency", asked.get("currency"))
        .with("recipient", SELLER)
        .with("externalId", h.lcp_string())
        .with("methodDetails", details);
    let opaque = Object::new().with("legalContext", h.lcp_string()).with("legalContextUrl", "https://atr.seller.example/x");
    let encoded = |object: Object| encoding::base64url(json::canonical(&object.into()).unwrap().as_bytes());
    let challenge = Object::new()
        .with("id", encoding::base64url(h.bytes()) + ".0")
        .with("realm", "api.seller.example")
        .with("intent", "charge")
        .with("method", method)
        .with("request", encoded(request))
        .with("opaque", encoded(opaque));
    [challenge.into()].into()
}

fn built(pairing: &str, asked: &str, inputs: &str) -> Box<dyn Unsigned> {
    let mut id = pairing.split('/');
    let document = match (id.next().unwrap(), id.next().unwrap(), id.next().unwrap()) {
        ("x402", scheme, _) => document(scheme, asked),
        (_, _, method) => challenges(method, asked),
    };
    let pairing = registry::pairing(pairing).unwrap();
    let inputs =
        object(&format!(r#"{{{inputs},"tokenProgram":"{TOKEN_PROGRAM}","recentBlockhash":"439bvEwoZYj9kQfuXnDqffdKRrjt6B9XYEbVGns7mvFn"}}"#));
    let buyer = Buyer { account: &format!("{DEVNET}:{PAYER}"), inputs: &inputs, now: 1_790_000_000, random: &|_| () };
    let choice = pairing.choose(&pairing.read(&document).unwrap(), &buyer).unwrap();
    pairing.build(&Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(ATR), atr: ATR }).unwrap()
}

/// The refund of a channel by a transaction of the payer's own.
fn closing(opening: &Value, asked: &str) -> Box<dyn Unsigned> {
    let pairing = registry::pairing("x402/batch-settlement/solana").unwrap();
    let channel = pairing.channel().unwrap();
    let reason = "invalid_batch_settlement_svm_receiver_binding_unavailable";
    let document = document("batch-settlement", asked).as_object().unwrap().clone().with("error", reason).into();
    let inputs = object(r#"{"recentBlockhash":"EJvRipXNpKsB17PRrxcSYDeVTvV2iDrZ8c39xjyaq2VN"}"#);
    let ask = WithinAsk {
        document: &document,
        h: &ConfirmedHash::rehash(ATR),
        held: &channel.reference(opening, None).unwrap(),
        opening,
        landed: None,
        charged: "100",
        refund: Some(&Object::new()),
        inputs: &inputs,
        reference: &Value::Null,
    };
    channel.within().unwrap().build(&ask).unwrap().unsigned
}

/// The message that the wallet signs: the request's, or that of a batch's first.
fn message(unsigned: &dyn Unsigned) -> Value {
    let request = unsigned.request().unwrap().unwrap();
    let first = request.get("requests").and_then(Value::as_array).map_or(&request, |requests| &requests[0]);
    first.get("message").unwrap().clone()
}

/// The payment: signed as the file says, and as base58 in a batch.
fn payment(unsigned: &dyn Unsigned, signature: &str) -> Value {
    let batched = || {
        let bytes: [u8; 64] = encoding::from_hex(signature).unwrap().try_into().unwrap();
        Value::from([base58::encode(&bytes).into(), "1".repeat(64).into()])
    };
    match unsigned.complete(&signature.into()).or_else(|_| unsigned.complete(&batched())).unwrap() {
        Completed::Payment { signed, .. } => signed,
        Completed::Next(request) => panic!("{request:?}"),
    }
}

fn transaction(payment: &Value) -> Value {
    let payload = payment.get("payload").unwrap();
    let holder = payload.get("deposit").filter(|deposit| deposit.as_object().is_some()).unwrap_or(payload);
    holder.get("transaction").or_else(|| holder.get("openTransaction")).unwrap().clone()
}

/// Each case's unsigned payment, with the payments before it signed.
fn all_built() -> Vec<(&'static str, &'static str, Box<dyn Unsigned>)> {
    let mut all: Vec<_> = CASES[..8].iter().map(|(name, pairing, asked, inputs)| (*name, *pairing, built(pairing, asked, inputs))).collect();
    let opening = payment(&*all[3].2, &encoding::hex(&[0; 64]));
    let (name, pairing, asked, _) = CASES[8];
    all.push((name, pairing, closing(&opening, asked)));
    all
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/solana").join(name)
}

fn lines(name: &str) -> Vec<Value> {
    fs::read_to_string(file(name)).unwrap_or_default().lines().map(parsed).collect()
}

/// Holds what was made to what stands in the file.
fn same(name: &str, made: &[Value]) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(file(name), made.iter().map(|line| json::write(line) + "\n").collect::<String>()).unwrap();
    }
    assert_eq!(made, lines(name));
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap()
}

/// A message as `peer.py` writes its reading.
fn reading(message: &Message) -> Value {
    let numbers = |bytes: &[u8]| Value::from(bytes.iter().map(|&byte| u32::from(byte).into()).collect::<Vec<_>>());
    let calls = message.instructions.iter();
    let calls = calls.map(|call| [u32::from(call.program).into(), numbers(&call.accounts), encoding::hex(&call.data).into()].into());
    let lookups = message.lookups.iter();
    let lookups = lookups.map(|lookup| [lookup.table.into(), numbers(&lookup.writable), numbers(&lookup.readonly)].into());
    Object::new()
        .with("versioned", message.versioned)
        .with("header", numbers(&[message.signers, message.readonly_signers, message.readonly_others]))
        .with("keys", message.keys.iter().map(|&key| key.into()).collect::<Vec<_>>())
        .with("blockhash", base58::encode(&message.blockhash))
        .with("instructions", calls.collect::<Vec<_>>())
        .with("lookups", lookups.collect::<Vec<_>>())
        .into()
}

fn decoded(transaction: &Value) -> Transaction {
    Transaction::decode(&encoding::from_base64(transaction.as_str().unwrap()).unwrap()).unwrap()
}

#[test]
fn solders_reads_and_kit_compiles_what_is_asked() {
    let row = |(name, _, unsigned): &(&str, _, Box<dyn Unsigned>)| Object::new().with("name", *name).with("message", message(&**unsigned)).into();
    let requests: Vec<Value> = all_built().iter().map(row).collect();
    same("requests.jsonl", &requests);
    assert_eq!(lines("compiled.jsonl"), requests);
}

#[test]
fn the_payers_signatures_verify_and_the_payments_carry_the_hash() {
    let (mut made, signed) = (Vec::new(), lines("signed.jsonl"));
    assert_eq!(signed.len(), CASES.len());
    for ((name, id, unsigned), line) in all_built().into_iter().zip(&signed) {
        let payment = payment(&*unsigned, text(line, "signature"));
        let transaction = transaction(&payment);
        assert_eq!(Some(&reading(&decoded(&transaction).message)), line.get("reading"), "{name}");
        made.push(Object::new().with("name", name).with("transaction", transaction).into());
        let pairing = registry::pairing(id).unwrap();
        if name != "batch, closing" {
            assert_eq!(pairing.bound(&payment, None), Ok(Hash::of(ATR)), "{name}");
        }
    }
    same("transactions.jsonl", &made);

    let verified = lines("verified.jsonl");
    assert_eq!(verified.len(), CASES.len());
    for (line, made) in verified.iter().zip(lines("transactions.jsonl")) {
        assert_eq!(line.get("name"), made.get("name"));
        let message = decoded(made.get("transaction").unwrap()).message;
        let signers = message.keys[..message.signers.into()].iter().map(ToString::to_string);
        let expected = signers.fold(Object::new(), |signers, signer| {
            let payers = signer == PAYER;
            signers.with(signer, payers)
        });
        assert_eq!(line.get("verified"), Some(&expected.into()), "{line:?}");
    }
}

#[test]
fn solders_transactions_are_read_and_written() {
    let made = lines("made.jsonl");
    assert_eq!(made.len(), 7);
    for line in made {
        let transaction = decoded(line.get("transaction").unwrap());
        assert_eq!(Some(&reading(&transaction.message)), line.get("reading"), "{line:?}");
        let signatures: Vec<Value> = transaction.signatures.iter().map(|signature| encoding::hex(signature).into()).collect();
        assert_eq!(line.get("signatures"), Some(&signatures.into()));
        assert_eq!(encoding::base64(&transaction.encode()), text(&line, "transaction"));
        assert_eq!(Transaction::read(line.get("transaction")), Ok(transaction));
    }
}
