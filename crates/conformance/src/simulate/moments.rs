//! When the simulation's steps happen, and how much is asked for then: most faults of time and budget sit at an edge.

use control::{Instant, decision::WindowSpend, ids::RequestId, window::WindowKind};

use super::{scene, world::World};

/// Whom a moment concerns.
pub(super) enum Concerned {
    Payment(usize, RequestId),
    Member(usize, usize),
}

impl World {
    /// Lets time pass, now and then to a moment at which something changes, or just before or behind it.
    pub(super) fn pass_time(&mut self) -> Option<Concerned> {
        let moment = match self.chance.below(200) {
            0..20 => self.a_due_time(),
            20..25 => self.a_consents_end(),
            25..35 => self.a_windows_edge(),
            35..40 => {
                self.now = self.now.plus_millis(-i64::from(self.chance.below(300_000)));
                return None;
            }
            40 => {
                self.now = self.now.plus_seconds(self.chance.below(86_400));
                return None;
            }
            41..70 => return None,
            _ => {
                self.now = self.now.plus_seconds(self.chance.below(360));
                return None;
            }
        };
        let (at, concerned) = moment.filter(|(at, _)| *at > self.now && at.since(self.now) < 5 * 86_400_000)?;
        let jitter = [-400, -1, 0, 0, 1][self.chance.index(5)];
        self.now = at.plus_millis(jitter);
        Some(concerned)
    }

    fn a_due_time(&mut self) -> Option<(Instant, Concerned)> {
        let first = |org: usize| self.orgs[org].due.first().map(|(at, id)| (*at, Concerned::Payment(org, id.clone())));
        (0..self.orgs.len()).filter_map(first).min_by_key(|(at, _)| *at)
    }

    fn a_consents_end(&mut self) -> Option<(Instant, Concerned)> {
        let (org, place) = self.any_member();
        let at = self.member(org, place)?.consent.as_ref()?.due()?;
        Some((at, Concerned::Member(org, place)))
    }

    /// The end of a calendar window, or the moment at which an amount leaves a rolling one.
    fn a_windows_edge(&mut self) -> Option<(Instant, Concerned)> {
        let (org, place) = self.any_member();
        let spend = self.spend_of(org, place)?;
        let spend = self.chance.pick(&spend)?;
        let at = match spend.kind {
            WindowKind::Rolling { seconds } => self.chance.pick(&spend.entries)?.0.plus_seconds(seconds),
            _ => spend.window.end,
        };
        Some((at, Concerned::Member(org, place)))
    }

    fn any_member(&mut self) -> (usize, usize) {
        let org = self.chance.index(self.orgs.len());
        (org, self.chance.index(self.orgs[org].members.len()))
    }

    fn spend_of(&self, org: usize, place: usize) -> Option<Vec<WindowSpend>> {
        let signed = self.member(org, place)?.policy.as_ref().ok()?;
        Some(self.orgs[org].books.spend(&signed.policy, self.now))
    }

    /// What the tightest window has room for, in units, if that is not more than one payment may be.
    pub(super) fn room(&self, org: usize, place: usize) -> Option<u32> {
        let spend = self.spend_of(org, place)?;
        let signed = self.member(org, place)?.policy.as_ref().ok()?;
        let budgets = signed.policy.budgets(self.now);
        let room = budgets.iter().zip(&spend).map(|(budget, spend)| budget.max.units() - spend.counted.units()).min()?;
        u32::try_from(room).ok().filter(|room| (1..=scene::PER_PAYMENT).contains(room))
    }
}
