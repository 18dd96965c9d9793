//! The pure decision beside Cedar's on the same question: who may pay whom, how much, and what stands against it.

mod cedar;
mod ours;

use std::{hint::black_box, time::Instant};

use crate::table::{median, print, row, time, times};

/// How often each is measured, and how many decisions one measurement takes.
const SAMPLES: usize = 60;
const DECISIONS: u32 = 2000;

/// One question that both decide.
pub(crate) struct Case {
    /// What is to come of it.
    pub(crate) name: &'static str,
    /// The payee's domain.
    pub(crate) payee: String,
    /// How much, in cents.
    pub(crate) cents: i64,
}

/// What both lists hold: the payees that are paid, and those that never are.
pub(crate) fn allowed() -> Vec<String> {
    (0..40).map(|number| format!("shop-{number:02}.example")).collect()
}
pub(crate) fn denied() -> Vec<String> {
    (0..20).map(|number| format!("casino-{number:02}.example")).collect()
}
pub(crate) fn screened() -> Vec<String> {
    (0..20).map(|number| format!("sanctioned-{number:02}.example")).collect()
}

/// Words that no purpose may hold.
pub(crate) const TERMS: [&str; 8] = ["gift card", "wire to", "crypto", "bearer bond", "lottery", "prepaid card", "cash advance", "money order"];

/// What is bought.
pub(crate) const PURPOSE: &str = "Five reams of A4 printer paper for the office";

fn cases() -> Vec<Case> {
    vec![
        Case { name: "allow", payee: "shop-27.example".into(), cents: 4000 },
        Case { name: "step_up", payee: "shop-27.example".into(), cents: 6000 },
        Case { name: "deny", payee: "casino-11.example".into(), cents: 25_000 },
    ]
}

/// Prints the table.
pub(crate) fn measure() {
    let mut rows = vec![row([&"result", &"`control::decide`", &"Cedar `is_authorized`", &"ratio", &"with its request built", &"ratio"])];
    let engine = cedar::Engine::new();
    for case in cases() {
        let (facts, question) = (ours::Facts::of(&case), cedar::Engine::question(&case));
        // Both find the same result, for the same reasons.
        assert_eq!(facts.decided(), case.name);
        assert_eq!(engine.decided(&question), case.name);
        assert_eq!(facts.found(), engine.found(&question), "{}", case.name);
        let (mut here, mut there, mut built) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..SAMPLES {
            here.push(per_call(|| facts.decide()));
            there.push(per_call(|| engine.decide(&question)));
            built.push(per_call(|| engine.decide(&cedar::Engine::question(&case))));
        }
        let (here, there, built) = (median(&here), median(&there), median(&built));
        rows.push(row([&case.name, &time(here), &time(there), &times(there, here), &time(built), &times(built, here)]));
    }
    println!("One decision, the median of {SAMPLES} times {DECISIONS}, {} checks here and {} policies there:\n", ours::checks(), engine.policies());
    print(&rows);
}

/// Seconds for one call.
fn per_call<T>(mut call: impl FnMut() -> T) -> f64 {
    let begun = Instant::now();
    for _ in 0..DECISIONS {
        black_box(call());
    }
    begun.elapsed().as_secs_f64() / f64::from(DECISIONS)
}
