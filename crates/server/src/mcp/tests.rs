//! The tools as a client meets them, over scripted operations.

mod calls;
mod client;
mod desk;
mod ending;
mod eras;
mod guard;
mod listing;
mod logging;
mod over_http;
mod refusals;

use lcp::{Value, json};

/// Reads JSON.
fn read(text: &str) -> Value {
    json::parse(text, json::MAX_DEPTH).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The value at that path of member names.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| match name.parse::<usize>() {
        Ok(index) => value.as_array()?.get(index),
        Err(_) => value.get(name),
    })
}

/// The text at that path.
fn text_at<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_else(|| panic!("{path}: {value:?}"))
}

/// Arguments that each tool takes, every member that it knows among them.
const FITTING: [(&str, &str); 8] = [
    (
        "request_payment",
        r#"{"payee":{"name":"Ream & Rule","domain":"reamandrule.com","merchant_id":"acct_1"},"amount":{"value":"48.00","currency":"USD"},
            "purpose":"printer paper","checkout":{"protocol":"ucp","reference":"chk_1"},
            "evidence":[{"type":"quote","ref":"https://reamandrule.com/q","digest":"sha256:ab"}],
            "intent":{"text":"paper","slots":{"category":"office","items":[{"description":"paper","quantity":2,"unit_max":"24.00"}],"quantity":2,
                "max_total":"50.00","currency":"USD","payee":"Ream & Rule","deliver_by":"2026-12-24","substitutions_allowed":true,"recurrence":"once",
                "notes":"none"},"intent_text":"paper","constraints":{"max":"50.00"},"intent_mapping":{"max":"max_total"}},
            "catalog_snapshot_hash":"ab","trace":{"ref":"run-7","digest":"ab"},"complete_checkout":false,"idempotency_key":"paper-1"}"#,
    ),
    ("get_decision", r#"{"request_id":"pr_1","wait":25}"#),
    (
        "hand_off_checkout",
        r#"{"request_id":"pr_1","continue_url":"https://reamandrule.com/c/1",
            "order":{"id":"R-1","status":"confirmed","permalink_url":"https://reamandrule.com/o/1","total":{"value":"48.00","currency":"USD"}}}"#,
    ),
    ("list_mandates", r#"{"state":"issued","cursor":"c1","limit":20}"#),
    ("get_record", r#"{"record_id":"rec_1"}"#),
    ("verify_record", r#"{"record_id":"rec_1"}"#),
    ("verify_record", r#"{"bundle":{"record":"{}","keys":[{"kid":"k1"}]}}"#),
    ("answer_clarification", r#"{"request_id":"pr_1","answers":[{"question_id":"q_1","answer":"two boxes"}]}"#),
];
