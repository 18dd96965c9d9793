//! Messages and transactions, read and written anew by Solana's own crates.

use std::collections::BTreeMap;

use lcp::{Value, encoding, pairing::Completed};
use solana_transaction::versioned::VersionedTransaction;

use crate::rows::{Case, cases, text};

const PAIRINGS: [&str; 5] = ["mpp/charge/solana", "mpp/charge/usdc/solana", "x402/batch-settlement/solana", "x402/exact/solana", "x402/upto/solana"];

/// The messages in a request.
fn messages(request: &Value) -> Vec<Vec<u8>> {
    match text(request, "kind") {
        "solana-message" => vec![encoding::from_hex(text(request, "message")).unwrap()],
        "batch" => request.get("requests").and_then(Value::as_array).unwrap().iter().flat_map(messages).collect(),
        _ => Vec::new(),
    }
}

/// The transaction in a payment, wherever its pairing places it.
fn transaction(signed: &Value) -> Option<Vec<u8>> {
    let payload = signed.get("payload")?;
    let transaction = ["transaction", "openTransaction"].into_iter().find_map(|name| payload.get(name));
    encoding::from_base64(transaction.or_else(|| payload.get("deposit")?.get("transaction"))?.as_str()?)
}

/// Panics unless the transaction is read and comes back as it was; answers its message.
fn read(case: &Case, wire: &[u8]) -> Vec<u8> {
    let read: VersionedTransaction = wincode::deserialize_exact(wire).unwrap_or_else(|error| panic!("{}: {error}", case.id()));
    read.sanitize().unwrap_or_else(|error| panic!("{}: {error}", case.id()));
    assert_eq!(wincode::serialize(&read).unwrap(), wire, "{}", case.id());
    read.message.serialize()
}

#[test]
fn solana_reads_what_we_build() {
    let mut paid = BTreeMap::new();
    for case in ["mpp", "x402-rails"].into_iter().flat_map(|folder| cases(folder, &PAIRINGS)) {
        let messages = messages(&case.request());
        if case.answer.is_null() {
            continue; // not signed in this row
        }
        let Ok(Completed::Payment { signed, .. }) = case.unsigned.complete(&case.answer) else { panic!("{}", case.id()) };
        let Some(wire) = transaction(&signed) else {
            assert!(messages.is_empty(), "{}", case.id());
            continue; // a voucher
        };
        // What is signed is the transaction's message.
        assert_eq!(messages, [read(&case, &wire)], "{}", case.id());
        *paid.entry(case.pairing.id()).or_insert(0) += 1;
    }
    assert!(PAIRINGS.iter().all(|pairing| paid.get(pairing).is_some_and(|&paid| paid > 10)), "{paid:?}");
}
