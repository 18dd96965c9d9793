//! The machine's clock and randomness.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant, SystemTime},
};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use terms::Env;

/// The wall clock, the monotonic clock, tokio's timer, and the operating system's randomness.
///
/// [`Env::random`] cannot fail, the operating system can. So a process that gets no randomness does not start, and one
/// that started holds a secret seed, from which it goes on drawing if the operating system should fail later: what it
/// draws is unpredictable in every case, and never the same twice.
pub(crate) struct SystemEnv {
    start: Instant,
    fallback: Generator,
}

impl SystemEnv {
    /// Fails if the operating system gives no randomness.
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut seed = [0; 64];
        getrandom::fill(&mut seed)?;
        Ok(Self { start: Instant::now(), fallback: Generator { seed, drawn: AtomicU64::new(0) } })
    }
}

impl Env for SystemEnv {
    /// A clock set before 1970 reads 0.
    fn now(&self) -> u64 {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn random(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            self.fallback.fill(bytes);
        }
    }
}

/// HMAC-SHA-256 of a counter under a secret seed.
struct Generator {
    /// As long as HMAC-SHA-256 takes a key as it is.
    seed: [u8; 64],
    drawn: AtomicU64,
}

impl Generator {
    fn fill(&self, bytes: &mut [u8]) {
        for block in bytes.chunks_mut(32) {
            let mut mac = Hmac::<Sha256>::new(&self.seed.into());
            mac.update(&self.drawn.fetch_add(1, Ordering::Relaxed).to_be_bytes());
            for (byte, drawn) in block.iter_mut().zip(mac.finalize().into_bytes()) {
                *byte = drawn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn random_bytes_never_repeat() {
        let env = SystemEnv::new().unwrap();
        let drawn: HashSet<[u8; 32]> = (0..100)
            .map(|draw| {
                let mut bytes = [0; 32];
                if draw % 2 == 0 {
                    env.random(&mut bytes);
                } else {
                    env.fallback.fill(&mut bytes);
                }
                bytes
            })
            .collect();
        assert_eq!(drawn.len(), 100);
    }

    #[test]
    fn the_fallback_fills_any_length() {
        let generator = || Generator { seed: [7; 64], drawn: AtomicU64::new(0) };
        let mut long = [0; 70];
        generator().fill(&mut long);
        // Python: hmac.new(b"\x07" * 64, bytes(8), "sha256").hexdigest()
        assert_eq!(lcp::encoding::hex(&long[..32]), "0x6717907044ba1079461d7bcdf47abacfc9f9676d8f25bad8cab44eee08623795");
        assert_ne!(long[..32], long[32..64]);
        assert_ne!(long[64..], [0; 6]);
        let (first, second) = (generator(), Generator { seed: [8; 64], drawn: AtomicU64::new(0) });
        let (mut a, mut b) = ([0; 24], [0; 24]);
        first.fill(&mut a);
        second.fill(&mut b);
        assert_eq!(a, long[..24]);
        assert_ne!(a, b);
    }

    #[tokio::test]
    async fn clocks_go_on() {
        let env = SystemEnv::new().unwrap();
        assert!(env.now() > 1_700_000_000);
        let before = env.elapsed();
        env.sleep(Duration::from_millis(5)).await;
        assert!(env.elapsed() >= before + Duration::from_millis(5));
    }
}
