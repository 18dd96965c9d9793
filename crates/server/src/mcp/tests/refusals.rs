//! Arguments that are not of a tool's schema, tools that are none, and keys that may not.

use control::access::Role;
use proptest::{collection::vec, prelude::*};

use super::{
    FITTING,
    client::{Client, error_code},
    desk::Desk,
    text_at,
};
use crate::mcp::{arguments, schema};

const SMALLEST: &str = r#""payee":{"domain":"a.example"},"amount":{"value":"1","currency":"USD"},"purpose":"x""#;

#[tokio::test]
async fn a_refusal_names_the_place_and_the_rule() {
    let desk = Desk::usual();
    let mut client = Client::agent(desk.clone()).await;
    for (tool, arguments, path, rule, message) in [
        ("request_payment", "{}", "", "required", r#"The arguments must have the member "payee"."#),
        (
            "request_payment",
            r#"{"payee":null,"amount":{"value":"1","currency":"USD"},"purpose":"x"}"#,
            "/payee",
            "type",
            "Argument /payee must be of type object.",
        ),
        (
            "request_payment",
            &format!(r#"{{{SMALLEST},"colour":"secret"}}"#),
            "",
            "additionalProperties",
            "The arguments may only have the members payee, amount, purpose, checkout, evidence, intent, catalog_snapshot_hash, trace, complete_checkout, idempotency_key.",
        ),
        (
            "request_payment",
            &format!(r#"{{{SMALLEST},"checkout":{{"protocol":"secret","reference":"x"}}}}"#),
            "/checkout/protocol",
            "enum",
            r#"Argument /checkout/protocol must be one of ["ucp","acp","x402","mpp","card","bill"]."#,
        ),
        (
            "request_payment",
            &format!(r#"{{{SMALLEST},"evidence":[{{"type":"quote","ref":7,"digest":"x"}}]}}"#),
            "/evidence/0/ref",
            "type",
            "Argument /evidence/0/ref must be of type string.",
        ),
        (
            "request_payment",
            &format!(r#"{{{SMALLEST},"intent":{{"slots":{{"quantity":1.5}}}}}}"#),
            "/intent/slots/quantity",
            "type",
            "Argument /intent/slots/quantity must be of type integer.",
        ),
        (
            "request_payment",
            &format!(r#"{{{SMALLEST},"intent":{{"slots":{{"secret":1}}}}}}"#),
            "/intent/slots",
            "additionalProperties",
            "Argument /intent/slots may only have the members category, items, quantity, max_total, currency, payee, deliver_by, substitutions_allowed, recurrence, notes.",
        ),
        ("get_decision", r#"{"request_id":"pr_1","wait":"secret"}"#, "/wait", "type", "Argument /wait must be of type integer."),
        ("get_decision", r#"{"request_id":"pr_1","wait":26}"#, "/wait", "maximum", "Argument /wait is 0 to 25 whole seconds."),
        ("get_decision", r#"{"request_id":"pr_1","wait":-1}"#, "/wait", "maximum", "Argument /wait is 0 to 25 whole seconds."),
        ("list_mandates", r#"{"state":"secret"}"#, "/state", "enum", r#"Argument /state must be one of ["issued","consumed","expired","void"]."#),
        ("list_mandates", r#"{"limit":true}"#, "/limit", "type", "Argument /limit must be of type integer."),
        ("verify_record", "{}", "", "oneOf", "The arguments are either record_id or bundle."),
        ("verify_record", r#"{"record_id":"rec_1","bundle":{}}"#, "", "oneOf", "The arguments are either record_id or bundle."),
        ("verify_record", r#"{"bundle":"secret"}"#, "/bundle", "type", "Argument /bundle must be of type object."),
        (
            "answer_clarification",
            r#"{"request_id":"pr_1","answers":[{"question_id":"q_1"}]}"#,
            "/answers/0",
            "required",
            r#"Argument /answers/0 must have the member "answer"."#,
        ),
    ] {
        let error = client.refused(tool, arguments).await;
        assert_eq!(text_at(&error, "code"), "invalid_arguments", "{arguments}");
        assert_eq!(
            (text_at(&error, "details.path"), text_at(&error, "details.rule"), text_at(&error, "message")),
            (path, rule, message),
            "{arguments}"
        );
    }
    let deep = format!(r#"{{"bundle":{{"a":{}{}}}}}"#, "[".repeat(80), "]".repeat(80));
    assert_eq!(text_at(&client.refused("verify_record", &deep).await, "details.rule"), "maxDepth");
    assert_eq!(desk.asked(), []);
}

#[tokio::test]
async fn whole_numbers_are_integers_however_they_are_written() {
    let desk = Desk::usual();
    let mut client = Client::agent(desk.clone()).await;
    client.call("get_decision", r#"{"request_id":"pr_1","wait":5.0}"#).await;
    client.call("list_mandates", r#"{"limit":2e1}"#).await;
    let asked: Vec<_> = desk.asked().into_iter().map(|(_, _, asked)| asked).collect();
    assert_eq!(asked, [r#"{"id":"pr_1","rest":5}"#, r#"{"limit":"20"}"#]);
}

#[tokio::test]
async fn unknown_tools_and_malformed_calls_are_errors_of_the_protocol() {
    let mut client = Client::agent(Desk::usual()).await;
    for params in [
        r#"{"name":"request_reversal","arguments":{}}"#,
        r#"{"name":"","arguments":{}}"#,
        r#"{"name":7,"arguments":{}}"#,
        r#"{"arguments":{}}"#,
        "{}",
        r#"{"name":"get_decision","arguments":[]}"#,
        r#"{"name":"get_decision","arguments":"{}"}"#,
    ] {
        assert_eq!(error_code(&client.request("tools/call", params).await), -32602, "{params}");
    }
    assert_eq!(error_code(&client.request("tools/list", r#"{"cursor":"more"}"#).await), -32602);
    assert_eq!(error_code(&client.request("tools/call", "[]").await), -32602);
    assert_eq!(error_code(&client.request("resources/list", "{}").await), -32601);
}

#[tokio::test]
async fn agents_write_and_all_but_sellers_read() {
    for (role, may_read, may_write) in
        [(Role::Agent, true, true), (Role::Developer, true, false), (Role::Auditor, true, false), (Role::Seller, false, false)]
    {
        let desk = Desk::usual();
        let mut client = Client::connected(desk.clone(), role).await;
        for (tool, arguments) in FITTING {
            let writes = ["request_payment", "hand_off_checkout", "answer_clarification"].contains(&tool);
            if if writes { may_write } else { may_read } {
                client.call(tool, arguments).await;
            } else {
                assert_eq!(text_at(&client.refused(tool, arguments).await, "code"), "forbidden", "{role} {tool}");
            }
        }
        let expected = if may_write {
            8
        } else if may_read {
            5
        } else {
            0
        };
        assert_eq!(desk.asked().len(), expected, "{role}");
    }
}

const NAMES: &[&str] = &["payee", "amount", "purpose", "intent", "slots", "items", "request_id", "answers", "order", "bundle", "wait", "SECRETNAME"];

fn value() -> impl Strategy<Value = serde_json::Value> {
    let scalar = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        (-9i64..9).prop_map(Into::into),
        "SECRET[a-z]{0,4}".prop_map(Into::into),
    ];
    scalar.prop_recursive(5, 32, 5, |inner| {
        let members = vec((prop::sample::select(NAMES), inner.clone()), 0..6);
        prop_oneof![
            vec(inner, 0..4).prop_map(serde_json::Value::from),
            members.prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_arguments_are_taken_or_refused_without_an_echo(tool in 0..schema::OFFERED.len(), arguments in value()) {
        let offered = &schema::OFFERED[tool];
        match arguments::check(offered, arguments.clone()) {
            Ok(taken) => {
                let taken: serde_json::Value = serde_json::from_str(&lcp::json::write(&taken)).unwrap();
                prop_assert!(offered.validator.is_valid(&taken));
            }
            Err(problem) => {
                prop_assert!(!offered.validator.is_valid(&arguments));
                let said = lcp::json::write(&problem.to_json().into());
                prop_assert!(!said.contains("SECRET"), "{}", said);
            }
        }
    }
}
