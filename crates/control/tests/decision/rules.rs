//! Each rule by itself.

use control::{
    FaultCode, Instant, Pointer,
    card_number::Hit,
    decision::{ConsentFacts, DecisionResult, KeyState, NoPolicy, Outcome, PayeeStatus, Reason, Retry, RiskAction, Signal},
    intent::Slot,
    policy::{Anchor, Assurance},
};
use lcp::{Value, json};

use crate::case::{Case, NOW, agent, request, told, usd};

const DOCS: &str = include_str!("../../../../docs/decision.md");

/// What a policy with these members says of a request with those.
fn says(policy: &str, request: &str) -> String {
    told(&Case::new(policy, request).decide())
}

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

#[test]
fn nothing_against_it() {
    let decision = Case::new("{}", "{}").decide();
    assert_eq!(told(&decision), "allow");
    assert!(decision.checks.iter().all(|check| check.ok && !check.detail.is_empty()));
    assert_eq!((decision.risk.action, decision.risk.score), (RiskAction::Authorized, 0));
    assert_eq!((decision.retry, decision.shadow_result, decision.questions.len()), (None, None, 0));
}

#[test]
fn the_page_names_every_check_reason_and_signal() {
    let rows: Vec<Vec<&str>> =
        DOCS.lines().filter(|line| line.starts_with("| `")).map(|line| line.trim_matches(['|', ' ']).split(" | ").collect()).collect();
    for reason in Reason::ALL {
        let row = ["`", reason.as_str(), "`"].concat();
        let family = ["`", reason.family().as_str(), "`"].concat();
        assert!(rows.iter().any(|cells| cells[0] == row && cells[1] == family), "{reason}");
    }
    for signal in Signal::ALL {
        let row = [format!("`{signal}`"), signal.points().to_string()];
        assert!(rows.iter().any(|cells| *cells == row), "{signal}");
    }
    let checks = rows.iter().filter_map(|cells| cells[0].split(['`', '<']).nth(1)).skip_while(|name| *name != "card_number");
    let case = Case::new(r#"{"limits":{"per_payment":"100","windows":[{"kind":"day","max":"100"}]}}"#, "{}");
    let decided = case.decide();
    for (listed, check) in checks.zip(&decided.checks) {
        assert!(check.name.starts_with(listed), "{listed} {}", check.name);
    }
    assert_eq!(decided.checks.len(), 26);
}

#[test]
fn standing() {
    let mut case = Case::new("{}", "{}");
    case.card_number = Some(Hit { pointer: Pointer::root().member("purpose"), digits: 16 });
    case.is_paused = true;
    case.key = KeyState::Revoked;
    let decision = case.decide();
    assert_eq!(told(&decision), "deny card_number_rejected key_revoked agent_paused");
    assert_eq!(decision.checks[0].detail, "A text looks like a card number: /purpose.");
    assert_eq!(decision.retry, Some(Retry { retryable: false, after: None }));
    assert_eq!(says(r#"{"agents":["agt_01jdqz4d4n9v8h2k6m3p5r7t9w"]}"#, "{}"), "deny agent_not_covered");
    assert_eq!(says(&format!(r#"{{"agents":["{}"]}}"#, agent()), "{}"), "allow");
}

#[test]
fn without_a_policy_nothing_is_paid() {
    let fault = control::Fault::new(&Pointer::root().member("limits"), FaultCode::MissingMember, "Give this member.");
    for (why, reason) in
        [(NoPolicy::Missing, "policy_missing"), (NoPolicy::SignatureInvalid, "policy_unreadable"), (NoPolicy::Unreadable(fault), "policy_unreadable")]
    {
        let mut case = Case::new("{}", "{}");
        case.policy = Err(why);
        case.is_approved = true;
        let decision = case.decide();
        assert_eq!(told(&decision), format!("deny {reason}"));
        assert_eq!(decision.checks.len(), 26);
        assert_eq!(decision.checks.iter().filter(|check| !check.ok).count(), 22);
        assert_eq!(decision.policy, None);
    }
}

#[test]
fn consents() {
    let case = |policy: &str, consent| {
        let mut case = Case::new(policy, "{}");
        case.consent = consent;
        told(&case.decide())
    };
    let wants = r#"{"require_consent":true}"#;
    let consent = |until: i64, revoked: i64| {
        let times = |millis: i64| (millis != 0).then(|| NOW.plus_millis(millis));
        Some(ConsentFacts { valid_from: NOW.plus_millis(-10), valid_until: times(until), revoked_from: times(revoked) })
    };
    assert_eq!(case(wants, None), "deny consent_missing");
    assert_eq!(case("{}", None), "allow");
    assert_eq!(case(wants, consent(0, 0)), "allow");
    assert_eq!(case(wants, consent(1, 1)), "allow");
    assert_eq!(case(wants, consent(-1, 0)), "deny consent_expired");
    assert_eq!(case("{}", consent(-1, 0)), "allow");
    assert_eq!(case(wants, consent(0, -1)), "deny consent_revoked");
    assert_eq!(case("{}", consent(0, -1)), "deny consent_revoked");
    let mut early = consent(0, 0).unwrap();
    early.valid_from = NOW.plus_millis(1);
    assert_eq!(case(wants, Some(early)), "deny consent_missing");
}

#[test]
fn one_payment() {
    let of = |value: &str| says("{}", &format!(r#"{{"amount":{{"value":"{value}","currency":"USD"}}}}"#));
    assert_eq!(of("100.00"), "allow");
    assert_eq!(of("100.01"), "deny over_payment_limit");
    assert_eq!(says("{}", r#"{"amount":{"value":"5","currency":"EUR"}}"#), "deny currency_not_covered");
}

const BUDGETS: &str = r#"{"limits":{"per_payment":"100.00","windows":[
    {"kind":"day","max":"100.00"},{"kind":"week","max":"300.00"},{"kind":"month","max":"1000.00"},{"kind":"rolling","seconds":60,"max":"90.00"}
]},"window":{"zone":"Europe/Berlin"}}"#;

#[test]
fn budgets() {
    let mut case = Case::new(BUDGETS, "{}");
    case.spend(0, "60.00", NOW);
    assert_eq!(told(&case.decide()), "allow");
    case.spend(0, "0.01", NOW);
    let decision = case.decide();
    assert_eq!(told(&decision), "deny over_budget");
    assert_eq!(decision.retry, Some(Retry { retryable: true, after: Some(at("2026-11-30T23:00:00Z")) }));
    assert_eq!(decision.overruns.len(), 1);
    assert_eq!(decision.overruns[0].by, usd("0.01"));
    case.spend(1, "270.00", NOW);
    assert_eq!(case.decide().retry.unwrap().after, Some(at("2026-12-06T23:00:00Z")));
    case.spend(2, "970.00", NOW);
    let decision = case.decide();
    assert_eq!(told(&decision), "deny over_budget");
    assert_eq!(decision.retry.unwrap().after, Some(at("2026-12-06T23:00:00Z")));
    assert_eq!(decision.overruns.len(), 3);
    assert_eq!(
        decision.checks.iter().filter(|check| check.name.starts_with("budget_")).map(|check| check.ok).collect::<Vec<_>>(),
        [false, false, false, true]
    );
}

#[test]
fn rolling_budgets_age_out() {
    let mut case = Case::new(BUDGETS, "{}");
    case.spend(3, "30.00", NOW.minus_seconds(50));
    case.spend(3, "30.00", NOW.minus_seconds(40));
    case.spend(3, "20.00", NOW.minus_seconds(10));
    // 80 and 40 are 30 too much: the first alone makes room.
    assert_eq!(case.decide().retry, Some(Retry { retryable: true, after: Some(NOW.plus_seconds(10)) }));
    case.spend(3, "0.01", NOW.minus_seconds(1));
    assert_eq!(case.decide().retry, Some(Retry { retryable: true, after: Some(NOW.plus_seconds(20)) }));
    case.spend[3].entries.clear();
    assert_eq!(case.decide().retry, Some(Retry { retryable: true, after: None }));
}

#[test]
fn what_came_back_ages_out_with_what_was_spent() {
    let mut case = Case::new(BUDGETS, "{}");
    case.spend(3, "30.00", NOW.minus_seconds(50));
    case.spend(3, "60.00", NOW.minus_seconds(40));
    let refill = usd("0").checked_sub(&usd("20.00")).unwrap();
    case.spend[3].counted = case.spend[3].counted.checked_add(&refill).unwrap();
    case.spend[3].entries.push((NOW.minus_seconds(50), refill));
    // 70 and 40 are 20 too much: the 10 left of the first make no room.
    assert_eq!(case.decide().retry, Some(Retry { retryable: true, after: Some(NOW.plus_seconds(20)) }));
}

#[test]
fn waiting_does_not_help_where_the_whole_budget_is_too_small() {
    let case = Case::new(r#"{"limits":{"per_payment":"100.00","windows":[{"kind":"day","max":"39.99"}]}}"#, "{}");
    let decision = case.decide();
    assert_eq!(told(&decision), "deny over_window_limit");
    assert_eq!(decision.retry, Some(Retry { retryable: false, after: None }));
    assert_eq!(decision.overruns[0].by, usd("0.01"));
}

#[test]
fn a_budget_of_which_nothing_is_known_denies() {
    let mut case = Case::new(BUDGETS, "{}");
    case.spend.remove(1);
    assert_eq!(told(&case.decide()), "deny budget_unknown");
    case.spend_nothing();
    assert_eq!(told(&case.decide_at(NOW.plus_seconds(86_400))), "deny budget_unknown");
}

#[test]
fn another_currency_has_a_window_of_its_own() {
    let policy = r#"{"limits":{"per_payment":"1.00","windows":[{"kind":"day","max":"1.00"},{"kind":"day","max":"5000","currency":"JPY"}]},"approval":{"threshold":"50.00"}}"#;
    let of = |value: &str| says(policy, &format!(r#"{{"amount":{{"value":"{value}","currency":"JPY"}}}}"#));
    assert_eq!(of("5000"), "step_up approval_required");
    assert_eq!(of("5001"), "deny over_window_limit approval_required");
    let names: Vec<_> =
        Case::new(policy, "{}").decide().checks.iter().map(|check| check.name.to_string()).filter(|name| name.starts_with("budget")).collect();
    assert_eq!(names, ["budget_day", "budget_day_JPY"]);
}

#[test]
fn payees() {
    let lists = r#"{"payees":{"allow":[{"domain":"shop.example"},{"merchant_id":"acct_1"},{"name":"City Library"}],"deny":[{"domain":"bad.shop.example"},{"name":"Casino"}],"unknown":"deny"}}"#;
    for (payee, said) in [
        (r#"{"domain":"shop.example"}"#, "allow"),
        (r#"{"domain":"www.shop.example"}"#, "allow"),
        (r#"{"name":"city  library"}"#, "allow"),
        (r#"{"merchant_id":"acct_1"}"#, "allow"),
        (r#"{"merchant_id":"acct_1","domain":"shop.example"}"#, "allow"),
        // The seller of that domain would take the mandate.
        (r#"{"merchant_id":"acct_1","domain":"other.example"}"#, "deny payee_not_allowed"),
        (r#"{"domain":"evilshop.example"}"#, "deny payee_not_allowed"),
        // Known by its merchant id, whatever domain it claims.
        (r#"{"merchant_id":"acct_2","domain":"shop.example"}"#, "deny payee_not_allowed"),
        (r#"{"domain":"a.bad.shop.example"}"#, "deny payee_blocked"),
        (r#"{"name":"CASINO","domain":"shop.example"}"#, "deny payee_blocked"),
        (r#"{"domain":"sh0p.example"}"#, "deny payee_not_allowed payee_lookalike"),
        (r#"{"domain":"shop.example","name":"Pаypal"}"#, "allow payee_name_confusable"),
    ] {
        assert_eq!(says(lists, &format!(r#"{{"payee":{payee}}}"#)), said, "{payee}");
    }
    let unknown = |unknown: &str| {
        says(&format!(r#"{{"payees":{{"allow":[{{"domain":"shop.example"}}],"unknown":"{unknown}"}}}}"#), r#"{"payee":{"domain":"other.example"}}"#)
    };
    assert_eq!(unknown("allow"), "allow");
    assert_eq!(unknown("step_up"), "step_up payee_unknown");
    assert_eq!(unknown("deny"), "deny payee_not_allowed");
    assert_eq!(says(r#"{"payees":{}}"#, "{}"), "step_up payee_unknown");
}

#[test]
fn screening() {
    let lists = r#"{"screening":{"names":["Sanctioned Trading"],"domains":["sanctioned.example"],"merchant_ids":["acct_x"],"purpose_terms":["gift card"]},"payees":{"unknown":"allow"}}"#;
    for (request, said) in [
        (r#"{"payee":{"domain":"www.sanctioned.example"}}"#, "deny screening_hit"),
        (r#"{"payee":{"name":"SANCTIONED\u00a0trading"}}"#, "deny screening_hit"),
        (r#"{"payee":{"name":"S\u0430nctioned Trading"}}"#, "deny screening_hit payee_name_confusable"),
        (r#"{"payee":{"merchant_id":"acct_x","domain":"shop.example"}}"#, "deny screening_hit"),
        (r#"{"purpose":"A Gift  Card, for him"}"#, "deny screening_hit"),
        (r#"{"purpose":"regift cards"}"#, "allow"),
    ] {
        assert_eq!(says(lists, request), said, "{request}");
    }
}

#[test]
fn payee_identity() {
    let case = |policy: &str, identity| {
        let mut case = Case::new(policy, "{}");
        case.payee.identity = identity;
        told(&case.decide())
    };
    for (policy, unverified, unchecked) in [
        ("{}", "allow payee_unverified", "allow"),
        (r#"{"payee_identity":{}}"#, "step_up payee_not_verified", "step_up payee_not_verified"),
        (r#"{"payee_identity":{"otherwise":"deny"}}"#, "deny payee_not_verified", "deny payee_not_verified"),
        (r#"{"payee_identity":{"above":"40.00"}}"#, "allow payee_unverified", "allow"),
        (r#"{"payee_identity":{"above":"39.99"}}"#, "step_up payee_not_verified", "step_up payee_not_verified"),
    ] {
        assert_eq!(case(policy, PayeeStatus::Verified), "allow", "{policy}");
        assert_eq!(case(policy, PayeeStatus::Unverified), unverified, "{policy}");
        assert_eq!(case(policy, PayeeStatus::Unchecked), unchecked, "{policy}");
        assert_eq!(case(policy, PayeeStatus::Mismatch), "deny payee_identity_mismatch", "{policy}");
    }
}

#[test]
fn the_checkout_is_on_the_payees_domain() {
    for (request, said) in [
        (r#"{"checkout":{"protocol":"x402","reference":"https://api.shop.example/weather"}}"#, "allow"),
        (r#"{"checkout":{"protocol":"x402","reference":"https://evilshop.example/"}}"#, "deny payee_mismatch"),
        (r#"{"checkout":{"protocol":"ucp","reference":"https://other.example/c/1"}}"#, "deny payee_mismatch"),
        (r#"{"checkout":{"protocol":"ucp","reference":"chk_1"}}"#, "allow"),
        (r#"{"checkout":{"protocol":"mpp","reference":"https://shop.example/"},"payee":{"name":"Shop"}}"#, "deny payee_domain_missing"),
        (r#"{"checkout":{"protocol":"ucp","reference":"https://shop.example/"},"payee":{"name":"Shop"}}"#, "allow"),
    ] {
        assert_eq!(says(r#"{"payees":{"unknown":"allow"}}"#, request), said, "{request}");
    }
}

#[test]
fn categories() {
    let of = |policy: &str, category: &str| says(policy, &format!(r#"{{"intent":{{"text":"x","slots":{{"category":"{category}"}}}}}}"#));
    let allow = r#"{"categories":{"allow":["books"]}}"#;
    assert_eq!(of(allow, "books"), "allow");
    assert_eq!(of(allow, "Books"), "deny category_not_allowed");
    assert_eq!(says(allow, "{}"), "clarify clarification_required");
    assert_eq!(of(r#"{"categories":{"deny":["books"]}}"#, "books"), "deny category_not_allowed");
    assert_eq!(says(r#"{"categories":{"deny":["books"]}}"#, "{}"), "allow");
    assert_eq!(of(r#"{"categories":null}"#, "books"), "allow");
}

#[test]
fn rails_and_finality() {
    let x402 = r#"{"checkout":{"protocol":"x402","reference":"https://shop.example/"}}"#;
    assert_eq!(says(r#"{"rails":{"card":{}}}"#, "{}"), "allow");
    assert_eq!(says(r#"{"rails":{"card":{}}}"#, x402), "deny rail_not_allowed");
    assert_eq!(says(r#"{"rails":{"x402":{}}}"#, "{}"), "deny rail_not_allowed");
    assert_eq!(says(r#"{"finality_rules":{"irreversible":"40.00"}}"#, x402), "allow");
    assert_eq!(says(r#"{"finality_rules":{"irreversible":"39.99"}}"#, x402), "step_up finality_needs_approval");
    assert_eq!(says(r#"{"finality_rules":{"irreversible":"0","conditionally_reversible":null}}"#, "{}"), "allow");
}

#[test]
fn the_agents_identity() {
    let case = |policy: &str, assurance, anchors: &[Anchor]| {
        let mut case = Case::new(policy, "{}");
        (case.assurance, case.anchors) = (assurance, anchors.to_vec());
        told(&case.decide())
    };
    let policy = r#"{"identity_requirements":[{"assurance":"A1"},{"assurance":"A2","above":"39.99","anchors":["agent_key"]},{"assurance":"A3","rails":["x402"]}]}"#;
    assert_eq!(case(policy, Assurance::A2, &[Anchor::AgentKey]), "allow");
    assert_eq!(case(policy, Assurance::A3, &[]), "step_up identity_insufficient");
    assert_eq!(case(policy, Assurance::A1, &[Anchor::AgentKey]), "step_up identity_insufficient");
    assert_eq!(case(r#"{"identity_requirements":[{"assurance":"A2","above":"40.00"}]}"#, Assurance::A0, &[]), "allow");
}

#[test]
fn the_policy_that_the_agent_saw() {
    let hash = Case::new("{}", "{}").policy.unwrap().hash().to_string();
    assert_eq!(says("{}", &format!(r#"{{"policy_snapshot_hash":"{hash}"}}"#)), "allow");
    assert_eq!(says("{}", &format!(r#"{{"policy_snapshot_hash":"{}"}}"#, "0".repeat(64))), "allow policy_snapshot_differs");
}

#[test]
fn duplicates() {
    let window = r#"{"duplicate_window_seconds":60}"#;
    let case = |policy: &str, seconds, outcome| {
        let mut case = Case::new(policy, "{}");
        case.asked_before(seconds, outcome);
        case
    };
    assert_eq!(told(&case(window, 59, Outcome::Live).decide()), "step_up possible_duplicate");
    assert_eq!(told(&case(window, 59, Outcome::HandedOff).decide()), "step_up possible_duplicate");
    assert_eq!(told(&case(window, 59, Outcome::Failed).decide()), "allow");
    assert_eq!(told(&case(window, 60, Outcome::Live).decide()), "allow");
    assert_eq!(told(&case(r#"{"duplicate_window_seconds":0}"#, 0, Outcome::Live).decide()), "allow");
    assert_eq!(told(&case("{}", 599, Outcome::Live).decide()), "step_up possible_duplicate");
    let denied = case(r#"{"duplicate_window_seconds":60,"duplicate":"deny"}"#, 20, Outcome::Live).decide();
    assert_eq!(told(&denied), "deny duplicate_within_window");
    assert_eq!(denied.retry, Some(Retry { retryable: true, after: Some(NOW.plus_seconds(40)) }));
    // The clock went back: the earlier one seems to be of the future.
    let mut future = case(window, 0, Outcome::Live);
    future.earlier[0].at = NOW.plus_seconds(500);
    assert_eq!(told(&future.decide()), "step_up possible_duplicate");
}

#[test]
fn other_facts_are_no_duplicate() {
    let before = |before: &str, now: &str| {
        let mut case = Case::new("{}", before);
        case.asked_before(1, Outcome::Live);
        case.request = request(now);
        told(&case.decide())
    };
    let checkout = r#"{"checkout":{"protocol":"ucp","reference":"chk_1"}}"#;
    assert_eq!(before(checkout, r#"{"checkout":{"protocol":"ucp","reference":"chk_1"},"purpose":"something else"}"#), "step_up possible_duplicate");
    assert_eq!(before(checkout, r#"{"checkout":{"protocol":"ucp","reference":"chk_2"}}"#), "allow");
    assert_eq!(before(checkout, "{}"), "allow");
    assert_eq!(before("{}", r#"{"purpose":"toner"}"#), "allow");
    assert_eq!(before("{}", r#"{"amount":{"value":"40.01","currency":"USD"}}"#), "allow");
    assert_eq!(before("{}", r#"{"payee":{"domain":"www.shop.example"}}"#), "allow");
    assert_eq!(before("{}", r#"{"payee":{"domain":"SHOP.example."}}"#), "step_up possible_duplicate");
}

#[test]
fn retries() {
    let policy = r#"{"retry_policy":{"max_attempts":3,"window_seconds":100,"same_amount_only":true}}"#;
    let case = |attempts: &[u32]| {
        let mut case = Case::new(policy, "{}");
        for seconds in attempts {
            case.asked_before(*seconds, Outcome::Failed);
        }
        case
    };
    assert_eq!(told(&case(&[90, 50]).decide()), "allow");
    assert_eq!(told(&case(&[90, 50, 10]).decide()), "deny retry_limit_reached");
    assert_eq!(case(&[90, 50, 10]).decide().retry, Some(Retry { retryable: false, after: None }));
    // The window runs from the first attempt.
    assert_eq!(told(&case(&[100, 50, 10]).decide()), "allow");
    assert_eq!(told(&case(&[250, 149, 60, 10]).decide()), "allow");
    assert_eq!(told(&case(&[250, 90, 60, 10]).decide()), "deny retry_limit_reached");
    let mut other_amount = case(&[90]);
    other_amount.earlier[0].amount = usd("39.99");
    assert_eq!(told(&other_amount.decide()), "deny retry_limit_reached");
    // What was paid is no attempt; it may be a duplicate, but not outside that window.
    let mut paid = Case::new(r#"{"retry_policy":{"max_attempts":1,"window_seconds":1000,"same_amount_only":false}}"#, "{}");
    paid.asked_before(700, Outcome::Live);
    assert_eq!(told(&paid.decide()), "allow");
    paid.asked_before(700, Outcome::HandedOff);
    assert_eq!(told(&paid.decide()), "deny retry_limit_reached");
}

#[test]
fn slots_that_must_be_known() {
    let policy = r#"{"intent":{"required":["max_total","category"],"questions":{"category":"Which kind?"},"max_rounds":2}}"#;
    let mut case = Case::new(policy, "{}");
    let decision = case.decide();
    assert_eq!(told(&decision), "clarify clarification_required");
    let asked: Vec<_> = decision.questions.iter().map(|question| (question.slot, question.question.as_str())).collect();
    assert_eq!(asked, [(Slot::Category, "Which kind?"), (Slot::MaxTotal, Slot::MaxTotal.question())]);
    assert_eq!(case.decide().questions, decision.questions);
    assert_eq!(decision.risk.action, RiskAction::ManualReview);
    assert!(case.intent.answer(Slot::Category, "books", control::intent::Source::User, &usd("40.00")));
    assert_eq!(case.decide().questions.len(), 1);
    case.rounds = 2;
    assert_eq!(told(&case.decide()), "deny clarification_exhausted");
    assert!(case.intent.answer(Slot::MaxTotal, "40", control::intent::Source::User, &usd("40.00")));
    assert_eq!(told(&case.decide()), "allow");
}

#[test]
fn a_denial_beats_a_question_beats_a_person() {
    let policy = r#"{"intent":{"required":["category"]},"approval":{"threshold":"0"}}"#;
    let mut case = Case::new(policy, "{}");
    assert_eq!(told(&case.decide()), "clarify clarification_required approval_required");
    case.is_approved = true;
    assert_eq!(told(&case.decide()), "clarify clarification_required");
    case.key = KeyState::Revoked;
    let denied = case.decide();
    assert_eq!(told(&denied), "deny key_revoked clarification_required");
    assert!(denied.questions.is_empty());
}

#[test]
fn contradictions_are_asked_about_where_the_policy_wants_to_know() {
    let contradictory = r#"{"intent":{"text":"x","slots":{"currency":"EUR","category":"books"}}}"#;
    assert_eq!(says("{}", contradictory), "allow intent_conflict");
    assert_eq!(says(r#"{"intent":{"required":["currency"]}}"#, contradictory), "clarify clarification_required");
}

#[test]
fn what_the_person_said_it_may_cost() {
    let of = |policy: &str, most: &str| says(policy, &format!(r#"{{"intent":{{"text":"x","slots":{{"max_total":"{most}"}}}}}}"#));
    assert_eq!(of("{}", "40.00"), "allow");
    assert_eq!(of("{}", "39.99"), "deny amount_mismatch");
    assert_eq!(of(r#"{"mode":"specified","deviation":{"percent":"50"}}"#, "39.99"), "deny amount_mismatch");
    let bounded = r#"{"mode":"bounded","deviation":{"percent":"10","amount":"3.00"}}"#;
    assert_eq!(of(bounded, "37.00"), "allow deviation_within");
    assert_eq!(of(bounded, "36.99"), "deny amount_mismatch");
    let asks = r#"{"mode":"bounded_stepup","deviation":{"percent":"10"}}"#;
    assert_eq!(of(asks, "36.37"), "allow deviation_within");
    assert_eq!(of(asks, "36.36"), "step_up deviation_exceeded");
    assert_eq!(of(r#"{"mode":"bounded_stepup"}"#, "39.99"), "step_up deviation_exceeded");
    assert_eq!(says("{}", r#"{"intent":{"text":"x","slots":{"max_total":"90","currency":"EUR"}}}"#), "deny intent_conflict amount_mismatch");
}

#[test]
fn the_threshold() {
    let of = |threshold: &str| says(&format!(r#"{{"approval":{{"threshold":"{threshold}"}}}}"#), "{}");
    assert_eq!(of("40.00"), "allow");
    assert_eq!(of("39.99"), "step_up approval_required");
    assert_eq!(of("0"), "step_up approval_required");
    let mut case = Case::new(r#"{"approval":{"threshold":"0"}}"#, "{}");
    case.is_approved = true;
    let decision = case.decide();
    assert_eq!(told(&decision), "allow");
    assert!(decision.checks.iter().all(|check| check.ok));
    case.is_paused = true;
    assert_eq!(told(&case.decide()), "deny agent_paused");
}

#[test]
fn risk_adds_up() {
    let mut case =
        Case::new(r#"{"payees":{"allow":[{"domain":"paypal.com"}],"unknown":"allow"}}"#, r#"{"payee":{"domain":"paypa1.com"},"intent":{}}"#);
    case.payee.payments_before = 0;
    let decision = case.decide();
    assert_eq!((decision.risk.score, decision.risk.action), (65, RiskAction::ManualReview));
    assert_eq!(decision.risk.signals, [Signal::PayeeLookalike, Signal::FirstPayment, Signal::NoIntent]);
    assert_eq!(told(&decision), "step_up payee_lookalike risk_review");
    case.payee.identity = PayeeStatus::Unverified;
    case.assurance = Assurance::A0;
    case.asked_before(1, Outcome::Live);
    assert_eq!(told(&case.decide()), "deny payee_lookalike payee_unverified possible_duplicate risk_blocked");
    case.is_approved = true;
    assert_eq!(case.decide().result, DecisionResult::Deny);
}

#[test]
fn a_new_agents_first_payment_is_no_risk_by_itself() {
    let mut case = Case::new(
        "{}",
        r#"{"amount":{"value":"100.00","currency":"USD"},"checkout":{"protocol":"x402","reference":"https://shop.example/"},"intent":{}}"#,
    );
    case.assurance = Assurance::A0;
    case.payee.payments_before = 0;
    case.payee.identity = PayeeStatus::Unverified;
    let decision = case.decide();
    assert_eq!((decision.result, decision.risk.score), (DecisionResult::Allow, 55));
}

#[test]
fn a_policy_that_only_watches() {
    let observed = |policy: &str| {
        let policy = format!("{}{}", r#"{"shadow":true,"#, policy.trim_start_matches('{'));
        let mut case = Case::new(&policy, "{}");
        case.consent = Some(ConsentFacts { valid_from: NOW, valid_until: Some(NOW), revoked_from: None });
        case
    };
    let over = observed(
        r#"{"limits":{"per_payment":"39.99","windows":[{"kind":"day","max":"100.00"}]},"approval":{"threshold":"0"},"require_consent":true}"#,
    );
    let decision = over.decide();
    assert_eq!(told(&decision), "observe shadow_mode");
    let shadow = decision.shadow_result.unwrap();
    assert_eq!(shadow.result, DecisionResult::Deny);
    assert_eq!(shadow.reasons, [Reason::ConsentExpired, Reason::OverPaymentLimit, Reason::ApprovalRequired]);
    assert_eq!((decision.risk.action, decision.retry), (RiskAction::Authorized, None));

    let mut spent = observed(r#"{"limits":{"per_payment":"100.00","windows":[{"kind":"day","max":"100.00"}]}}"#);
    spent.spend(0, "75.50", NOW);
    let decision = spent.decide();
    assert_eq!(told(&decision), "observe shadow_mode");
    assert_eq!(decision.overruns[0].by, usd("15.50"));

    let fine = observed(r#"{"note":"watching"}"#).decide();
    assert_eq!(fine.shadow_result.unwrap().result, DecisionResult::Allow);

    let asks = observed(r#"{"intent":{"required":["category"],"max_rounds":1},"limits":{"per_payment":"1.00"}}"#);
    let decision = asks.decide();
    assert_eq!((decision.result, decision.questions.len(), decision.shadow_result), (DecisionResult::Clarify, 1, None));
    let mut exhausted = asks;
    exhausted.rounds = 1;
    assert_eq!(told(&exhausted.decide()), "observe shadow_mode");
}

#[test]
fn what_denies_though_the_policy_only_watches() {
    let deny = |change: fn(&mut Case)| {
        let mut case = Case::new(r#"{"shadow":true,"intent":{"required":["category"]}}"#, "{}");
        change(&mut case);
        let decision = case.decide();
        assert_eq!(decision.shadow_result, None);
        told(&decision)
    };
    assert_eq!(deny(|case| case.is_paused = true), "deny agent_paused clarification_required");
    assert_eq!(deny(|case| case.key = KeyState::Revoked), "deny key_revoked clarification_required");
    assert_eq!(
        deny(|case| case.card_number = Some(Hit { pointer: Pointer::root(), digits: 16 })),
        "deny card_number_rejected clarification_required"
    );
    assert_eq!(
        deny(|case| case.consent = Some(ConsentFacts { valid_from: NOW, valid_until: None, revoked_from: Some(NOW) })),
        "deny consent_revoked clarification_required"
    );
    assert_eq!(deny(|case| case.policy = Err(NoPolicy::Missing)), "deny policy_missing");
}

#[test]
fn as_the_client_reads_it() {
    let decision = Case::new(r#"{"id":"pol_01jdqz4d4n9v8h2k6m3p5r7t9w","version":2,"limits":{"per_payment":"39.99"}}"#, "{}").decide();
    let written = Value::from(decision.to_json());
    let names: Vec<_> = written.as_object().unwrap().iter().map(|(name, _)| name.as_str().unwrap()).collect();
    assert_eq!(names, ["result", "reasons", "policy", "checks", "shadow_result", "risk", "questions", "retryable", "retry_after"]);
    assert_eq!(json::write(written.get("reasons").unwrap()), r#"["over_payment_limit"]"#);
    assert_eq!(json::write(written.get("risk").unwrap()), r#"{"action":"blocked","score":10}"#);
    assert_eq!(
        json::write(&written.get("checks").unwrap().as_array().unwrap()[7]),
        r#"{"name":"per_payment","ok":false,"reason":"over_payment_limit","detail":"40.00 USD is more than 39.99 USD."}"#
    );
    let policy = written.get("policy").unwrap();
    assert_eq!(policy.get("version").and_then(Value::as_safe_integer), Some(2));
    assert!(policy.get("hash").and_then(Value::as_str).unwrap().starts_with("sha256:"));
    let observed = Case::new(r#"{"shadow":true,"approval":{"threshold":"0"}}"#, "{}").decide();
    let written = Value::from(observed.to_json());
    assert_eq!(json::write(written.get("shadow_result").unwrap()), r#"{"result":"step_up","reasons":["approval_required"]}"#);
}
