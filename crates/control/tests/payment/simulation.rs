//! What must hold whatever happens in whatever order: an agent that asks, answers, hands off and repeats itself, people who
//! click twice, a payee that reports orders, a rail that fails, a freeze, and time that passes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
};

use control::{
    Money, Refusal,
    decision::DecisionResult,
    mandate::{MandateState, VoidReason},
    payment::{Payment, Reported, RequestState},
};
use lcp::{Value, json};
use proptest::prelude::*;
use record::{Kind, Record};

use super::world::{LINKS, World, person};

/// One thing that happens. Places are taken modulo the number of payments.
#[derive(Clone, Debug)]
enum Step {
    Ask {
        amount: u32,
        what: usize,
    },
    Answer {
        place: usize,
        slot: usize,
        text: usize,
    },
    Approve {
        place: usize,
        by: u8,
        is_stale: bool,
    },
    Decline {
        place: usize,
        by: u8,
    },
    HandOff {
        place: usize,
        page: u8,
        order: Option<u8>,
    },
    Consume {
        place: usize,
        order: u8,
        cents: u32,
    },
    Void {
        place: usize,
    },
    Pause {
        is_paused: bool,
    },
    RailFails {
        fails: bool,
    },
    Wait {
        seconds: u32,
    },
    /// The clock goes on, and nothing that is due was done yet.
    Late {
        seconds: u32,
    },
}

const POLICIES: [&str; 5] = [
    r#"{"limits":{"per_payment":"60.00","windows":[{"kind":"day","max":"100.00"},{"kind":"rolling","seconds":5400,"max":"80.00"}]}}"#,
    r#"{"refill_policy":"never","approval":{"threshold":"20.00","expires_in_seconds":900},
        "limits":{"per_payment":"60.00","windows":[{"kind":"week","max":"120.00"}]}}"#,
    r#"{"approval":{"threshold":"30.00","expires_in_seconds":60},"intent":{"required":["category","quantity"],"max_rounds":2},
        "limits":{"per_payment":"60.00","windows":[{"kind":"day","max":"90.00"}]},"duplicate_window_seconds":600}"#,
    r#"{"shadow":true,"intent":{"required":["quantity"]},"limits":{"per_payment":"20.00","windows":[{"kind":"day","max":"30.00"}]}}"#,
    r#"{"retry_policy":{"max_attempts":3,"window_seconds":3600,"same_amount_only":true},
        "approval":{"approvers":["usr_01040g2081040g2081040g2081"],"threshold":"5.00"},"limits":{"per_payment":"60.00","windows":[{"kind":"month","max":"70.00"}]}}"#,
];

const WHATS: [&str; 6] = [
    r#""purpose":"paper""#,
    r#""purpose":"toner","complete_checkout":true"#,
    r#""checkout":{"protocol":"ucp","reference":"chk_1"}"#,
    r#""checkout":{"protocol":"x402","reference":"https://shop.example/weather"}"#,
    r#""intent":{"text":"ten","slots":{"category":"office","quantity":2}}"#,
    r#""payee":{"domain":"other.example"}"#,
];

fn step() -> impl Strategy<Value = Step> {
    let place = || 0..64_usize;
    prop_oneof![
        6 => (1..7_000_u32, 0..WHATS.len()).prop_map(|(amount, what)| Step::Ask { amount, what }),
        3 => (place(), 0..3_usize, 0..5_usize).prop_map(|(place, slot, text)| Step::Answer { place, slot, text }),
        4 => (place(), 1..4_u8, prop::bool::weighted(0.1)).prop_map(|(place, by, is_stale)| Step::Approve { place, by, is_stale }),
        1 => (place(), 1..4_u8).prop_map(|(place, by)| Step::Decline { place, by }),
        3 => (place(), 0..2_u8, prop::option::of(0..2_u8)).prop_map(|(place, page, order)| Step::HandOff { place, page, order }),
        3 => (place(), 0..2_u8, 0..7_000_u32).prop_map(|(place, order, cents)| Step::Consume { place, order, cents }),
        1 => place().prop_map(|place| Step::Void { place }),
        1 => any::<bool>().prop_map(|is_paused| Step::Pause { is_paused }),
        1 => any::<bool>().prop_map(|fails| Step::RailFails { fails }),
        2 => prop_oneof![1..120_u32, 800..4_000_u32, 80_000..90_000_u32].prop_map(|seconds| Step::Wait { seconds }),
        1 => (1..4_000_u32).prop_map(|seconds| Step::Late { seconds }),
    ]
}

/// The world, the texts that were sealed so far, and the payments whose order came later.
struct Run {
    world: World,
    sealed: BTreeMap<usize, String>,
    late: BTreeSet<usize>,
}

impl Run {
    fn new(policy: &str) -> Self {
        Self { world: World::new(policy), sealed: BTreeMap::new(), late: BTreeSet::new() }
    }

    /// Does one step; the payment that it was of, and what came of it.
    fn take(&mut self, step: &Step) -> Option<(usize, Result<Reported, Refusal>)> {
        let world = &mut self.world;
        let count = world.payments.len();
        let at = |place: usize| (count > 0).then(|| place % count.max(1));
        let plain = |done: Result<(), Refusal>| done.map(|()| Reported::InRecord);
        Some(match *step {
            Step::Ask { amount, what } => {
                let members = format!(r#"{{"amount":{{"value":"{}.{:02}","currency":"USD"}},{}}}"#, amount / 100, amount % 100, WHATS[what]);
                (world.ask(&members), Ok(Reported::InRecord))
            }
            Step::Answer { place, slot, text } => {
                let (slot, text) = (["category", "quantity", "notes"][slot], ["office", "2", "3", "two", "\u{a0}"][text]);
                (at(place)?, plain(world.answer(at(place)?, &[(slot, text)])))
            }
            Step::Approve { place, by, is_stale } => {
                let place = at(place)?;
                let digest = world.payments[place].approval().map_or_else(String::new, |approval| approval.digest.clone());
                let digest = if is_stale { format!("{digest}0") } else { digest };
                (place, plain(world.approve(place, &person(by), &digest)))
            }
            Step::Decline { place, by } => {
                let place = at(place)?;
                let digest = world.payments[place].approval().map_or_else(String::new, |approval| approval.digest.clone());
                (place, plain(world.decline(place, &person(by), &digest)))
            }
            Step::HandOff { place, page, order } => {
                let order = order.map(|order| format!(r#","order":{{"id":"o-{order}","total":{{"value":"1.00","currency":"USD"}}}}"#));
                let report = format!(r#"{{"continue_url":"https://shop.example/{page}"{}}}"#, order.unwrap_or_default());
                (at(place)?, world.hand_off(at(place)?, &report))
            }
            Step::Consume { place, order, cents } => {
                let total = format!(r#"{{"value":"{}.{:02}","currency":"USD"}}"#, cents / 100, cents % 100);
                (at(place)?, plain(world.consume(at(place)?, &format!(r#"{{"id":"o-{order}","total":{total}}}"#))))
            }
            Step::Void { place } => {
                world.void(at(place)?, VoidReason::Withdrawn);
                (at(place)?, Ok(Reported::InRecord))
            }
            Step::Pause { is_paused } => {
                world.is_paused.set(is_paused);
                return None;
            }
            Step::RailFails { fails } => {
                world.rail.fails.store(fails, Ordering::Relaxed);
                return None;
            }
            Step::Wait { seconds } => {
                world.wait(seconds);
                return None;
            }
            Step::Late { seconds } => {
                world.now = world.now.plus_seconds(seconds);
                return None;
            }
        })
    }

    /// Whatever holds after each step.
    fn check(&self, before: &[Payment]) -> Result<(), TestCaseError> {
        let is_changed = |(place, payment): &(usize, &Payment)| before.get(*place) != Some(*payment);
        for (place, payment) in self.world.payments.iter().enumerate().filter(is_changed) {
            self.sealed_once(place, payment)?;
            one_mandate(before.get(place), payment)?;
            in_one_state(payment)?;
            without_secrets(payment)?;
            stored_and_read(payment)?;
        }
        self.world.within_budget()
    }

    fn sealed_once(&self, place: usize, payment: &Payment) -> Result<(), TestCaseError> {
        let members = payment.record_members();
        let text = Record::new(Kind::Payment, payment.record_id().as_str(), payment.org().as_str(), &[], members).unwrap().text();
        prop_assert!(text.is_ok(), "{text:?}");
        match self.sealed.get(&place) {
            // Nothing changes what is sealed, but for an order that came late, which has a record of its own.
            Some(_) if self.late.contains(&place) => prop_assert_eq!(payment.state(), RequestState::Completed),
            Some(sealed) => prop_assert_eq!(sealed, &text.unwrap()),
            None => prop_assert_eq!(payment.due().is_none(), payment.has_ended(), "what is open has a time at which it ends"),
        }
        Ok(())
    }

    fn seal(&mut self) {
        for (place, payment) in self.world.payments.iter().enumerate().filter(|(_, payment)| payment.has_ended()) {
            let record = Record::new(Kind::Payment, payment.record_id().as_str(), payment.org().as_str(), &[], payment.record_members()).unwrap();
            self.sealed.entry(place).or_insert_with(|| record.text().unwrap());
        }
    }
}

impl World {
    /// What counts stays within each budget, in every window that was ever judged.
    fn within_budget(&self) -> Result<(), TestCaseError> {
        if self.policy.shadow {
            return Ok(());
        }
        for counted in self.payments.iter().filter_map(Payment::counted) {
            for limit in &self.policy.limits.windows {
                let window = limit.kind.at(&self.policy.zone, counted.at);
                let sum = self.counted_in(window, limit.max.currency());
                prop_assert!(sum.is_within(&limit.max) == Some(true), "{sum} in {} of {}", limit.kind, limit.max);
            }
        }
        Ok(())
    }
}

/// A mandate is issued once, used once while it is good, and never changes what it was issued for.
fn one_mandate(before: Option<&Payment>, payment: &Payment) -> Result<(), TestCaseError> {
    let issued = payment.events().iter().filter(|event| event.what.as_str() == "mandate_issued").count();
    prop_assert_eq!(issued, usize::from(payment.mandate().is_some()));
    let Some(mandate) = payment.mandate() else { return Ok(()) };
    prop_assert_eq!(&mandate.amount, &payment.request().amount);
    if let Some(spent) = &mandate.spent {
        prop_assert_eq!(spent.is_within(&mandate.amount), Some(true));
        prop_assert!(mandate.over_at.is_some_and(|at| at < mandate.expires_at));
    }
    if let Some(held) = before.and_then(Payment::mandate) {
        prop_assert_eq!((&held.id, &held.digest, held.expires_at), (&mandate.id, &mandate.digest, mandate.expires_at));
        prop_assert!(held.state == mandate.state || held.state == MandateState::Issued, "{} became {}", held.state, mandate.state);
    }
    Ok(())
}

/// State, mandate and what counts agree.
fn in_one_state(payment: &Payment) -> Result<(), TestCaseError> {
    let mandate = payment.mandate().map(|mandate| mandate.state);
    let result = payment.decision().unwrap().result;
    let pays = matches!(result, DecisionResult::Allow | DecisionResult::Observe);
    prop_assert_eq!(payment.mandate().is_some() || payment.hand_off_made().is_some(), pays, "who is not allowed gets nothing");
    let is_approval_pending = payment.approval().is_some_and(|approval| approval.state.as_str() == "pending");
    prop_assert_eq!(is_approval_pending, payment.state() == RequestState::AwaitingApproval);
    match payment.state() {
        RequestState::Decided => prop_assert!(mandate == Some(MandateState::Issued) || payment.has_ended()),
        RequestState::Approved => prop_assert_eq!(mandate, Some(MandateState::Issued)),
        RequestState::AwaitingApproval => prop_assert_eq!((result, mandate), (DecisionResult::StepUp, None)),
        RequestState::AwaitingClarification => prop_assert_eq!((result, mandate), (DecisionResult::Clarify, None)),
        RequestState::HandedOff => prop_assert!(matches!(mandate, None | Some(MandateState::Void))),
        RequestState::Declined => prop_assert!(payment.has_ended() && mandate.is_none()),
        RequestState::Expired => prop_assert!(payment.has_ended()),
        RequestState::Completed => prop_assert!(payment.has_ended() && (payment.is_paid() == (mandate == Some(MandateState::Consumed)))),
        RequestState::Executed => prop_assert!(false, "nothing is sent from here"),
    }
    let is_open = mandate.is_some_and(|state| matches!(state, MandateState::Issued | MandateState::Consumed));
    let keeps = payment.mandate().is_some_and(|mandate| mandate.terms.refill_policy.as_str() == "never");
    let counted = payment.counted().map(|counted| counted.amount);
    prop_assert_eq!(counted, (is_open || keeps).then(|| payment.request().amount.clone()) as Option<Money>);
    Ok(())
}

/// The token is nowhere but in the secrets and the view of who may see it, and nowhere once the mandate is over.
fn without_secrets(payment: &Payment) -> Result<(), TestCaseError> {
    let text = |object: lcp::Object| json::write(&object.into());
    let mut shown = vec![text(payment.record_members()), text(payment.to_stored()), text(payment.view(LINKS, false)), format!("{payment:?}")];
    if payment.mandate().is_none_or(|mandate| mandate.state != MandateState::Issued) {
        shown.push(text(payment.view(LINKS, true)));
        shown.push(payment.secrets().map(text).unwrap_or_default());
    } else {
        prop_assert!(text(payment.view(LINKS, true)).contains("tok_secret"));
    }
    prop_assert!(shown.iter().all(|text| !text.contains("tok_secret")));
    Ok(())
}

fn stored_and_read(payment: &Payment) -> Result<(), TestCaseError> {
    let through = |object: lcp::Object| json::parse(&json::write(&object.into()), 32).unwrap();
    let mut read = Payment::from_stored(&through(payment.to_stored())).unwrap();
    if let Some(secrets) = payment.secrets() {
        prop_assert!(read.restore_secrets(&through(secrets)).is_some());
    } else {
        prop_assert!(read.restore_secrets(&Value::Null).is_none());
    }
    prop_assert_eq!(&read, payment);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn invariants(policy in prop::sample::select(&POLICIES[..]), steps in prop::collection::vec(step(), 1..50)) {
        let mut run = Run::new(policy);
        for step in steps {
            let before = run.world.payments.clone();
            let done = run.take(&step);
            if let Some((place, Ok(Reported::Late(_)))) = done {
                prop_assert!(run.sealed.contains_key(&place) && run.late.insert(place), "an order is late once");
            }
            run.check(&before)?;
            if let Some((place, Ok(_))) = done {
                // The same once more changes nothing, but for asking, and for a word that was not of the question's form.
                let held = run.world.payments.clone();
                if !matches!(step, Step::Ask { .. }) {
                    run.take(&step).unwrap().1.unwrap();
                    prop_assert_eq!(&run.world.payments[place], &held[place], "{:?}", step);
                }
            }
            run.seal();
        }
    }
}
