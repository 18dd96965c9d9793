//! A network that always answers the same, and a clock that stands still.

use std::time::Duration;

use terms::{Body, Env, Fetch, FetchFailed, Request, Response};

/// Answers every request alike.
#[derive(Clone, Debug, Default)]
pub struct Serves {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Fetch for Serves {
    type Body = Once;

    async fn get(&self, _request: Request<'_>) -> Result<Response<Once>, FetchFailed> {
        Ok(Response { status: self.status, headers: self.headers.clone(), body: Once(Some(self.body.clone())) })
    }
}

/// A body in one piece.
#[derive(Debug)]
pub struct Once(Option<Vec<u8>>);

impl Body for Once {
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, FetchFailed> {
        Ok(self.0.take())
    }
}

/// It is always 1790000000, and every random byte is a 7.
#[derive(Clone, Copy, Debug)]
pub struct Still;

impl Env for Still {
    fn now(&self) -> u64 {
        1_790_000_000
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    async fn sleep(&self, _duration: Duration) {}

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}
