//! The simulation of the control plane's core holds, meets what it is there for, and repeats itself.

use conformance::simulate::simulate;

#[test]
fn every_rule_holds() {
    for seed in 1..=3 {
        let tally = simulate(seed, 20_000).unwrap_or_else(|violation| panic!("{violation}"));
        // A world in which nothing happens would show nothing.
        let few = [tally.used, tally.handed_off, tally.approved, tally.clarified, tally.replayed].into_iter().min();
        assert!(few.is_some_and(|few| few >= 50) && tally.mandates >= 500 && tally.refused >= 1000, "{tally:?}");
    }
}

#[test]
fn a_seed_draws_the_same_world() {
    let run = |seed| simulate(seed, 1000);
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}
