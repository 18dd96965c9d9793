//! The reader, the schema and the documentation of policy documents say the same.
#![allow(clippy::unwrap_used)] // a test fails by panicking, in its helpers too

use std::sync::LazyLock;

use control::{FaultCode, policy::Policy};
use jsonschema::Validator;
use lcp::{Object, Value, json};
use proptest::prelude::*;

const DOCS: &str = include_str!("../../../docs/policy.md");
const SCHEMA: &str = include_str!("../../../docs/policy.schema.json");

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
});

/// The JSON examples of the page, each put beside the members that every policy must have.
static EXAMPLES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let blocks = DOCS.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut examples = blocks.map(|source| json::parse(source, 16).unwrap_or_else(|error| panic!("{error}: {source}")));
    let smallest = examples.next().unwrap();
    let whole = |example: Value| {
        let mut document = smallest.as_object().unwrap().clone();
        example.as_object().unwrap().iter().for_each(|(name, value)| document.set(name.clone(), value));
        Value::from(document)
    };
    std::iter::once(smallest.clone()).chain(examples.map(whole)).collect()
});

fn is_valid(document: &Value) -> bool {
    VALIDATOR.is_valid(&serde_json::from_str(&json::write(document)).unwrap())
}

#[test]
fn every_block_has_an_example_that_both_take() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    for member in schema["properties"].as_object().unwrap().keys() {
        assert!(EXAMPLES.iter().any(|example| example.get(member).is_some()), "{member} has no example");
    }
    for example in EXAMPLES.iter() {
        let source = json::write(example);
        assert!(is_valid(example), "{source}");
        let policy = Policy::read(example).unwrap_or_else(|fault| panic!("{fault}: {source}"));
        assert_eq!(Policy::parse(&source).unwrap().hash(), policy.hash());
    }
}

#[test]
fn the_smallest_policy_is_strict() {
    let policy = Policy::read(&EXAMPLES[0]).unwrap();
    assert_eq!(
        policy.hash().to_string(),
        lcp::Hash::of(br#"{"agents":"*","currency":"USD","limits":{"per_payment":"100.00"},"payees":{}}"#).to_string()
    );
    assert!(!policy.shadow && !policy.require_consent && policy.limits.windows.is_empty());
    assert_eq!((policy.duplicate_window_seconds, policy.approval.expires_in_seconds), (600, 3600));
    for member in ["currency", "agents", "payees", "limits"] {
        let document = Value::from(EXAMPLES[0].as_object().unwrap().without(member));
        let fault = Policy::read(&document).unwrap_err();
        assert_eq!((fault.pointer.as_str(), fault.code), (format!("/{member}").as_str(), FaultCode::MissingMember));
        assert!(!is_valid(&document));
    }
}

/// What only the reader judges: names that must exist, amounts by their currency, and what two members say together.
const BEYOND_THE_SCHEMA: &[FaultCode] = &[
    FaultCode::AmountPrecision,
    FaultCode::AmountTooLarge,
    FaultCode::UnknownCurrency,
    FaultCode::UnknownZone,
    FaultCode::DomainMalformed,
    FaultCode::DomainPublicSuffix,
    FaultCode::DomainConfusable,
    FaultCode::Malformed,
    FaultCode::Repeated,
];

fn check_agreement(document: &Value) -> Result<(), TestCaseError> {
    let source = json::write(document);
    match Policy::read(document) {
        Ok(_) => prop_assert!(is_valid(document), "only the reader takes {source}"),
        Err(fault) if BEYOND_THE_SCHEMA.contains(&fault.code) => {}
        Err(fault) => prop_assert!(!is_valid(document), "only the schema takes {source}: {fault}"),
    }
    Ok(())
}

/// A value to put where another stood.
fn other() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        " ",
        "a",
        "a\u{202E}",
        "a\nb",
        "5",
        "5.00",
        "5.005",
        "-5",
        "05",
        "1e3",
        "1000000000000000000",
        "0",
        "100.01",
        "USD",
        "usd",
        "XXX",
        "JPY",
        "UTC",
        "Mars/Olympus",
        "*",
        "shop.example",
        "co.uk",
        "localhost",
        "pаypal.com",
        "allow",
        "step_up",
        "deny",
        "day",
        "rolling",
        "A2",
        "x402",
        "max_total",
        "budget",
        "2026-02-30T00:00:00Z",
        "2026-11-30T09:00:00Z",
        "agt_01jdqz4d4n9v8h2k6m3p5r7t9w",
        "agt_81jdqz4d4n9v8h2k6m3p5r7t9w",
        "agt_01jdqz4d4n9v8h2k6m3p5r7t9u",
        "eip155:1/slip44:60",
    ];
    let numbers = [-1.0, 0.0, 1.0, 1.5, 5.0, 59.0, 60.0, 61.0, 100.0, 101.0, 86_400.0, 2_678_400.0, 2_678_401.0, 4_294_967_296.0, 1e300];
    let length = prop_oneof![Just(199usize), Just(200), Just(201), Just(500), Just(501), Just(2000), Just(2001)];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop::sample::select(numbers.to_vec()).prop_map(Value::Number),
        prop::sample::select(texts.to_vec()).prop_map(Value::from),
        length.prop_map(|length| Value::from("é".repeat(length))),
        Just(Value::from(Vec::new())),
        Just(Value::from(Object::new())),
    ]
}

#[derive(Clone, Debug)]
enum Change {
    Replace(Value),
    Remove,
    Add(&'static str, Value),
    Repeat(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let names = ["colour", "seconds", "kind", "allow", "threshold", "zone", "peg", "domain", "questions", "shadow"];
    prop_oneof![
        4 => other().prop_map(Change::Replace),
        2 => Just(Change::Remove),
        2 => (prop::sample::select(names.to_vec()), other()).prop_map(|(name, value)| Change::Add(name, value)),
        1 => prop_oneof![Just(2usize), Just(17), Just(101), Just(1001)].prop_map(Change::Repeat),
    ]
}

/// Applies a change at the place that the steps lead to.
fn changed(value: &Value, steps: &[prop::sample::Index], change: &Change) -> Option<Value> {
    if let Some((step, rest)) = steps.split_first() {
        if let Some(object) = value.as_object().filter(|object| !object.is_empty()) {
            let (name, member) = object.iter().nth(step.index(object.len())).unwrap();
            return Some(match changed(member, rest, change) {
                Some(new) => object.clone().with(name.clone(), new).into(),
                None => object.without(name.as_str().unwrap()).into(),
            });
        }
        if let Some(items) = value.as_array().filter(|items| !items.is_empty()) {
            let place = step.index(items.len());
            let new = changed(&items[place], rest, change);
            return Some(
                items
                    .iter()
                    .enumerate()
                    .filter_map(|(index, item)| if index == place { new.clone() } else { Some(item.clone()) })
                    .collect::<Vec<_>>()
                    .into(),
            );
        }
    }
    match (change, value) {
        (Change::Replace(new), _) => Some(new.clone()),
        (Change::Add(name, new), Value::Object(object)) => Some(Object::clone(object).with(*name, new).into()),
        (Change::Repeat(times), Value::Array(items)) if !items.is_empty() => {
            Some(items.iter().cycle().take(*times).cloned().collect::<Vec<_>>().into())
        }
        (Change::Remove, _) => None,
        _ => Some(value.clone()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn reader_and_schema_agree(
        example in any::<prop::sample::Index>(),
        changes in prop::collection::vec((prop::collection::vec(any::<prop::sample::Index>(), 1..6), change()), 1..3),
    ) {
        let mut document = EXAMPLES[example.index(EXAMPLES.len())].clone();
        for (steps, change) in &changes {
            document = changed(&document, steps, change).unwrap_or(Value::Null);
        }
        check_agreement(&document)?;
    }
}

#[test]
fn faults_point_at_the_member() {
    let read = |source: &str| {
        let mut document = EXAMPLES[0].as_object().unwrap().clone();
        json::parse(source, 16).unwrap().as_object().unwrap().iter().for_each(|(name, value)| document.set(name.clone(), value));
        let fault = Policy::read(&document.into()).unwrap_err();
        format!("{} {}", fault.pointer, fault.code)
    };
    for (source, fault) in [
        (r#"{"colour":"red"}"#, "/colour unknown_member"),
        (r#"{"limits":{"per_payment":100}}"#, "/limits/per_payment wrong_type"),
        (r#"{"limits":{"per_payment":"100.001"}}"#, "/limits/per_payment amount_precision"),
        (
            r#"{"limits":{"per_payment":"1","windows":[{"kind":"day","max":"1"},{"kind":"day","max":"-1"}]}}"#,
            "/limits/windows/1/max amount_malformed",
        ),
        (r#"{"limits":{"per_payment":"1","windows":[{"kind":"rolling","max":"1"}]}}"#, "/limits/windows/0/seconds missing_member"),
        (r#"{"limits":{"per_payment":"1","windows":[{"kind":"day","seconds":5,"max":"1"}]}}"#, "/limits/windows/0/seconds unknown_member"),
        (r#"{"limits":{"per_payment":"1","windows":[{"kind":"day","max":"1.5","currency":"JPY"}]}}"#, "/limits/windows/0/max amount_precision"),
        (r#"{"currency":"BTC"}"#, "/currency unknown_currency"),
        (r#"{"window":{"zone":"europe/berlin"}}"#, "/window/zone unknown_zone"),
        (r#"{"payees":{"allow":[{"domain":"https://shop.example"}]}}"#, "/payees/allow/0/domain domain_malformed"),
        (r#"{"payees":{"deny":[{"domain":"co.uk"}]}}"#, "/payees/deny/0/domain domain_public_suffix"),
        (r#"{"payees":{"deny":[{"domain":"a.example","name":"A"}]}}"#, "/payees/deny/0 too_long"),
        (r#"{"visibility_scope":{"merchant":["mode"],"issuer_only":["mode"]}}"#, "/visibility_scope repeated"),
        (r#"{"intent":{"questions":{"colour":"Which?"}}}"#, "/intent/questions/colour unknown_member"),
        (r#"{"intent":{"required":["category","category"]}}"#, "/intent/required/1 repeated"),
        (r#"{"deviation":{}}"#, "/deviation too_short"),
        (r#"{"approval":{"approvers":[]}}"#, "/approval/approvers too_short"),
        (r#"{"rails":{"card":{"assets":[]}}}"#, "/rails/card/assets unknown_member"),
        (r#"{"rails":{"x402":{"assets":[{"id":"eip155:1/slip44:60","symbol":"ETH","decimals":19}]}}}"#, "/rails/x402/assets/0/decimals out_of_range"),
        (r#"{"retry_policy":{"max_attempts":3,"window_seconds":60}}"#, "/retry_policy/same_amount_only missing_member"),
        (r#"{"id":"pol_1"}"#, "/id malformed"),
    ] {
        assert_eq!(read(source), fault, "{source}");
    }
    assert_eq!(Policy::parse("{").unwrap_err().code, FaultCode::NotJson);
    assert_eq!(Policy::parse(&"[".repeat(1 << 20)).unwrap_err().code, FaultCode::NotJson);
}

#[test]
fn a_policy_may_be_in_an_asset_that_it_names() {
    let source = r#"{"currency":"eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e","agents":"*","payees":{},"limits":{"per_payment":"1.000001"},
        "rails":{"x402":{"assets":[{"id":"eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e","symbol":"USDC","decimals":6,"peg":"USD"}]}}}"#;
    let policy = Policy::parse(source).unwrap();
    assert_eq!(policy.limits.per_payment.to_string(), "1.000001 USDC");
    assert!(is_valid(policy.document()));
}

#[test]
fn a_member_that_is_there_twice_is_a_fault() {
    let source = r#"{"currency":"USD","agents":"*","payees":{},"limits":{"per_payment":"5.00"},"limits":{"per_payment":"5000.00"}}"#;
    let fault = Policy::parse(source).unwrap_err();
    assert!(fault.to_string().contains("a member that is there already"), "{fault}");
}
