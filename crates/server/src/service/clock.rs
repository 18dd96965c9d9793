//! The two things that the core is given from outside: the time and fresh random bytes.

use std::time::{SystemTime, UNIX_EPOCH};

use control::{Ids, Instant};

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Instant;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
        };
        Instant::from_millis(millis)
    }
}

/// The operating system's random bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OsIds;

impl Ids for OsIds {
    /// 48 bits of the time in milliseconds, then 80 random ones: new rows go to the end of an index, so that what a request
    /// writes does not grow with how many there are.
    fn draw(&mut self) -> [u8; 16] {
        let mut bytes = random::<16>();
        bytes[..6].copy_from_slice(&SystemClock.now().millis().to_be_bytes()[2..]);
        bytes
    }

    fn secret(&mut self) -> [u8; 16] {
        random()
    }
}

/// Fresh random bytes. A system that has none can keep no secret: the command that asked ends there, and nothing of it stays.
#[allow(clippy::panic)]
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => bytes,
        Err(error) => panic!("the operating system gives no random bytes: {error}"),
    }
}
