//! How often a name may be tried with a password.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use control::Instant;

use super::secret;
use crate::Problem;

/// How many tries a name has before it must wait.
const TRIES: u32 = 5;
/// How long it waits then, in seconds; tries longer ago are forgotten.
const WAIT_SECONDS: u32 = 120;
/// How many names are remembered. Beyond, the oldest tries of all are forgotten.
const NAMES: usize = 10_000;

/// The tries of each name since it last signed in, by the name's hash: a name that is sent may be a megabyte long.
#[derive(Default)]
pub(super) struct Tries(Mutex<HashMap<[u8; 32], (u32, Instant)>>);

impl Tries {
    /// Counts a try, or says how long to wait. It counts before the password is looked at, so that many at once are
    /// counted too.
    pub(super) fn allow(&self, login: &str, now: Instant) -> Result<(), Problem> {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = |last: Instant| now.since(last) >= i64::from(WAIT_SECONDS) * 1000 || now < last;
        if tries.len() >= NAMES {
            tries.retain(|_, (_, last)| !is_old(*last));
        }
        if tries.len() >= NAMES {
            tries.clear();
        }
        let (count, last) = tries.entry(secret::hash(login)).or_insert((0, now));
        if is_old(*last) {
            *count = 0;
        }
        if *count >= TRIES {
            let left = i64::from(WAIT_SECONDS) - now.since(*last) / 1000;
            let wait = Problem::new(429, "too_many_tries", "Too many tries with this name: wait two minutes.");
            return Err(wait.retry_after(u32::try_from(left.max(1)).unwrap_or(WAIT_SECONDS)));
        }
        (*count, *last) = (*count + 1, now);
        Ok(())
    }

    /// The name signed in.
    pub(super) fn forget(&self, login: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&secret::hash(login));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_tries_and_then_a_wait() {
        let tries = Tries::default();
        let start = Instant::from_millis(1_000_000);
        for _ in 0..5 {
            tries.allow("ada", start).unwrap();
        }
        let wait = tries.allow("ada", start.plus_seconds(30)).unwrap_err();
        assert_eq!((wait.status, wait.retry_after), (429, Some(90)));
        tries.allow("bob", start).unwrap();
        tries.allow("ada", start.plus_seconds(120)).unwrap();
        tries.forget("ada");
        for _ in 0..5 {
            tries.allow("ada", start.plus_seconds(121)).unwrap();
        }
        assert!(tries.allow("ada", start.plus_seconds(121)).is_err());
    }

    #[test]
    fn the_table_is_bounded() {
        let tries = Tries::default();
        for number in 0..2 * NAMES {
            tries.allow(&number.to_string(), Instant::from_millis(0)).unwrap();
        }
        assert!(tries.0.lock().unwrap().len() <= NAMES);
    }
}
