//! The simulation of the control plane's core: seeded agents, people and payees, policies that change, a clock that jumps, a
//! rail that fails. After every step what must always hold is checked; a seed that fails does so again.
//!
//! The world is in memory and naive on purpose: budgets are added up anew for each decision, so that what the core and the
//! store make quick is held against what is plain.

mod archive;
mod books;
mod chance;
mod invariants;
mod moments;
mod org;
mod scene;
mod steps;
mod world;

use std::fmt;

pub use invariants::Broken;
pub use world::Tally;

use invariants::{broken, require};
use world::World;

/// The auditor takes the new records every so many steps.
const AUDITS: u64 = 1000;
/// One bundle is verified every so many steps.
const BUNDLES: u64 = 100;
/// What no rule reaches any more is forgotten every so many steps.
const FORGETS: u64 = 100;

/// A rule that did not hold in a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The seed.
    pub seed: u64,
    /// The step, from 1 on; 0 for the making of the world.
    pub step: u64,
    /// What did not hold.
    pub broken: Broken,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, step, broken } = self;
        write!(f, "seed {seed}, step {step}: {}: {}", broken.check, broken.found)
    }
}

impl std::error::Error for Violation {}

/// Runs so many steps from a seed, and checks after each what must always hold. At the end time passes until every payment
/// has ended, and each has one record.
pub fn simulate(seed: u64, steps: u64) -> Result<Tally, Violation> {
    let at = |step: u64| move |broken| Violation { seed, step, broken };
    let mut world = World::new(seed).map_err(at(0))?;
    for step in 1..=steps {
        world.step().and_then(|()| world.check(step)).map_err(at(step))?;
    }
    world.close().map_err(at(steps))?;
    Ok(world.tally)
}

impl World {
    /// What is checked now and then.
    fn check(&mut self, step: u64) -> Result<(), Broken> {
        for org in &mut self.orgs {
            if step.is_multiple_of(AUDITS) {
                org.archive.audit(&mut self.chance).map_err(|found| broken("the chain and the log verify", found))?;
            }
            if step.is_multiple_of(BUNDLES) {
                org.archive.verify_one(&mut self.chance).map_err(|found| broken("a record verifies offline", found))?;
            }
            if step.is_multiple_of(FORGETS) {
                org.forget(self.now);
            }
        }
        Ok(())
    }

    /// Lets time pass until every payment has ended.
    fn close(&mut self) -> Result<(), Broken> {
        while let Some(last) = self.orgs.iter().filter_map(|org| org.due.last()).map(|(at, _)| *at).max() {
            self.now = self.now.max(last);
            self.run_due()?;
        }
        let mut records = 0;
        for org in &mut self.orgs {
            require(org.open.is_empty(), "one record for each request", || format!("{} are open still", org.open.len()))?;
            org.archive.audit(&mut self.chance).map_err(|found| broken("the chain and the log verify", found))?;
            records += org.archive.len();
        }
        require(records == self.tally.records, "each record is in the log", || format!("{records} of {}", self.tally.records))
    }
}
