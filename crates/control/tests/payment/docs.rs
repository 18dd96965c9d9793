//! `docs/payment.md` says what the code does.

use control::{
    decision::Outcome,
    mandate::{MANDATE_TTL_SECONDS, MandateState, VoidReason},
    payment::{ApprovalState, CLARIFICATION_TTL_SECONDS, HAND_OFF_SECONDS, RequestState},
};

const DOCS: &str = include_str!("../../../../docs/payment.md");
const SOURCES: [&str; 4] = [
    include_str!("../../src/payment/answers.rs"),
    include_str!("../../src/payment/approval.rs"),
    include_str!("../../src/payment/hand_off.rs"),
    include_str!("../../src/payment/order.rs"),
];

/// The first cells of the table under a heading.
fn table(heading: &str) -> Vec<&'static str> {
    let section = DOCS.split(&format!("## {heading}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
    section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

#[test]
fn states_and_outcomes() {
    assert_eq!(table("States"), RequestState::ALL.iter().map(|state| state.as_str()).collect::<Vec<_>>());
    let mut outcomes = table("What later requests see of it");
    outcomes.sort_unstable();
    let mut all: Vec<_> = Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect();
    all.sort_unstable();
    assert_eq!(outcomes, all);
    let listed = ApprovalState::ALL.iter().map(|state| state.as_str());
    let listed = listed.chain(MandateState::ALL.iter().map(|state| state.as_str())).chain(VoidReason::ALL.iter().map(|reason| reason.as_str()));
    for name in listed {
        assert!(DOCS.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn times() {
    assert_eq!((MANDATE_TTL_SECONDS, CLARIFICATION_TTL_SECONDS, HAND_OFF_SECONDS), (60 * 60, 24 * 60 * 60, 15 * 60));
}

/// The codes with which the sources refuse: the first text behind each refusal that is one word.
fn codes() -> Vec<&'static str> {
    let is_code = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let refusals = SOURCES.iter().flat_map(|source| source.split("Refusal::").skip(1));
    let of = |refusal: &'static str| {
        let call = refusal.split(';').next()?;
        let is_made = ["conflict(", "invalid(", "new("].iter().any(|name| call.starts_with(name));
        // A pointer's member is no code.
        let is_member = |text: &&str| matches!(*text, "continue_url" | "question_id" | "answer");
        call.split('"').skip(1).step_by(2).filter(|_| is_made).find(|text| is_code(text) && !is_member(text))
    };
    let mut codes: Vec<_> = refusals.filter_map(of).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn every_refusal_is_in_the_table() {
    let mut listed = table("Refusals");
    listed.sort_unstable();
    assert_eq!(listed, codes());
}
