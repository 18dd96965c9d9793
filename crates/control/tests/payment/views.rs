//! Views: the client's shapes, and no secret where none belongs.

use control::payment::Payment;
use lcp::{Value, json};

use super::world::{LINKS, World, at, person, text};

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().iter().map(|(name, _)| name.as_str().unwrap()).collect()
}

#[test]
fn the_members_of_a_view() {
    let mut world = World::new("{}");
    let place = world.ask("{}");
    let view = world.view(place);
    for name in [
        "id",
        "state",
        "decision",
        "risk",
        "approval",
        "mandate",
        "order",
        "completion",
        "outcome",
        "handoff",
        "reversals",
        "settlement",
        "reconciliation",
        "disputes",
        "fulfillment",
        "intent",
        "identity",
        "payee_identity",
        "record_id",
        "agent_id",
        "amount",
        "payee",
        "purpose",
        "created_at",
        "summary",
    ] {
        assert!(view.has(name), "{name}");
    }
    assert_eq!(text(&view, "identity"), r#"{"assurance":"A1","anchors":[]}"#);
    assert_eq!(text(&view, "completion"), r#"{"state":"not_requested"}"#);
    assert_eq!(text(&view, "summary"), "Allowed: 40.00 USD to shop.example; the mandate is good once, until 2026-11-30T13:00:00.000Z.");
    assert_eq!(
        names(at(&view, "mandate")),
        [
            "id",
            "amount",
            "currency",
            "expires_at",
            "jws",
            "credential",
            "state",
            "payee",
            "binds",
            "agent_id",
            "request_id",
            "issued_at",
            "consumed_at",
            "mode",
            "refill_policy",
            "finality_class",
            "deviation",
            "policy",
            "principal_login_id",
            "ledger",
            "retry_policy",
            "visibility_scope",
            "hidden_constraints_digest"
        ]
    );
    assert_eq!(text(&view, "mandate/credential/token"), format!("tok_secret_{}", text(&view, "mandate/id")));
}

#[test]
fn the_token_is_shown_to_the_agent_until_the_mandate_is_over() {
    let mut world = World::new("{}");
    let place = world.ask("{}");
    let jws = world.payments[place].mandate().unwrap().jws().unwrap().to_owned();
    let without = json::write(&world.payments[place].view(LINKS, false).into());
    let debug = format!("{:?}", world.payments[place]);
    let record = json::write(&world.payments[place].record_members().into());
    let stored = json::write(&world.payments[place].to_stored().into());
    let salt = text(&world.payments[place].secrets().unwrap(), "salt");
    for shown in [&without, &debug, &record, &stored] {
        assert!(!shown.contains("tok_secret") && !shown.contains(&jws) && !shown.contains(&salt));
    }
    assert!(without.contains("test_card_handler"));
    world.consume(place, r#"{"id":"o-1"}"#).unwrap();
    let after = json::write(&world.view(place).into());
    assert!(!after.contains("tok_secret") && after.contains(&jws));
    assert!(!json::write(&world.payments[place].secrets().unwrap().into()).contains("tok_secret"));
}

#[test]
fn an_approval_has_a_page() {
    let mut world = World::new(r#"{"approval":{"threshold":"10.00"}}"#);
    let place = world.ask(r#"{"complete_checkout":true}"#);
    let view = world.view(place);
    assert_eq!(text(&view, "approval/url"), format!("https://chancery.example/approve/{}", text(&view, "approval/id")));
    assert_eq!((text(&view, "approval/state"), text(&view, "completion/state")), ("pending".into(), "pending".into()));
    let digest = world.digest(place);
    world.approve(place, &person(1), &digest).unwrap();
    let view = world.view(place);
    assert_eq!(text(&view, "completion"), r#"{"state":"failed","error":"complete_checkout_unavailable"}"#);
    assert_eq!(text(&view, "mandate/state"), "issued");
}

#[test]
fn a_hand_off_and_a_policy_that_only_watches() {
    let mut world = World::new("{}");
    let place = world.ask("{}");
    world.hand_off(place, r#"{"continue_url":"https://shop.example/pay"}"#).unwrap();
    let view = world.view(place);
    assert_eq!(names(at(&view, "handoff")), ["continue_url", "handed_off_at", "order"]);
    assert_eq!(names(at(&view, "outcome")), ["status", "continue_url", "handed_off_at", "order"]);

    let mut world = World::new(r#"{"shadow":true,"approval":{"threshold":"10.00"}}"#);
    let place = world.ask("{}");
    let view = world.view(place);
    assert_eq!(text(&view, "decision/shadow_result"), r#"{"result":"step_up","reasons":["approval_required"]}"#);
    assert!(text(&view, "summary").starts_with("Allowed by a policy that only watches: 40.00 USD to shop.example"));
}

#[test]
fn summaries_say_what_to_do() {
    let summary = |world: &World, place: usize| text(&world.view(place), "summary");
    let mut world = World::new(r#"{"limits":{"per_payment":"100.00","windows":[{"kind":"day","max":"50.00"}]}}"#);
    world.ask("{}");
    let place = world.ask(r#"{"purpose":"toner"}"#);
    assert_eq!(
        summary(&world, place),
        "Denied: 40.00 USD to shop.example (over_budget); the same payment may be asked for again from 2026-12-01T00:00:00.000Z."
    );
    let mut world = World::new(r#"{"intent":{"required":["category"]}}"#);
    let place = world.ask("{}");
    assert_eq!(summary(&world, place), "Not decided yet: ask the person one question about 40.00 USD to shop.example.");
    world.wait(86_400);
    assert_eq!(summary(&world, place), "Nobody answered in time for 40.00 USD to shop.example; nothing was paid by it.");
}

#[test]
fn what_is_no_stored_payment_is_none() {
    let mut world = World::new("{}");
    let place = world.ask("{}");
    let stored = world.payments[place].to_stored();
    assert!(Payment::from_stored(&stored.clone().into()).is_some());
    for (name, _) in stored.iter() {
        let name = name.as_str().unwrap();
        let mended = stored.clone().with(name, Value::Bool(true)).into();
        assert_eq!(Payment::from_stored(&mended), None, "{name}");
    }
    assert_eq!(Payment::from_stored(&stored.with("version", 2u32).into()), None);
    assert_eq!(Payment::from_stored(&Value::Null), None);
}

#[test]
fn a_request_is_stored_however_deep_it_nests() {
    let mut world = World::new("{}");
    // As deep as a body may be: 60 arrays in a constraint that no slot is for.
    let deep = format!(r#"{{"intent":{{"constraints":{{"a":{}{}}}}}}}"#, "[".repeat(60), "]".repeat(60));
    let place = world.ask(&deep);
    let text = json::write(&world.payments[place].to_stored().into());
    let read = Payment::from_stored(&json::parse(&text, 8).unwrap()).unwrap();
    assert_eq!(read.source(), world.payments[place].source());
}

#[test]
fn a_payment_in_an_asset_is_read_back_with_it() {
    let usdc = "eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e";
    let asset = format!(r#"{{"id":"{usdc}","symbol":"USDC","decimals":6}}"#);
    let mut world = World::new(&format!(
        r#"{{"shadow":true,"currency":"{usdc}","rails":{{"card":{{}},"x402":{{"assets":[{asset}]}}}},
            "limits":{{"per_payment":"10","windows":[{{"kind":"day","max":"1.5"}}]}}}}"#
    ));
    let place = world.ask(&format!(r#"{{"amount":{{"value":"2.000001","currency":"{usdc}"}},"intent":{{"slots":{{"max_total":"3"}}}}}}"#));
    let payment = &world.payments[place];
    assert_eq!(payment.decision().unwrap().overruns[0].by.to_string(), "0.500001 USDC");
    let mut read = Payment::from_stored(&payment.to_stored().into()).unwrap();
    read.restore_secrets(&payment.secrets().unwrap().into()).unwrap();
    assert_eq!(&read, payment);
    assert_eq!(text(&world.view(place), "mandate/ledger/reserved"), "2.000001");
}
