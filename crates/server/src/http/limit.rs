//! How often is too often: a bucket per key or address, in a table that never grows past its bound.

use std::{
    collections::HashMap,
    hash::Hash,
    mem,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::settings::Limit;

/// The buckets of one limit.
///
/// A bucket is the time at which it will be full again: full lies in the past, and each call moves it on by one interval.
pub(crate) struct Limiter<K> {
    limit: Option<Limit>,
    half: usize,
    buckets: Mutex<Buckets<K>>,
}

/// Those that called since the last turn, and those that called in the turn before. When the first are half of what is
/// remembered, they become the second, and who is in neither is forgotten: their bucket counts as full.
struct Buckets<K> {
    new: HashMap<K, Instant>,
    old: HashMap<K, Instant>,
}

impl<K: Eq + Hash> Limiter<K> {
    pub(crate) fn new(limit: Option<Limit>, remembered: usize) -> Self {
        let half = (remembered / 2).max(1);
        Self { limit, half, buckets: Mutex::new(Buckets { new: HashMap::new(), old: HashMap::new() }) }
    }

    /// Takes one from the bucket, or says after how many whole seconds one will be there. What is refused takes nothing.
    pub(crate) fn take(&self, who: K, now: Instant) -> Result<(), u32> {
        let Some(Limit { burst, interval }) = self.limit else { return Ok(()) };
        // A panic elsewhere leaves at worst one bucket too full.
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let known = buckets.old.remove(&who).or_else(|| buckets.new.get(&who).copied());
        let full_at = known.map_or(now, |at| at.max(now));
        let is_room = full_at.saturating_duration_since(now) + interval <= interval.saturating_mul(burst);
        let full_at = if is_room { full_at + interval } else { full_at };
        if buckets.new.len() >= self.half && !buckets.new.contains_key(&who) {
            buckets.old = mem::take(&mut buckets.new);
        }
        buckets.new.insert(who, full_at);
        if is_room {
            return Ok(());
        }
        let wait = (full_at + interval).saturating_duration_since(now).saturating_sub(interval.saturating_mul(burst));
        Err(whole_seconds(wait))
    }
}

/// Rounded up, and at least one.
fn whole_seconds(wait: Duration) -> u32 {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    u32::try_from(seconds).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_bucket_empties_and_fills() {
        let limiter = Limiter::new(Some(Limit::new(3, 2 * SECOND)), 10);
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(limiter.take("a", start), Ok(()));
        }
        assert_eq!(limiter.take("a", start), Err(2));
        assert_eq!(limiter.take("a", start + Duration::from_millis(500)), Err(2));
        assert_eq!(limiter.take("a", start + SECOND), Err(1));
        assert_eq!(limiter.take("b", start), Ok(()));
        assert_eq!(limiter.take("a", start + 2 * SECOND), Ok(()));
        assert_eq!(limiter.take("a", start + 2 * SECOND), Err(2));
        let later = start + 1000 * SECOND;
        for _ in 0..3 {
            assert_eq!(limiter.take("a", later), Ok(()));
        }
        assert_eq!(limiter.take("a", later), Err(2));
    }

    #[test]
    fn no_limit() {
        let limiter = Limiter::new(None, 10);
        let now = Instant::now();
        assert!((0..10_000).all(|_| limiter.take((), now).is_ok()));
    }

    #[test]
    fn the_table_is_bounded_and_keeps_who_calls() {
        let limiter = Limiter::new(Some(Limit::new(1, 1000 * SECOND)), 100);
        let now = Instant::now();
        assert_eq!(limiter.take(0, now), Ok(()));
        for other in 1..10_000 {
            assert_eq!(limiter.take(other, now), Ok(()));
            assert_eq!(limiter.take(0, now), Err(1000));
            let buckets = limiter.buckets.lock().unwrap();
            assert!(buckets.new.len() + buckets.old.len() <= 100);
        }
    }

    proptest! {
        #[test]
        fn never_more_than_the_limit(burst in 1u32..8, interval in 1u64..3000, steps in proptest::collection::vec(0u64..2000, 1..60)) {
            let interval = Duration::from_millis(interval);
            let limiter = Limiter::new(Some(Limit::new(burst, interval)), 10);
            let start = Instant::now();
            let (mut now, mut taken) = (start, Vec::new());
            for step in steps {
                now += Duration::from_millis(step);
                match limiter.take((), now) {
                    Ok(()) => taken.push(now),
                    Err(seconds) => {
                        // Waiting as long as told is enough.
                        now += Duration::from_secs(u64::from(seconds));
                        prop_assert_eq!(limiter.take((), now), Ok(()));
                        taken.push(now);
                    }
                }
            }
            for (first, from) in taken.iter().enumerate() {
                for (count, to) in taken[first..].iter().enumerate() {
                    let most = u128::from(burst) + (*to - *from).as_nanos() / interval.as_nanos();
                    prop_assert!((count as u128) < most, "{count} of {most}");
                }
            }
        }
    }
}
