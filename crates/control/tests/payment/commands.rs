//! Each command, in the states that allow it and in those that do not.

use std::sync::atomic::Ordering;

use control::{
    decision::{ConsentFacts, Outcome},
    ids::ConsentId,
    mandate::{MandateState, VoidReason},
    payment::{Reported, RequestState},
};

use super::world::{NOW, World, at, person, text, usd};

const STEP_UP: &str = r#"{"approval":{"threshold":"10.00","expires_in_seconds":600}}"#;
const ASKS: &str = r#"{"intent":{"required":["category","quantity"]}}"#;
const PAGE: &str = r#"{"continue_url":"https://www.shop.example/pay/1"}"#;

fn page_with_order(id: &str, total: &str) -> String {
    format!(r#"{{"continue_url":"https://www.shop.example/pay/1","order":{{"id":"{id}","total":{{"value":"{total}","currency":"USD"}}}}}}"#)
}

fn code<T: std::fmt::Debug>(result: Result<T, control::Refusal>) -> &'static str {
    result.unwrap_err().code
}

#[test]
fn an_allowed_request_gets_a_mandate_that_counts_until_it_is_over() {
    let mut world = World::new("{}");
    let place = world.ask("{}");
    assert_eq!(world.told(place), "decided allow");
    let payment = &world.payments[place];
    let mandate = payment.mandate().unwrap();
    assert_eq!((mandate.state, &mandate.amount, mandate.expires_at), (MandateState::Issued, &usd("40.00"), NOW.plus_seconds(3600)));
    assert_eq!((payment.due(), payment.has_ended(), payment.outcome()), (Some(NOW.plus_seconds(3600)), false, Outcome::Live));
    let counted = payment.counted().unwrap();
    assert_eq!((counted.amount, counted.at), (usd("40.00"), NOW));
    world.wait(3599);
    assert_eq!(world.payments[place].state(), RequestState::Decided);
    world.wait(1);
    let payment = &world.payments[place];
    assert_eq!((payment.state(), payment.mandate().unwrap().state), (RequestState::Expired, MandateState::Expired));
    assert_eq!((payment.counted(), payment.due(), payment.ended_at()), (None, None, Some(NOW.plus_seconds(3600))));
    assert_eq!(payment.outcome(), Outcome::Failed);
}

#[test]
fn under_never_what_was_issued_keeps_counting() {
    for end in ["expiry", "void", "hand_off"] {
        let mut world = World::new(r#"{"refill_policy":"never"}"#);
        let place = world.ask("{}");
        match end {
            "expiry" => world.wait(3600),
            "void" => world.void(place, VoidReason::Withdrawn),
            _ => assert_eq!(world.hand_off(place, PAGE), Ok(Reported::InRecord)),
        }
        assert_eq!(world.payments[place].counted().unwrap().amount, usd("40.00"), "{end}");
    }
}

#[test]
fn a_denied_request_ends_at_once() {
    let mut world = World::new("{}");
    let place = world.ask(r#"{"amount":{"value":"100.01","currency":"USD"}}"#);
    assert_eq!(world.told(place), "decided deny over_payment_limit");
    let payment = &world.payments[place];
    assert!(payment.has_ended() && payment.mandate().is_none() && payment.counted().is_none());
    assert_eq!((payment.due(), payment.outcome()), (None, Outcome::Failed));
    assert_eq!(text(&world.view(place), "outcome/status"), "denied");
    assert_eq!(code(world.hand_off(place, PAGE)), "not_payable");
    assert_eq!(code(world.consume(place, r#"{"id":"o-1"}"#)), "mandate_void");
    assert_eq!(code(world.approve(place, &person(1), "sha256:00")), "approval_not_asked");
    assert_eq!(code(world.answer(place, &[("category", "office")])), "unknown_question");
}

#[test]
fn the_mandate_ends_with_the_consent() {
    let mut world = World::new("{}");
    let consent = ConsentFacts { valid_from: NOW, valid_until: Some(NOW.plus_seconds(1800)), revoked_from: Some(NOW.plus_seconds(90)) };
    world.consent = Some((ConsentId::of([4; 16]), consent));
    let place = world.ask("{}");
    assert_eq!(world.payments[place].mandate().unwrap().expires_at, NOW.plus_seconds(90));
    assert_eq!(world.payments[place].consent(), Some(&ConsentId::of([4; 16])));
    // One that is over cuts nothing, where the policy wants none.
    world.consent = Some((ConsentId::of([4; 16]), ConsentFacts { valid_until: Some(NOW), revoked_from: None, ..consent }));
    let place = world.ask("{}");
    assert_eq!(world.payments[place].mandate().unwrap().expires_at, NOW.plus_seconds(3600));
    assert_eq!(world.payments[place].consent(), None);
}

#[test]
fn one_approval_gives_one_mandate() {
    let mut world = World::new(STEP_UP);
    let place = world.ask("{}");
    assert_eq!(world.told(place), "awaiting_approval step_up approval_required");
    assert_eq!((world.payments[place].counted(), world.payments[place].due()), (None, Some(NOW.plus_seconds(600))));
    let digest = world.digest(place);
    world.approve(place, &person(1), &digest).unwrap();
    assert_eq!(world.told(place), "approved allow");
    let first = world.payments[place].clone();
    world.approve(place, &person(2), &digest).unwrap();
    assert_eq!(world.payments[place], first, "the second click changes nothing");
    assert_eq!(first.approval().unwrap().by, Some(person(1)));
    assert_eq!(code(world.decline(place, &person(1), &digest)), "approval_already_decided");
    assert_eq!(world.payments[place].counted().unwrap().amount, usd("40.00"));
}

#[test]
fn a_person_may_decline() {
    let mut world = World::new(STEP_UP);
    let place = world.ask("{}");
    let digest = world.digest(place);
    world.decline(place, &person(1), &digest).unwrap();
    world.decline(place, &person(1), &digest).unwrap();
    let payment = &world.payments[place];
    assert_eq!((payment.state(), payment.has_ended(), payment.outcome()), (RequestState::Declined, true, Outcome::Failed));
    assert_eq!(code(world.approve(place, &person(1), &digest)), "approval_already_decided");
}

#[test]
fn an_approval_is_for_what_was_shown_and_for_a_time() {
    let mut world = World::new(STEP_UP);
    let place = world.ask("{}");
    let digest = world.digest(place);
    assert_eq!(code(world.approve(place, &person(1), &digest.replace("sha256:", "sha256:0"))), "approval_changed");
    world.now = NOW.plus_seconds(600);
    assert_eq!(code(world.approve(place, &person(1), &digest)), "approval_expired");
    world.wait(0);
    assert_eq!(world.told(place), "expired step_up approval_required");
    assert_eq!(code(world.approve(place, &person(1), &digest)), "approval_expired");
    assert_eq!(code(world.decline(place, &person(1), &digest)), "approval_expired");
    assert_eq!(text(&world.view(place), "approval/state"), "expired");
}

#[test]
fn the_digest_binds_each_member_of_what_is_shown() {
    let mut world = World::new(STEP_UP);
    let mut digests = std::collections::BTreeSet::new();
    for members in [
        "{}",
        r#"{"amount":{"value":"40.01","currency":"USD"}}"#,
        r#"{"purpose":"toner"}"#,
        r#"{"checkout":{"protocol":"ucp","reference":"chk_1"}}"#,
        r#"{"payee":{"domain":"www.shop.example"}}"#,
    ] {
        let place = world.ask(members);
        digests.insert(world.digest(place));
    }
    world.policy = super::world::policy(r#"{"version":4,"approval":{"threshold":"10.00","expires_in_seconds":600}}"#);
    let place = world.ask("{}");
    digests.insert(world.digest(place));
    assert_eq!(digests.len(), 6);
    assert!(digests.iter().all(|digest| digest.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64)));
}

#[test]
fn at_the_click_it_is_decided_again() {
    // A freeze wins.
    let mut world = World::new(STEP_UP);
    let place = world.ask("{}");
    world.is_paused.set(true);
    let digest = world.digest(place);
    world.approve(place, &person(1), &digest).unwrap();
    assert_eq!(world.told(place), "decided deny agent_paused");
    assert!(world.payments[place].has_ended() && world.payments[place].mandate().is_none());

    // The policy of now names who may approve, and what may be paid.
    let mut world = World::new(STEP_UP);
    let (first, second) = (world.ask("{}"), world.ask(r#"{"purpose":"toner"}"#));
    let approvers = format!(r#"{{"version":4,"approval":{{"approvers":["{}"]}},"limits":{{"per_payment":"39.99"}}}}"#, person(2));
    world.policy = super::world::policy(&approvers);
    let digest = world.digest(first);
    let refused = world.approve(first, &person(1), &digest).unwrap_err();
    assert_eq!((refused.kind, refused.code), (control::RefusalKind::Forbidden, "not_an_approver"));
    assert_eq!(code(world.decline(first, &person(1), &digest)), "not_an_approver");
    world.approve(first, &person(2), &digest).unwrap();
    assert_eq!(world.told(first), "decided deny over_payment_limit");

    // More has to be known first: the approval is superseded, and asked for anew once it is.
    world.policy = super::world::policy(r#"{"version":5,"approval":{"threshold":"10.00"},"intent":{"required":["category"]}}"#);
    let digest = world.digest(second);
    world.approve(second, &person(1), &digest).unwrap();
    assert_eq!(world.payments[second].state(), RequestState::AwaitingClarification);
    assert_eq!(code(world.approve(second, &person(1), &digest)), "approval_superseded");
    world.answer(second, &[("category", "office")]).unwrap();
    assert_eq!(world.payments[second].approvals().len(), 2);
    let digest = world.digest(second);
    world.approve(second, &person(1), &digest).unwrap();
    assert_eq!(world.told(second), "approved allow");
}

#[test]
fn step_up_reserves_nothing_and_the_budget_is_judged_at_the_click() {
    let mut world = World::new(r#"{"approval":{"threshold":"45.00"},"limits":{"per_payment":"100.00","windows":[{"kind":"day","max":"90.00"}]}}"#);
    let asked = world.ask(r#"{"amount":{"value":"60.00","currency":"USD"}}"#);
    let paid = world.ask(r#"{"amount":{"value":"30.01","currency":"USD"}}"#);
    assert_eq!(world.told(paid), "decided allow");
    let digest = world.digest(asked);
    world.approve(asked, &person(1), &digest).unwrap();
    assert_eq!(world.told(asked), "decided deny over_budget");
}

#[test]
fn questions_are_answered_in_parts_and_decided_on_once() {
    let mut world = World::new(ASKS);
    let place = world.ask("{}");
    assert_eq!(world.told(place), "awaiting_clarification clarify clarification_required");
    assert_eq!(world.payments[place].due(), Some(NOW.plus_seconds(86_400)));
    world.answer(place, &[("category", "office")]).unwrap();
    assert_eq!(world.payments[place].decided().len(), 1);
    let held = world.payments[place].clone();
    world.answer(place, &[("category", "office")]).unwrap();
    assert_eq!(world.payments[place], held, "the same words change nothing");
    world.answer(place, &[("quantity", "two")]).unwrap();
    let view = world.view(place);
    assert_eq!(text(&view, "decision/questions").matches("\"hint\"").count(), 1);
    assert_eq!(at(&view, "decision/questions").as_array().unwrap().len(), 1);
    world.answer(place, &[("quantity", "2")]).unwrap();
    assert_eq!(world.told(place), "decided allow");
    let view = world.view(place);
    assert_eq!(text(&view, "intent/slots"), r#"{"category":"office","quantity":2}"#);
    assert_eq!(text(&view, "intent/coverage/quantity"), r#"["user"]"#);
    assert_eq!(at(&view, "intent/clarifications").as_array().unwrap().len(), 2);
    world.answer(place, &[("quantity", "2")]).unwrap();
    assert_eq!(code(world.answer(place, &[("quantity", "3")])), "not_awaiting_clarification");
}

#[test]
fn answers_are_refused() {
    let mut world = World::new(ASKS);
    let place = world.ask("{}");
    assert_eq!(code(world.answer(place, &[("notes", "x")])), "unknown_question");
    assert_eq!(code(world.answer(place, &[("category", "a"), ("category", "b")])), "repeated");
    assert_eq!(code(world.answer(place, &[("category", &"a".repeat(2001))])), "too_long");
    world.now = NOW.plus_seconds(86_400);
    assert_eq!(code(world.answer(place, &[("category", "a")])), "clarification_expired");
    world.wait(0);
    assert_eq!(world.told(place), "expired clarify clarification_required");
    assert!(world.payments[place].has_ended());
}

#[test]
fn after_the_last_round_it_is_denied() {
    let mut world = World::new(r#"{"intent":{"required":["quantity"],"max_rounds":2}}"#);
    let place = world.ask(r#"{"intent":{"slots":{"items":[{"description":"a","quantity":3}]}}}"#);
    for quantity in ["1", "2"] {
        assert_eq!(world.payments[place].state(), RequestState::AwaitingClarification);
        // It is not the sum of the items', so it is asked for again.
        world.answer(place, &[("quantity", quantity)]).unwrap();
    }
    assert_eq!(world.told(place), "decided deny clarification_exhausted");
}

#[test]
fn a_hand_off_voids_the_mandate_and_waits_for_the_order() {
    let mut world = World::new("{}");
    let place = world.ask("{}");
    assert_eq!(code(world.hand_off(place, r#"{"continue_url":"https://evilshop.example/pay"}"#)), "payee_mismatch");
    assert_eq!(code(world.hand_off(place, r#"{"continue_url":"http://shop.example/pay"}"#)), "url_malformed");
    assert_eq!(world.hand_off(place, PAGE), Ok(Reported::InRecord));
    let payment = &world.payments[place];
    assert_eq!((payment.state(), payment.mandate().unwrap().state), (RequestState::HandedOff, MandateState::Void));
    assert_eq!((payment.counted(), payment.due(), payment.outcome()), (None, Some(NOW.plus_seconds(900)), Outcome::HandedOff));
    let held = payment.clone();
    world.hand_off(place, PAGE).unwrap();
    assert_eq!(world.payments[place], held);
    assert_eq!(code(world.hand_off(place, r#"{"continue_url":"https://shop.example/other"}"#)), "handoff_url_differs");
    assert_eq!(code(world.consume(place, r#"{"id":"o-1"}"#)), "mandate_void");
    world.hand_off(place, &page_with_order("o-1", "40.01")).unwrap();
    let view = world.view(place);
    assert_eq!((text(&view, "state"), text(&view, "outcome/status")), ("completed".into(), "completed".into()));
    assert_eq!((text(&view, "handoff/order/id"), text(&view, "handoff/order/deviation")), ("o-1".into(), "over_amount".into()));
    assert!(world.payments[place].has_ended() && !world.payments[place].is_paid());
    let held = world.payments[place].clone();
    world.hand_off(place, &page_with_order("o-1", "40.01")).unwrap();
    assert_eq!(world.payments[place], held);
    assert_eq!(code(world.hand_off(place, &page_with_order("o-2", "40.00"))), "handoff_order_differs");
}

#[test]
fn a_hand_off_without_an_order_ends_and_takes_a_late_one() {
    let mut world = World::new("{}");
    let place = world.ask("{}");
    world.hand_off(place, PAGE).unwrap();
    world.wait(900);
    assert_eq!((world.payments[place].state(), world.payments[place].has_ended()), (RequestState::HandedOff, true));
    assert_eq!(world.hand_off(place, PAGE), Ok(Reported::InRecord));
    let Ok(Reported::Late(members)) = world.hand_off(place, &page_with_order("o-1", "39.99")) else { panic!("an order after the end is late") };
    assert_eq!((text(&members, "order/id"), text(&members, "order/total/value")), ("o-1".into(), "39.99".into()));
    assert!(record::Record::new(record::Kind::Order, "rec_2", "org_1", &[], members).unwrap().text().is_ok());
    assert_eq!(world.hand_off(place, &page_with_order("o-1", "39.99")), Ok(Reported::InRecord));
    assert_eq!(world.payments[place].state(), RequestState::Completed);
    assert_eq!(world.payments[place].ended_at(), Some(NOW.plus_seconds(900)));
}

#[test]
fn only_what_may_be_paid_is_handed_off() {
    let mut world = World::new(r#"{"approval":{"threshold":"50.00"},"intent":{"required":["category"]}}"#);
    let asking = world.ask("{}");
    assert_eq!(code(world.hand_off(asking, PAGE)), "not_allowed_yet");
    let waiting = world.ask(r#"{"amount":{"value":"60.00","currency":"USD"},"intent":{"slots":{"category":"a"}}}"#);
    assert_eq!(code(world.hand_off(waiting, PAGE)), "not_allowed_yet");
    let allowed = world.ask(r#"{"intent":{"slots":{"category":"a"}}}"#);
    world.consume(allowed, r#"{"id":"o-1"}"#).unwrap();
    assert_eq!(code(world.hand_off(allowed, PAGE)), "mandate_consumed");
    let late = world.ask(r#"{"intent":{"slots":{"category":"b"}}}"#);
    world.wait(3600);
    assert_eq!(code(world.hand_off(late, PAGE)), "not_payable");
}

#[test]
fn a_rail_that_cannot_pay_hands_off() {
    let mut world = World::new(r#"{"finality_rules":{}}"#);
    let reference = r#"{"checkout":{"protocol":"x402","reference":"https://shop.example/weather"},"complete_checkout":true}"#;
    let place = world.ask(reference);
    let view = world.view(place);
    assert_eq!(text(&view, "state"), "handed_off", "{}", text(&view, "decision"));
    assert_eq!((text(&view, "handoff/rail"), text(&view, "handoff/reason")), ("x402".into(), "rail_unavailable".into()));
    assert_eq!((text(&view, "handoff/continue_url"), text(&view, "mandate")), ("https://shop.example/weather".into(), "null".into()));
    assert_eq!(text(&view, "completion"), r#"{"state":"failed","error":"not_paid"}"#);
    assert_eq!((world.payments[place].counted(), world.payments[place].outcome()), (None, Outcome::Failed));

    world.rail.fails.store(true, Ordering::Relaxed);
    let place = world.ask("{}");
    let view = world.view(place);
    assert_eq!((text(&view, "handoff/rail"), text(&view, "handoff/reason")), ("test_card".into(), "rail_error".into()));
    assert_eq!((text(&view, "handoff/continue_url"), text(&view, "handoff/next_step")), ("null".into(), "Ask again later.".into()));
    world.hand_off(place, &page_with_order("o-1", "40.00")).unwrap();
    let view = world.view(place);
    assert_eq!((text(&view, "state"), text(&view, "handoff/order/id")), ("completed".into(), "o-1".into()));
    assert_eq!((world.payments[place].outcome(), world.payments[place].has_ended()), (Outcome::Live, true));
}

#[test]
fn a_mandate_is_used_once_and_never_above_its_amount() {
    let mut world = World::new("{}");
    let place = world.ask("{}");
    let order = |id: &str, value: &str, currency: &str| format!(r#"{{"id":"{id}","total":{{"value":"{value}","currency":"{currency}"}}}}"#);
    assert_eq!(code(world.consume(place, &order("o-1", "40.01", "USD"))), "over_mandate");
    assert_eq!(code(world.consume(place, &order("o-1", "4000", "JPY"))), "currency_mismatch");
    world.consume(place, &order("o-1", "38.50", "USD")).unwrap();
    let held = world.payments[place].clone();
    assert_eq!((held.state(), held.has_ended(), held.is_paid()), (RequestState::Completed, true, true));
    assert_eq!(held.counted().unwrap().amount, usd("40.00"));
    let view = world.view(place);
    assert_eq!(text(&view, "mandate/ledger"), r#"{"authorised":"40.00","spent":"38.50","reserved":"0.00","refunded":"0.00"}"#);
    assert_eq!((text(&view, "order/id"), text(&view, "order/completed_at")), ("o-1".into(), NOW.to_string()));
    world.consume(place, &order("o-1", "38.50", "USD")).unwrap();
    assert_eq!(world.payments[place], held);
    assert_eq!(code(world.consume(place, r#"{"id":"o-2"}"#)), "mandate_consumed");

    let bound = world.ask(r#"{"checkout":{"protocol":"ucp","reference":"chk_1"}}"#);
    assert_eq!(code(world.consume(bound, r#"{"id":"o-9","checkout_id":"chk_2"}"#)), "checkout_mismatch");
    world.consume(bound, r#"{"id":"o-9","checkout_id":"chk_1"}"#).unwrap();

    let late = world.ask(r#"{"purpose":"toner"}"#);
    world.now = NOW.plus_seconds(3600);
    assert_eq!(code(world.consume(late, r#"{"id":"o-3"}"#)), "mandate_expired");
    world.wait(0);
    assert_eq!(code(world.consume(late, r#"{"id":"o-3"}"#)), "mandate_expired");
}

#[test]
fn what_is_open_can_be_withdrawn() {
    let mut world = World::new(r#"{"approval":{"threshold":"50.00"},"intent":{"required":["category"]}}"#);
    let asking = world.ask("{}");
    let waiting = world.ask(r#"{"amount":{"value":"60.00","currency":"USD"},"intent":{"slots":{"category":"a"}}}"#);
    let allowed = world.ask(r#"{"intent":{"slots":{"category":"a"}}}"#);
    for place in [asking, waiting, allowed] {
        world.void(place, VoidReason::ConsentRevoked);
        let view = world.view(place);
        assert_eq!((text(&view, "state"), text(&view, "outcome/status")), ("expired".into(), "void".into()));
        assert_eq!(text(&view, "outcome/reason"), "consent_revoked");
        assert!(world.payments[place].has_ended() && world.payments[place].counted().is_none());
        let held = world.payments[place].clone();
        world.void(place, VoidReason::Withdrawn);
        assert_eq!(world.payments[place], held);
    }
    assert_eq!(code(world.approve(waiting, &person(1), &world.digest(waiting))), "approval_void");
    assert_eq!(world.payments[allowed].mandate().unwrap().void_reason, Some(VoidReason::ConsentRevoked));
}
