//! The ledger: what counts in budgets. Sums are of [`Money`], made here and never in SQL; the totals that are kept
//! beside the entries are a cache, so that a decision does not add up a month.

use control::{
    Instant, Money,
    decision::{Budget, WindowSpend},
    ids::{OrgId, PolicyId, RequestId},
    window::{Window, WindowKind},
};
use rusqlite::params;

use crate::{Reader, StoreError, Tx, sql::Flag};

/// The most entries of a rolling window that are given.
const MAX_ENTRIES: u32 = 1000;

/// Entries that count together: of one organization, policy and currency.
struct Book<'a> {
    org: &'a str,
    policy: &'a str,
    currency: String,
}

/// A total that is kept: the sum of the entries from `start` on and before `end`.
struct Total {
    start: i64,
    end: i64,
    units: i128,
}

impl<'a> Book<'a> {
    fn of(org: &'a OrgId, policy: &'a PolicyId, money: &Money) -> Self {
        let currency = money.currency();
        // An asset of one id with other decimals is another currency.
        let currency = format!("{}:{}", currency.code(), currency.exponent());
        Self { org: org.as_str(), policy: policy.as_str(), currency }
    }
}

/// The name under which a window's total is kept: one for each calendar window, and one that moves for a rolling one.
fn span(kind: WindowKind, window: &Window) -> String {
    match kind {
        WindowKind::Rolling { .. } => kind.to_string(),
        _ => format!("{}_{}", window.start.millis(), window.end.millis()),
    }
}

/// Before which instant an entry counts. After the clock went back, entries of a rolling window may lie ahead of now; they
/// count, for a later window will hold them and what is spent now.
fn last(kind: WindowKind, window: &Window) -> i64 {
    match kind {
        WindowKind::Rolling { .. } => i64::MAX,
        _ => window.end.millis(),
    }
}

fn sum(a: i128, b: i128) -> Result<i128, StoreError> {
    a.checked_add(b).ok_or_else(too_much)
}

fn difference(a: i128, b: i128) -> Result<i128, StoreError> {
    a.checked_sub(b).ok_or_else(too_much)
}

fn too_much() -> StoreError {
    StoreError::Other("a budget's amounts are too much to count".into())
}

impl Reader<'_> {
    /// What counts in each budget's window. A rolling window that `amount` does not fit into any more comes with its
    /// oldest entries, as many as it takes to tell when there is room again, at most 1000.
    pub fn window_spend(&self, org: &OrgId, policy: &PolicyId, budgets: &[Budget], amount: &Money) -> Result<Vec<WindowSpend>, StoreError> {
        budgets.iter().map(|budget| Ok(self.counted(org, policy, budget, amount)?.0)).collect()
    }

    /// What counts in a window, and its total if it is not the one that is kept.
    fn counted(&self, org: &OrgId, policy: &PolicyId, budget: &Budget, amount: &Money) -> Result<(WindowSpend, Option<Total>), StoreError> {
        let (book, window) = (Book::of(org, policy, &budget.max), budget.window);
        let kept = self.kept(&book, &span(budget.kind, &window))?;
        let (start, end) = (window.start.millis(), last(budget.kind, &window));
        let (units, is_kept) = match kept {
            Some(kept) if (kept.start, kept.end) == (start, end) => (kept.units, true),
            Some(kept) => (self.moved(&book, &kept, start, end)?, false),
            None => (self.added_up(&book, start, end)?, false),
        };
        let counted = Money::new(units, budget.max.currency().clone());
        let over_by = counted.checked_add(amount).and_then(|total| total.checked_sub(&budget.max)).map_or(0, |over| over.units());
        let entries = match budget.kind {
            WindowKind::Rolling { .. } if over_by > 0 => self.oldest(&book, &window, over_by, &budget.max)?,
            _ => Vec::new(),
        };
        let spend = WindowSpend { kind: budget.kind, window, counted, entries };
        Ok((spend, (!is_kept).then_some(Total { start, end, units })))
    }

    fn kept(&self, book: &Book<'_>, span: &str) -> Result<Option<Total>, StoreError> {
        const SQL: &str = "SELECT start_at, end_at, units FROM budget_totals WHERE org = $1 AND policy = $2 AND currency = $3 AND span = $4";
        self.one(SQL, [book.org, book.policy, &book.currency, span], |row| Ok(Total { start: row.get(0)?, end: row.get(1)?, units: row.units(2)? }))
    }

    /// A total of other bounds, from what lies between the old and the new ones.
    fn moved(&self, book: &Book<'_>, kept: &Total, start: i64, end: i64) -> Result<i128, StoreError> {
        if start >= kept.end || end <= kept.start {
            return self.added_up(book, start, end);
        }
        let mut units = kept.units;
        units = difference(units, self.added_up(book, kept.start, start)?)?;
        units = sum(units, self.added_up(book, start, kept.start)?)?;
        units = difference(units, self.added_up(book, end, kept.end)?)?;
        sum(units, self.added_up(book, kept.end, end)?)
    }

    /// The sum of the entries from `start` on and before `end`; nothing if that is no span.
    fn added_up(&self, book: &Book<'_>, start: i64, end: i64) -> Result<i128, StoreError> {
        const SQL: &str = "SELECT units FROM spend
            WHERE org = $1 AND policy = $2 AND currency = $3 AND at >= $4 AND at < $5 AND is_refilled = 0";
        if start >= end {
            return Ok(0);
        }
        let mut total = Some(0_i128);
        self.each(SQL, params![book.org, book.policy, book.currency, start, end], |row| {
            let units = row.units(0)?;
            total = total.and_then(|total| total.checked_add(units));
            Ok(total.is_some())
        })?;
        total.ok_or_else(too_much)
    }

    /// The oldest entries of a window that together make up `enough`.
    fn oldest(&self, book: &Book<'_>, window: &Window, enough: i128, of: &Money) -> Result<Vec<(Instant, Money)>, StoreError> {
        const SQL: &str = "SELECT at, units FROM spend
            WHERE org = $1 AND policy = $2 AND currency = $3 AND at >= $4 AND at < $5 AND is_refilled = 0 ORDER BY at LIMIT $6";
        let (mut entries, mut missing) = (Vec::new(), enough);
        let params = params![book.org, book.policy, book.currency, window.start.millis(), window.end.millis(), MAX_ENTRIES];
        self.each(SQL, params, |row| {
            let units = row.units(1)?;
            entries.push((row.at(0)?, Money::new(units, of.currency().clone())));
            missing = missing.saturating_sub(units);
            Ok(missing > 0)
        })?;
        Ok(entries)
    }
}

impl Tx<'_> {
    /// What counts in each budget's window, as [`Reader::window_spend`] tells it; the totals are kept.
    pub fn window_spend(&mut self, org: &OrgId, policy: &PolicyId, budgets: &[Budget], amount: &Money) -> Result<Vec<WindowSpend>, StoreError> {
        const KEEP: &str = "INSERT INTO budget_totals (org, policy, currency, span, start_at, end_at, units) VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (org, policy, currency, span) DO UPDATE
            SET start_at = excluded.start_at, end_at = excluded.end_at, units = excluded.units";
        let mut spend = Vec::with_capacity(budgets.len());
        for budget in budgets {
            let (counted, total) = self.counted(org, policy, budget, amount)?;
            if let Some(total) = total {
                let (book, span) = (Book::of(org, policy, &budget.max), span(budget.kind, &budget.window));
                self.run(KEEP, params![book.org, book.policy, book.currency, span, total.start, total.end, total.units.to_string()])?;
            }
            spend.push(counted);
        }
        Ok(spend)
    }

    /// Counts what a request spends under a policy; `false`, and nothing happens, if something was counted for the
    /// request already. An amount below nothing is refused.
    pub fn spend(&mut self, org: &OrgId, policy: &PolicyId, request: &RequestId, at: Instant, money: &Money) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO spend (request, org, policy, currency, at, units, is_refilled) VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (request) DO NOTHING";
        if money.units() < 0 {
            return Err(StoreError::Other("less than nothing is not spent".into()));
        }
        let book = Book::of(org, policy, money);
        let row = params![request.as_str(), book.org, book.policy, book.currency, at.millis(), money.units().to_string(), Flag(false)];
        if self.run(SQL, row)? == 0 {
            return Ok(false);
        }
        self.correct(&book, at.millis(), money.units())?;
        Ok(true)
    }

    /// Gives back what a request spent to the windows that it was counted in; `false`, and nothing happens, if nothing
    /// is counted for it, or it was given back already.
    pub fn refill(&mut self, request: &RequestId) -> Result<bool, StoreError> {
        const FIND: &str = "SELECT org, policy, currency, at, units FROM spend WHERE request = $1 AND is_refilled = 0";
        let found = self.one(FIND, [request.as_str()], |row| Ok((row.text(0)?, row.text(1)?, row.text(2)?, row.get::<i64>(3)?, row.units(4)?)))?;
        let Some((org, policy, currency, at, units)) = found else { return Ok(false) };
        self.run("UPDATE spend SET is_refilled = $1 WHERE request = $2", params![Flag(true), request.as_str()])?;
        self.correct(&Book { org: &org, policy: &policy, currency }, at, difference(0, units)?)?;
        Ok(true)
    }

    /// Corrects the totals that an instant is in.
    fn correct(&mut self, book: &Book<'_>, at: i64, by: i128) -> Result<(), StoreError> {
        const FIND: &str = "SELECT span, units FROM budget_totals
            WHERE org = $1 AND policy = $2 AND currency = $3 AND end_at > $4 AND start_at <= $4";
        const SET: &str = "UPDATE budget_totals SET units = $1 WHERE org = $2 AND policy = $3 AND currency = $4 AND span = $5";
        let totals = self.all(FIND, params![book.org, book.policy, book.currency, at], |row| Ok((row.text(0)?, row.units(1)?)))?;
        for (span, units) in totals {
            self.run(SET, params![sum(units, by)?.to_string(), book.org, book.policy, book.currency, span])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use control::{Currency, window::Zone};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{alone, at, bits, org, request};

    fn usd(units: i128) -> Money {
        Money::new(units, Currency::iso("USD").unwrap())
    }

    fn policy(number: u64) -> PolicyId {
        PolicyId::of(bits(number))
    }

    fn budget(kind: WindowKind, zone: &Zone, now: Instant, max: Money) -> Budget {
        Budget { kind, window: kind.at(zone, now), max }
    }

    fn spend(tx: &mut Tx<'_>, number: u64, millis: i64, money: &Money) {
        tx.insert_request(&request(number)).unwrap();
        assert!(tx.spend(&org(), &policy(1), &request(number).id, at(millis), money).unwrap());
    }

    /// What counts, by the totals that are kept and by a read that keeps none.
    fn counted(tx: &mut Tx<'_>, budget: &Budget) -> i128 {
        let budgets = std::slice::from_ref(budget);
        let read = Reader::window_spend(tx, &org(), &policy(1), budgets, &usd(0)).unwrap();
        let kept = tx.window_spend(&org(), &policy(1), budgets, &usd(0)).unwrap();
        assert_eq!(read, kept);
        kept[0].counted.units()
    }

    #[test]
    fn a_request_counts_once_and_comes_back_once() {
        alone(|tx| {
            let day = budget(WindowKind::Day, &Zone::utc(), at(5), usd(1000));
            assert_eq!(counted(tx, &day), 0);
            spend(tx, 1, 5, &usd(100));
            assert!(!tx.spend(&org(), &policy(1), &request(1).id, at(6), &usd(100)).unwrap());
            assert_eq!(counted(tx, &day), 100);
            assert!(tx.refill(&request(1).id).unwrap());
            assert!(!tx.refill(&request(1).id).unwrap() && !tx.refill(&request(2).id).unwrap());
            assert_eq!(counted(tx, &day), 0);
        });
    }

    #[test]
    fn books_are_apart() {
        alone(|tx| {
            let euro = Money::new(7, Currency::iso("EUR").unwrap());
            spend(tx, 1, 5, &usd(100));
            spend(tx, 2, 5, &euro);
            let day = |max| budget(WindowKind::Day, &Zone::utc(), at(5), max);
            assert_eq!((counted(tx, &day(usd(0))), counted(tx, &day(euro))), (100, 7));
            let other = tx.window_spend(&org(), &policy(2), &[day(usd(0))], &usd(0)).unwrap();
            assert_eq!(other[0].counted, usd(0));
        });
    }

    #[test]
    fn a_refill_of_what_aged_out_changes_nothing() {
        alone(|tx| {
            let rolling = |now| budget(WindowKind::Rolling { seconds: 1 }, &Zone::utc(), at(now), usd(1000));
            spend(tx, 1, 0, &usd(100));
            spend(tx, 2, 500, &usd(10));
            assert_eq!(counted(tx, &rolling(999)), 110);
            assert_eq!(counted(tx, &rolling(1000)), 10);
            assert!(tx.refill(&request(1).id).unwrap());
            assert_eq!(counted(tx, &rolling(1000)), 10);
            assert_eq!(counted(tx, &rolling(999)), 10, "where it was counted, it came back");
            assert_eq!(counted(tx, &rolling(1500)), 0);
        });
    }

    #[test]
    fn entries_come_with_a_rolling_window_that_is_full() {
        alone(|tx| {
            for number in 0..1200 {
                spend(tx, number, i64::try_from(number).unwrap(), &usd(1));
            }
            let kind = WindowKind::Rolling { seconds: 10 };
            let entries = |tx: &mut Tx<'_>, kind, max, amount| {
                let budget = budget(kind, &Zone::utc(), at(2000), usd(max));
                tx.window_spend(&org(), &policy(1), &[budget], &usd(amount)).unwrap().remove(0).entries
            };
            assert_eq!(entries(tx, kind, 1205, 5), []);
            assert_eq!(entries(tx, kind, 1205, 7), [(at(0), usd(1)), (at(1), usd(1))]);
            assert_eq!(entries(tx, kind, 1, 1).len(), 1000);
            assert_eq!(entries(tx, WindowKind::Day, 1, 1), []);
        });
    }

    #[test]
    fn less_than_nothing_is_refused() {
        alone(|tx| {
            tx.insert_request(&request(1)).unwrap();
            assert!(tx.spend(&org(), &policy(1), &request(1).id, at(0), &usd(-1)).is_err());
            assert!(tx.spend(&org(), &policy(1), &request(1).id, at(0), &usd(i128::MAX)).unwrap());
            let day = budget(WindowKind::Day, &Zone::utc(), at(0), usd(1));
            assert_eq!(counted(tx, &day), i128::MAX);
            tx.insert_request(&request(2)).unwrap();
            let over = tx.spend(&org(), &policy(1), &request(2).id, at(0), &usd(1));
            assert_eq!(over, Err(too_much()));
        });
    }

    #[derive(Clone, Debug)]
    enum Step {
        Spend { by: i64, units: u32, is_euro: bool },
        Refill(prop::sample::Index),
        Ask { by: i64, kind: WindowKind, zone: &'static str },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // Mostly onward, at times by days, at times back.
        let by = || prop_oneof![4 => 0..5_000_i64, 2 => 0..3 * 86_400_000_i64, 1 => -5_000..0_i64, 1 => -40 * 86_400_000..40 * 86_400_000_i64];
        let kind = prop_oneof![
            Just(WindowKind::Day),
            Just(WindowKind::Week),
            Just(WindowKind::Month),
            (1_u32..20).prop_map(|seconds| WindowKind::Rolling { seconds }),
            (1_u32..20).prop_map(|days| WindowKind::Rolling { seconds: days * 86_400 }),
        ];
        let zone = prop::sample::select(vec!["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"]);
        let step = prop_oneof![
            3 => (by(), 0..100_u32, any::<bool>()).prop_map(|(by, units, is_euro)| Step::Spend { by, units, is_euro }),
            1 => any::<prop::sample::Index>().prop_map(Step::Refill),
            3 => (by(), kind, zone).prop_map(|(by, kind, zone)| Step::Ask { by, kind, zone }),
        ];
        prop::collection::vec(step, 1..80)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn totals_are_the_sums_of_what_counts(steps in steps()) {
            let euro = |units| Money::new(units, Currency::iso("EUR").unwrap());
            let mut now = at(1_792_880_000_000);
            let mut entries: Vec<(Instant, i128, bool, bool)> = Vec::new();
            alone(|tx| {
                for step in steps {
                    match step {
                        Step::Spend { by, units, is_euro } => {
                            now = now.plus_millis(by);
                            let row = request(entries.len() as u64);
                            tx.insert_request(&row).unwrap();
                            let money = if is_euro { euro(units.into()) } else { usd(units.into()) };
                            assert!(tx.spend(&org(), &policy(1), &row.id, now, &money).unwrap());
                            entries.push((now, units.into(), is_euro, false));
                        }
                        Step::Refill(place) if !entries.is_empty() => {
                            let place = place.index(entries.len());
                            assert_eq!(tx.refill(&request(place as u64).id).unwrap(), !entries[place].3);
                            entries[place].3 = true;
                        }
                        Step::Refill(_) => {}
                        Step::Ask { by, kind, zone } => {
                            now = now.plus_millis(by);
                            for is_euro in [false, true] {
                                let max = if is_euro { euro(0) } else { usd(0) };
                                let budget = budget(kind, &Zone::parse(zone).unwrap(), now, max);
                                let naive: i128 = entries
                                    .iter()
                                    .filter(|(at, _, euro, is_refilled)| {
                                        let is_ahead = matches!(budget.kind, WindowKind::Rolling { .. }) && *at >= budget.window.end;
                                        (is_ahead || budget.window.has(*at)) && *euro == is_euro && !is_refilled
                                    })
                                    .map(|(_, units, ..)| units)
                                    .sum();
                                assert_eq!(counted(tx, &budget), naive);
                            }
                        }
                    }
                }
            });
        }
    }
}
