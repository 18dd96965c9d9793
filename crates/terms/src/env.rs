use std::{future::Future, time::Duration};

/// The clock and the randomness of a gate, so that a test can pin both.
pub trait Env: Send + Sync {
    /// The wall clock, Unix seconds.
    fn now(&self) -> u64;

    /// A monotonic clock: the time since some fixed moment.
    fn elapsed(&self) -> Duration;

    /// Waits.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;

    /// Fills the buffer with bytes from a cryptographic source.
    fn random(&self, bytes: &mut [u8]);
}
