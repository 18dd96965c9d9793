//! What holds of every decision.

use control::{
    Money, Pointer,
    card_number::Hit,
    decision::{ConsentFacts, Decision, DecisionResult, Family, KeyState, NoPolicy, Outcome, PayeeStatus},
    intent::{Slot, Source},
    payee::PayeeKey,
    policy::{Anchor, Assurance},
};
use lcp::{Object, Value, json};
use proptest::prelude::*;

use crate::case::{Case, NOW, policy, usd};

const SHADOW: &str = r#""shadow":true,"#;

/// Members for a policy, as source.
fn policies() -> impl Strategy<Value = Vec<&'static str>> {
    let blocks: Vec<&'static [&'static str]> = vec![
        &[
            r#""payees":{"allow":[{"domain":"shop.example"}]}"#,
            r#""payees":{"unknown":"allow","deny":[{"name":"Casino"}]}"#,
            r#""payees":{"unknown":"deny","allow":[{"domain":"sh0p.example"}]}"#,
        ],
        &[
            r#""limits":{"per_payment":"50.00","windows":[{"kind":"day","max":"60.00"},{"kind":"rolling","seconds":60,"max":"45.00"}]}"#,
            r#""limits":{"per_payment":"39.99"}"#,
            r#""limits":{"per_payment":"100.00","windows":[{"kind":"week","max":"30.00"},{"kind":"month","max":"900","currency":"JPY"}]}"#,
        ],
        &[r#""approval":{"threshold":"20.00"}"#, r#""approval":null"#],
        &[r#""duplicate":"deny""#, r#""duplicate_window_seconds":0"#],
        &[r#""screening":{"purpose_terms":["paper"]}"#],
        &[r#""mode":"bounded","deviation":{"percent":"10"}"#, r#""mode":"bounded_stepup""#],
        &[r#""finality_rules":{"irreversible":"10.00"}"#],
        &[r#""retry_policy":{"max_attempts":2,"window_seconds":100,"same_amount_only":true}"#],
        &[r#""require_consent":true"#],
        &[
            r#""intent":{"required":["category","max_total"],"max_rounds":2}"#,
            r#""intent":{"required":["currency"],"answered_by_user":["currency"]}"#,
        ],
        &[r#""identity_requirements":[{"assurance":"A2","anchors":["agent_key"]}]"#],
        &[r#""payee_identity":{"otherwise":"deny"}"#, r#""payee_identity":{"above":"30.00"}"#],
        &[r#""rails":{"card":{}}"#, r#""rails":{"x402":{},"card":{}}"#],
        &[r#""categories":{"allow":["books"]}"#, r#""categories":{"deny":["books"]}"#],
    ];
    let blocks: Vec<_> = blocks.into_iter().map(|choices| prop_oneof![2 => Just(None), 1 => prop::sample::select(choices).prop_map(Some)]).collect();
    blocks.prop_map(|chosen| chosen.into_iter().flatten().collect())
}

fn requests() -> impl Strategy<Value = String> {
    let payees =
        [r#"{"domain":"shop.example"}"#, r#"{"domain":"www.shop.example","name":"Casino"}"#, r#"{"name":"Pаypal"}"#, r#"{"merchant_id":"acct_1"}"#];
    let amounts = [
        r#"{"value":"40.00","currency":"USD"}"#,
        r#"{"value":"45.01","currency":"USD"}"#,
        r#"{"value":"900","currency":"JPY"}"#,
        r#"{"value":"0.01","currency":"EUR"}"#,
    ];
    let checkouts =
        ["null", r#"{"protocol":"x402","reference":"https://shop.example/w"}"#, r#"{"protocol":"ucp","reference":"https://other.example/"}"#];
    let intents = ["{}", r#"{"text":"x","slots":{"category":"books","max_total":"41"}}"#, r#"{"text":"x","slots":{"currency":"EUR"}}"#];
    (
        prop::sample::select(payees.to_vec()),
        prop::sample::select(amounts.to_vec()),
        prop::sample::select(checkouts.to_vec()),
        prop::sample::select(intents.to_vec()),
    )
        .prop_map(|(payee, amount, checkout, intent)| format!(r#"{{"payee":{payee},"amount":{amount},"checkout":{checkout},"intent":{intent}}}"#))
}

prop_compose! {
    fn standings()(
        is_paused in prop::bool::weighted(0.1),
        is_revoked in prop::bool::weighted(0.1),
        has_card in prop::bool::weighted(0.1),
        consent in prop::option::of((-5i64..5, prop::option::of(-5i64..5), prop::option::of(-5i64..5))),
        assurance in prop::sample::select(Assurance::ALL),
        identity in prop::sample::select(PayeeStatus::ALL),
        has_anchor: bool,
        payments_before in 0u32..2,
        rounds in 0u32..4,
        is_approved in prop::bool::weighted(0.2),
        no_policy in prop::bool::weighted(0.05),
    ) -> Case {
        let mut case = Case::new("{}", "{}");
        case.is_paused = is_paused;
        case.key = if is_revoked { KeyState::Revoked } else { KeyState::Active };
        case.card_number = has_card.then(|| Hit { pointer: Pointer::root(), digits: 16 });
        case.consent = consent.map(|(from, until, revoked)| {
            let at = |millis: i64| NOW.plus_millis(millis);
            ConsentFacts { valid_from: at(from), valid_until: until.map(at), revoked_from: revoked.map(at) }
        });
        case.assurance = assurance;
        case.anchors = if has_anchor { vec![Anchor::AgentKey] } else { Vec::new() };
        case.payee.identity = identity;
        case.payee.payments_before = payments_before;
        case.rounds = rounds;
        case.is_approved = is_approved;
        if no_policy {
            case.policy = Err(NoPolicy::Missing);
        }
        case
    }
}

prop_compose! {
    /// Any facts, each with the members of its policy.
    fn cases()(
        mut case in standings(),
        blocks in policies(),
        is_shadow: bool,
        request in requests(),
        spent in prop::collection::vec((any::<prop::sample::Index>(), 0u32..7000, 0u32..100), 0..4),
        earlier in prop::collection::vec((0u32..700, prop::sample::select(Outcome::ALL), any::<bool>()), 0..4),
    ) -> (Case, String) {
        let members = blocks.join(",");
        let drawn = Case::new(&format!("{{{members}}}"), &request);
        (case.request, case.intent) = (drawn.request, drawn.intent);
        if case.policy.is_ok() {
            case.policy = Ok(policy(&format!("{{{}{members}}}", if is_shadow { format!(r#""shadow":true{}"#, if members.is_empty() { "" } else { "," }) } else { String::new() })));
        }
        case.spend_nothing();
        for (place, units, seconds) in spent {
            add_spend(&mut case, place, units.into(), seconds);
        }
        for (seconds, outcome, is_other) in earlier {
            let before = case.asked_before(seconds, outcome);
            if is_other {
                before.amount = usd("12.34");
            }
        }
        (case, members)
    }
}

fn add_spend(case: &mut Case, place: prop::sample::Index, units: i128, seconds: u32) {
    if case.spend.is_empty() {
        return;
    }
    let place = place.index(case.spend.len());
    let amount = Money::new(units, case.spend[place].counted.currency().clone());
    case.spend(place, &amount.decimal(), NOW.minus_seconds(seconds));
}

/// How strict a result is; observing is as good as allowing.
fn strictness(decision: &Decision) -> u8 {
    match decision.result {
        DecisionResult::Allow | DecisionResult::Observe => 0,
        DecisionResult::StepUp => 1,
        DecisionResult::Clarify => 2,
        DecisionResult::Deny => 3,
    }
}

/// The case with one fact eased.
fn eased(case: &Case, what: u8) -> Case {
    let mut eased = case.clone();
    match what {
        0 => eased.is_paused = false,
        1 => eased.key = KeyState::Active,
        2 => eased.card_number = None,
        3 => eased.consent = Some(ConsentFacts { valid_from: NOW, valid_until: None, revoked_from: None }),
        4 => eased.assurance = Assurance::A3,
        5 => eased.anchors = Anchor::ALL.to_vec(),
        6 => eased.payee.identity = PayeeStatus::Verified,
        7 => eased.payee.payments_before += 1,
        8 => eased.is_approved = true,
        9 => eased.rounds = 0,
        10 => eased.spend_nothing(),
        11 => eased.earlier.clear(),
        12 => eased.earlier.retain(|other| other.outcome != Outcome::Live),
        13 => {
            let is_denied = case.policy.as_ref().is_ok_and(|policy| policy.categories.deny.iter().any(|category| category == "books"));
            eased.intent.answer(Slot::Category, if is_denied { "toys" } else { "books" }, Source::User, &case.request.amount);
        }
        14 => {
            eased.intent.answer(Slot::Currency, case.request.amount.currency().code(), Source::User, &case.request.amount);
        }
        15 => eased.intent.text = Some("words".into()),
        _ => eased.request.policy_snapshot_hash = None,
    }
    eased
}

/// A policy's members with one block eased.
fn eased_policy(members: &str, what: u8) -> String {
    let document = json::parse(&format!("{{{members}}}"), 16).unwrap();
    let object = document.as_object().unwrap();
    let eased: Object = match what {
        0 => object.without("approval"),
        1 => object.without("screening"),
        2 => object.without("finality_rules"),
        3 => object.without("retry_policy"),
        4 => object.without("require_consent"),
        5 => object.without("identity_requirements"),
        6 => object.without("payee_identity"),
        7 => object.without("rails"),
        8 => object.without("intent"),
        9 => object.clone().with("duplicate_window_seconds", 0u32),
        _ => object.clone().with("limits", Object::new().with("per_payment", "1000000.00")),
    };
    json::write(&eased.into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_same_facts_decide_the_same((case, _) in cases()) {
        prop_assert_eq!(case.decide(), case.clone().decide());
    }

    #[test]
    fn a_decision_holds_together((case, _) in cases()) {
        let decision = case.decide();
        let is_shadow = case.policy.as_ref().is_ok_and(|policy| policy.shadow);
        prop_assert_eq!(decision.result == DecisionResult::Observe, decision.shadow_result.is_some());
        prop_assert_eq!(decision.result == DecisionResult::Clarify, !decision.questions.is_empty());
        prop_assert_eq!(decision.result == DecisionResult::Deny, decision.retry.is_some());
        prop_assert!(is_shadow || decision.result != DecisionResult::Observe);
        prop_assert!(!is_shadow || !matches!(decision.result, DecisionResult::Allow | DecisionResult::StepUp));
        if is_shadow && decision.result == DecisionResult::Deny {
            prop_assert!(decision.reasons.iter().any(|reason| reason.holds_in_shadow()));
        }
        if decision.result == DecisionResult::Allow {
            prop_assert!(decision.checks.iter().all(|check| check.ok));
            prop_assert!(decision.reasons.iter().all(|reason| reason.family() == Family::Hint));
        }
        if let Some(retry) = decision.retry {
            prop_assert!(retry.retryable || retry.after.is_none());
            prop_assert!(retry.after.is_none_or(|after| after > NOW));
        }
        prop_assert!(case.policy.is_ok() || decision.result == DecisionResult::Deny);
        let written = Value::from(decision.to_json());
        prop_assert!(json::canonical(&written).is_some());
        prop_assert!(decision.risk.score <= 100);
    }

    #[test]
    fn shadow_changes_no_check((case, members) in cases()) {
        if case.policy.is_err() {
            return Ok(());
        }
        let (mut enforced, mut shadow) = (case.clone(), case);
        enforced.policy = Ok(policy(&format!("{{{members}}}")));
        shadow.policy = Ok(policy(&if members.is_empty() { format!("{{{}}}", SHADOW.trim_end_matches(',')) } else { format!("{{{SHADOW}{members}}}") }));
        let (enforced, shadow) = (enforced.decide(), shadow.decide());
        prop_assert_eq!(&enforced.checks, &shadow.checks);
        prop_assert_eq!(&enforced.overruns, &shadow.overruns);
        prop_assert_eq!(enforced.risk.score, shadow.risk.score);
        if let Some(told) = &shadow.shadow_result {
            prop_assert_eq!((told.result, &told.reasons), (enforced.result, &enforced.reasons));
        }
    }

    #[test]
    fn easing_a_fact_makes_nothing_stricter((case, _) in cases(), what in 0u8..17) {
        // A policy that only watches asks, and when it has asked often enough observes.
        let is_shadow = case.policy.as_ref().is_ok_and(|policy| policy.shadow);
        let what = if is_shadow && what == 9 { 0 } else { what };
        let eased = eased(&case, what);
        prop_assert!(strictness(&eased.decide()) <= strictness(&case.decide()), "fact {}", what);
    }

    #[test]
    fn easing_a_policy_makes_nothing_stricter((case, members) in cases(), what in 0u8..11) {
        if case.policy.is_err() {
            return Ok(());
        }
        let mut strict = case.clone();
        strict.policy = Ok(policy(&format!("{{{members}}}")));
        let mut eased = case;
        eased.policy = Ok(policy(&eased_policy(&members, what)));
        // The windows are those of the policy; what was spent in them stays.
        let spend = std::mem::take(&mut eased.spend);
        eased.spend_nothing();
        eased.spend = eased.spend.into_iter().map(|empty| spend.iter().find(|spend| spend.kind == empty.kind).cloned().unwrap_or(empty)).collect();
        let is_limited = what == 10 && case_currency_is_foreign(&eased);
        prop_assert!(is_limited || strictness(&eased.decide()) <= strictness(&strict.decide()), "block {}", what);
    }

    #[test]
    fn spending_more_allows_nothing((case, _) in cases(), place in any::<prop::sample::Index>(), units in 0i128..7000, seconds in 0u32..100) {
        let mut more = case.clone();
        add_spend(&mut more, place, units, seconds);
        prop_assert!(strictness(&more.decide()) >= strictness(&case.decide()));
    }

    #[test]
    fn a_retry_after_is_not_too_late_for_a_calendar_budget(units in 1i128..20_000) {
        let mut case = Case::new(r#"{"limits":{"per_payment":"100.00","windows":[{"kind":"day","max":"100.00"}]}}"#, "{}");
        case.spend(0, &Money::new(units, usd("1").currency().clone()).decimal(), NOW);
        let decision = case.decide();
        if let Some(after) = decision.retry.and_then(|retry| retry.after) {
            let mut later = case.clone();
            later.spend = later.policy.as_ref().unwrap().budgets(after).into_iter().map(|budget| control::decision::WindowSpend {
                kind: budget.kind, window: budget.window, counted: Money::zero(budget.max.currency().clone()), entries: Vec::new(),
            }).collect();
            prop_assert_eq!(later.decide_at(after).result, DecisionResult::Allow);
        }
    }

    #[test]
    fn a_rolling_budget_has_room_from_the_told_instant_and_not_before(spent in prop::collection::vec((0u32..60, 1u32..9000), 1..6)) {
        let policy = r#"{"limits":{"per_payment":"100.00","windows":[{"kind":"rolling","seconds":60,"max":"90.00"}]}}"#;
        let at = |now: control::Instant| {
            let mut case = Case::new(policy, "{}");
            let budget = case.policy.as_ref().unwrap().budgets(now).remove(0);
            (case.spend[0].window, case.spend[0].kind) = (budget.window, budget.kind);
            for (seconds, units) in &spent {
                let spent_at = NOW.minus_seconds(*seconds);
                if budget.window.has(spent_at) {
                    case.spend(0, &Money::new((*units).into(), usd("1").currency().clone()).decimal(), spent_at);
                }
            }
            case.decide_at(now)
        };
        if let Some(after) = at(NOW).retry.and_then(|retry| retry.after) {
            prop_assert_eq!(at(after).result, DecisionResult::Allow);
            prop_assert_eq!(at(after.plus_millis(-1)).result, DecisionResult::Deny);
        }
    }
}

/// Whether the payment is in a currency that only a window of the policy covers.
fn case_currency_is_foreign(case: &Case) -> bool {
    case.request.amount.currency() != usd("1").currency()
}

#[test]
fn keys_of_earlier_requests_are_those_of_their_payees() {
    let mut case = Case::new("{}", r#"{"payee":{"name":"Shop","merchant_id":"acct_1"}}"#);
    assert_eq!(case.asked_before(1, Outcome::Live).payee, PayeeKey::MerchantId("acct_1".into()));
}
