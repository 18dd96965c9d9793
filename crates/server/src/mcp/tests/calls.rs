//! What the tools ask of the service, and what they answer.

use lcp::{Value, json};

use super::{FITTING, at, client::Client, desk::Desk, read, text_at};
use crate::mcp::schema;

/// The arguments of the one operation that a call came to.
async fn asked(tool: &str, arguments: &str) -> (&'static str, String) {
    let desk = Desk::usual();
    Client::agent(desk.clone()).await.call(tool, arguments).await;
    let [(operation, key, asked)] = &desk.asked()[..] else { panic!("{tool}: {:?}", desk.asked()) };
    assert!(key.starts_with("key_"));
    (operation, asked.clone())
}

#[tokio::test]
async fn each_tool_asks_one_operation() {
    for (tool, arguments) in FITTING {
        let (operation, asked) = asked(tool, arguments).await;
        let (expected_operation, expected) = match tool {
            "request_payment" => ("request_payment", json::write(&read(arguments))),
            "get_decision" => ("payment_request", r#"{"id":"pr_1","rest":25}"#.to_owned()),
            "hand_off_checkout" => (
                "hand_off",
                r#"{"id":"pr_1","rest":{"continue_url":"https://reamandrule.com/c/1","order":{"id":"R-1","status":"confirmed","permalink_url":"https://reamandrule.com/o/1","total":{"value":"48.00","currency":"USD"}}}}"#.to_owned(),
            ),
            "list_mandates" => ("mandates", r#"{"cursor":"c1","limit":"20","state":"issued"}"#.to_owned()),
            "get_record" => ("record_page", r#""rec_1""#.to_owned()),
            "verify_record" if arguments.contains("bundle") => ("verify_bundle", r#"{"record":"{}","keys":[{"kid":"k1"}]}"#.to_owned()),
            "verify_record" => ("verify_record", r#""rec_1""#.to_owned()),
            _ => ("answer_clarification", r#"{"id":"pr_1","rest":{"answers":[{"question_id":"q_1","answer":"two boxes"}],"answered_by":"user"}}"#.to_owned()),
        };
        assert_eq!((operation, asked), (expected_operation, expected), "{tool}");
    }
}

#[tokio::test]
async fn optional_arguments_may_be_left_out_or_null() {
    for (tool, absent, null) in [
        (
            "request_payment",
            r#"{"payee":{"domain":"a.example"},"amount":{"value":"1","currency":"USD"},"purpose":"x","intent":{"slots":{"items":[{"description":"y"}]}}}"#,
            r#"{"payee":{"domain":"a.example","name":null,"merchant_id":null},"amount":{"value":"1","currency":"USD"},"purpose":"x","checkout":null,
                "evidence":null,"intent":{"text":null,"slots":{"items":[{"description":"y","quantity":null}],"notes":null},"constraints":null},
                "catalog_snapshot_hash":null,"trace":null,"complete_checkout":null,"idempotency_key":null}"#,
        ),
        ("get_decision", r#"{"request_id":"pr_1"}"#, r#"{"request_id":"pr_1","wait":null}"#),
        (
            "hand_off_checkout",
            r#"{"request_id":"pr_1","continue_url":"https://a.example/"}"#,
            r#"{"request_id":"pr_1","continue_url":"https://a.example/","order":null}"#,
        ),
        ("list_mandates", "{}", r#"{"state":null,"cursor":null,"limit":null}"#),
        ("verify_record", r#"{"record_id":"rec_1"}"#, r#"{"record_id":"rec_1","bundle":null}"#),
    ] {
        assert_eq!(asked(tool, absent).await, asked(tool, null).await, "{tool}");
    }
    assert_eq!(asked("list_mandates", "null").await.1, "{}");
}

#[tokio::test]
async fn null_where_it_means_something_is_kept() {
    let constraints =
        r#"{"payee":{"domain":"a.example"},"amount":{"value":"1","currency":"USD"},"purpose":"x","intent":{"constraints":{"colour":null}}}"#;
    assert!(asked("request_payment", constraints).await.1.contains(r#""colour":null"#));
    assert_eq!(asked("verify_record", r#"{"bundle":{"chain":null}}"#).await.1, r#"{"chain":null}"#);
}

#[tokio::test]
async fn a_payment_is_shown_in_the_members_of_its_schema() {
    let shown = Client::agent(Desk::usual()).await.call("request_payment", FITTING[0].1).await;
    let expected = r#"{"request_id":"pr_1","state":"decided","decision":{"result":"allow","reasons":[],"checks":[{"name":"agent_active","ok":true,"detail":""}],
        "retryable":false},"risk":{"action":"authorized","score":10},"mandate":{"id":"mnd_1","state":"issued","amount":"48.00","currency":"USD","expires_at":"2026-11-30T13:00:00.000Z","jws":"e30.e30.c2ln",
            "credential":{"type":"token","handler_id":"chancery_sandbox_card","token":"tok_sandbox_1","display":{"brand":"sandbox"}}},
        "order":null,"completion":{"state":"not_requested"},"handoff":null,"reversals":[],"record_id":"rec_1",
        "summary":"Allowed: pay 48.00 USD to reamandrule.com."}"#;
    assert_eq!(json::write(&shown), json::write(&read(expected)));
}

/// Views of requests that ended in other ways, and what a tool shows of each.
const OTHERS: [(&str, &str, &str); 4] = [
    (
        "clarify",
        r#"{"id":"pr_1","state":"awaiting_clarification","decision":{"result":"clarify","reasons":["slot_missing"],
            "questions":[{"id":"q_1","slot":"quantity","question":"How many?"}]},"mandate":null,"record_id":"rec_1","summary":"One question."}"#,
        r#""decision":{"result":"clarify","reasons":["slot_missing"],"questions":[{"id":"q_1","slot":"quantity","question":"How many?"}]},"mandate":null"#,
    ),
    (
        "step_up",
        r#"{"id":"pr_1","state":"awaiting_approval","decision":{"result":"step_up","reasons":["approval_required"]},
            "approval":{"id":"apv_1","url":"https://pay.example/approve/apv_1","expires_at":"2026-11-30T13:00:00.000Z","state":"pending"},
            "mandate":null,"record_id":"rec_1","summary":"A person decides."}"#,
        r#""approval":{"id":"apv_1","url":"https://pay.example/approve/apv_1","expires_at":"2026-11-30T13:00:00.000Z"}"#,
    ),
    (
        "observe",
        r#"{"id":"pr_1","state":"decided","duplicate_of":"pr_0","decision":{"result":"observe","reasons":[],"shadow_result":{"result":"deny","reasons":["over_budget"],"x":1}},
            "mandate":{"id":"mnd_1","credential":null},"record_id":"rec_1","summary":"Observed."}"#,
        r#""duplicate_of":"pr_0","decision":{"result":"observe","reasons":[],"shadow_result":{"result":"deny","reasons":["over_budget"]}},"mandate":{"id":"mnd_1"}"#,
    ),
    (
        "handed off",
        r#"{"id":"pr_1","state":"handed_off","decision":{"result":"allow","reasons":[]},"mandate":null,
            "handoff":{"continue_url":"https://a.example/","handed_off_at":"2026-11-30T12:00:00.000Z","rail":"x402","reason":"rail_unavailable","message":"No rail.",
                "next_step":"Ask again.","order":null,"seals_at":"x"},"outcome":{"status":"handed_off"},"record_id":"rec_1","summary":"Handed off."}"#,
        r#""handoff":{"continue_url":"https://a.example/","handed_off_at":"2026-11-30T12:00:00.000Z","rail":"x402","reason":"rail_unavailable","message":"No rail.","next_step":"Ask again.","order":null}"#,
    ),
];

#[tokio::test]
async fn every_result_is_of_its_schema() {
    let fits = |tool: &str, text: &str| {
        let schema = (schema::offered(tool).unwrap().tool.output)();
        let result = serde_json::from_str(text).unwrap();
        let errors: Vec<String> = jsonschema::draft202012::new(&schema).unwrap().iter_errors(&result).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{tool}: {text}");
    };
    for (tool, arguments) in FITTING {
        let (text, is_error) = Client::agent(Desk::usual()).await.call_for_text(tool, arguments).await;
        assert!(!is_error);
        fits(tool, &text);
        let (text, is_error) = Client::agent(Desk::answering(Err(crate::Problem::not_found()))).await.call_for_text(tool, arguments).await;
        assert!(is_error);
        fits(tool, &text);
    }
    for (name, view, shown) in OTHERS {
        for (tool, arguments) in
            FITTING.into_iter().filter(|(tool, _)| ["request_payment", "get_decision", "hand_off_checkout", "answer_clarification"].contains(tool))
        {
            let (text, _) = Client::agent(Desk::answering(Ok(view))).await.call_for_text(tool, arguments).await;
            fits(tool, &text);
            assert!(text.contains(shown), "{name}: {text}");
            assert_eq!(text.contains(r#""outcome""#), tool == "hand_off_checkout");
        }
    }
}

#[tokio::test]
async fn a_list_of_mandates_lets_none_be_spent() {
    let mut client = Client::agent(Desk::usual()).await;
    let listed = client.call("list_mandates", "{}").await;
    assert_eq!((text_at(&listed, "mandates.0.id"), text_at(&listed, "summary")), ("mnd_1", "1 mandate."));
    assert_eq!(at(&listed, "next_cursor"), Some(&Value::Null));
    let text = json::write(&listed);
    assert!(!text.contains("tok_") && !text.contains("e30"), "{text}");

    let page = r#"{"data":[{"id":"a"},{"id":"b"}],"next_cursor":"c2"}"#;
    let listed = Client::agent(Desk::answering(Ok(page))).await.call("list_mandates", "{}").await;
    assert_eq!((text_at(&listed, "next_cursor"), text_at(&listed, "summary")), ("c2", "2 mandates on this page; there are more."));
    let none = Client::agent(Desk::answering(Ok(r#"{"data":[],"next_cursor":null}"#))).await.call("list_mandates", "{}").await;
    assert_eq!(text_at(&none, "summary"), "No mandates.");
}

#[tokio::test]
async fn problems_are_answered_as_they_are() {
    let problem =
        crate::Problem::new(409, "mandate_in_use", "The mandate was used already.").with_details(lcp::Object::new().with("state", "consumed"));
    let error = Client::agent(Desk::answering(Err(problem))).await.refused("hand_off_checkout", FITTING[2].1).await;
    assert_eq!(json::write(&error), r#"{"code":"mandate_in_use","message":"The mandate was used already.","details":{"state":"consumed"}}"#);
}
