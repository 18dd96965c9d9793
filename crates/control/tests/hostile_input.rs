//! Whatever JSON stands where a policy or a request is read, it is read or refused; nothing panics.

use control::{
    FaultCode, card_number,
    payment::{AnswersGiven, HandOffReport, SellerOrder},
    policy::Policy,
    request::{Form, PaymentRequestCreate},
};
use lcp::{Object, Value, json};
use proptest::prelude::*;

/// Names that the readers know, so that a made-up value gets past their first checks.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "payee", "amount", "purpose", "checkout", "evidence", "intent", "trace", "value", "currency", "name", "domain", "merchant_id", "protocol", "reference",
    "text", "slots", "constraints", "intent_mapping", "category", "items", "max_total", "quantity", "unit_max", "deliver_by", "agents", "payees", "limits",
    "per_payment", "windows", "kind", "max", "seconds", "allow", "deny", "unknown", "window", "zone", "approval", "threshold", "approvers", "rails", "x402",
    "assets", "id", "symbol", "decimals", "deviation", "percent", "visibility_scope", "merchant", "issuer_only", "questions", "required", "type", "ref", "digest",
    "continue_url", "order", "status", "permalink_url", "total", "checkout_id", "completed_at", "answers", "question_id", "answer", "answered_by",
];

#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "USD", "JPY", "5", "5.00", "0", "*", "shop.example", "xn--", "xn--a.com", "https://shop.example/", "x402", "day", "rolling", "UTC", "Europe/Berlin", "category",
    "2026-11-30T09:00:00Z", "eip155:1/slip44:60", "4242 4242 4242 4242", "%34%", "\\u", "\\u00", "99999999999999999999.99",
];

fn any_json() -> impl Strategy<Value = Value> {
    let name = || prop_oneof![9 => prop::sample::select(NAMES).prop_map(str::to_owned), 1 => "\\PC{0,6}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![Just(2.0), Just(60.0), Just(f64::INFINITY), any::<f64>()].prop_map(Value::Number),
        prop::sample::select(TEXTS).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json::parse(r#""\ud800""#, 1).unwrap_or(Value::Null)),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => prop::collection::vec((name(), inner), 0..6)
                .prop_map(|members| members.into_iter().fold(Object::new(), |object, (name, value)| object.with(name, value)).into()),
        ]
    })
}

/// The smallest document with one member set in it.
fn with(base: &str, name: &str, value: &Value) -> Value {
    let base = json::parse(base, 8).unwrap_or(Value::Null);
    base.as_object().cloned().unwrap_or_default().with(name, value).into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn is_read_or_refused(value in any_json(), name in prop::sample::select(NAMES)) {
        let policy = r#"{"currency":"USD","agents":"*","payees":{},"limits":{"per_payment":"100.00"}}"#;
        let request = r#"{"payee":{"domain":"shop.example"},"amount":{"value":"48.00","currency":"USD"},"purpose":"printer paper"}"#;
        for document in [&value, &with(policy, name, &value)] {
            if let Ok(policy) = Policy::read(document) {
                prop_assert!(json::canonical(policy.document()).is_some());
            }
        }
        for document in [&value, &with(request, name, &value)] {
            for form in [Form::Rest, Form::Mcp] {
                if let Ok(request) = PaymentRequestCreate::read(document, form, &[]) {
                    prop_assert!(json::canonical(&request.to_json().into()).is_some());
                }
            }
        }
        let order = with(r#"{"id":"o-1"}"#, name, &value);
        for document in [&value, &order, &with("{}", "order", &order), &with(r#"{"continue_url":"https://shop.example/"}"#, "order", &order)] {
            let _ = (AnswersGiven::read(document), SellerOrder::read(document, &[]), HandOffReport::read(document, &[]));
        }
        let _ = card_number::find(&value, &["/amount/value"]);
    }
}

#[test]
fn a_megabyte_is_refused_at_once() {
    let long = "9".repeat(1 << 20);
    for (name, code) in [("purpose", FaultCode::TooLong), ("idempotency_key", FaultCode::TooLong)] {
        let request = r#"{"payee":{"domain":"shop.example"},"amount":{"value":"48.00","currency":"USD"},"purpose":"printer paper"}"#;
        let fault = PaymentRequestCreate::read(&with(request, name, &long.as_str().into()), Form::Mcp, &[]).map(|_| ()).map_err(|fault| fault.code);
        assert_eq!(fault, Err(code), "{name}");
    }
    let fault = Policy::read(&with("{}", &long, &Value::Null)).map(|_| ()).map_err(|fault| fault.pointer.as_str().len());
    assert_eq!(fault, Err(68));
}
