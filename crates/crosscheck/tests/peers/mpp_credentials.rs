//! Credentials, read by the `mpp` crate as a seller built on it reads them.

use std::collections::BTreeMap;

use lcp::{Value, encoding, json, pairing::Completed};
use mpp::{format_authorization, parse_authorization};

use crate::rows::{cases, text};

const PAIRINGS: [&str; 5] =
    ["mpp/charge/evm/authorization", "mpp/charge/evm/hash", "mpp/charge/evm/permit2", "mpp/charge/evm/transaction", "mpp/charge/usdc/evm"];

/// The longest header that mpp reads, in bytes.
const MAX_AUTHORIZATION: usize = 64 * 1024;

#[test]
fn mpp_reads_the_credentials() {
    let mut read = BTreeMap::new();
    for case in cases("mpp", &PAIRINGS) {
        if case.answer.is_null() {
            continue; // not signed in this row
        }
        let Ok(Completed::Payment { signed, .. }) = case.unsigned.complete(&case.answer) else { panic!("{}", case.id()) };
        let header = format!("Payment {}", encoding::base64url(json::write(&signed).as_bytes()));
        let parsed = parse_authorization(&header);

        // What it refuses is the seller's own doing: mpp sends no such challenge.
        if header.len() - "Payment ".len() > MAX_AUTHORIZATION {
            let refused = parsed.unwrap_err().to_string();
            assert_eq!(refused, "Credential is malformed: Authorization header exceeds maximum length of 65536 bytes.", "{}", case.id());
            continue;
        }
        let challenge = signed.get("challenge").unwrap();
        if challenge.get("digest").and_then(Value::as_str).is_some_and(|digest| !digest.starts_with("sha-256=")) {
            assert_eq!(parsed.unwrap_err().to_string(), "Credential is malformed: Invalid digest format.", "{}", case.id());
            continue;
        }

        let credential = parsed.unwrap_or_else(|error| panic!("{}: {error}", case.id()));
        let written = json::parse(&serde_json::to_string(&credential).unwrap(), json::MAX_DEPTH).unwrap();
        assert!(json::same(&written, &signed), "{}: {written:?}", case.id());
        assert_eq!(parse_authorization(&format_authorization(&credential).unwrap()).unwrap().payload, credential.payload, "{}", case.id());

        // Its payload type knows Tempo's ways to pay alone; the others' members stay JSON.
        let kind = text(signed.get("payload").unwrap(), "type");
        match (kind, credential.charge_payload()) {
            ("transaction", Ok(payload)) => assert_eq!(payload.signed_tx(), Some(text(signed.get("payload").unwrap(), "signature"))),
            ("hash", Ok(payload)) => assert_eq!(payload.tx_hash(), Some(text(signed.get("payload").unwrap(), "hash"))),
            (_, Err(error)) => {
                let expected = format!("not a charge payload: unknown variant `{kind}`, expected one of `transaction`, `hash`, `proof`");
                assert!(error.to_string().contains(&expected), "{}: {error}", case.id());
            }
            (_, Ok(payload)) => panic!("{}: {payload:?}", case.id()),
        }
        *read.entry(case.pairing.id()).or_insert(0) += 1;
    }
    assert!(PAIRINGS.iter().all(|pairing| read.get(pairing).is_some_and(|&read| read > 10)), "{read:?}");
}
