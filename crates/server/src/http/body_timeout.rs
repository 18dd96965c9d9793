//! A body that must come in time: who sends one byte a minute would hold a connection for as long as they like.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::time::{self, Sleep};

/// How long a body may take to come once it is waited for.
pub(super) const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The body, until its time is over.
pub(super) struct Timed {
    body: Body,
    patience: Duration,
    /// Set when it is first waited for.
    over: Option<Pin<Box<Sleep>>>,
}

impl Timed {
    pub(super) fn new(body: Body, patience: Duration) -> Self {
        Self { body, patience, over: None }
    }
}

/// The body did not come in time.
#[derive(Debug)]
pub(crate) struct TooSlow;

impl fmt::Display for TooSlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body did not come in time")
    }
}

impl std::error::Error for TooSlow {}

impl hyper::body::Body for Timed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame);
        }
        let patience = self.patience;
        let over = self.over.get_or_insert_with(|| Box::pin(time::sleep(patience)));
        over.as_mut().poll(cx).map(|()| Some(Err(axum::Error::new(TooSlow))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, error::Error as _};

    use http_body_util::BodyExt as _;
    use hyper::body::Body as _;

    use super::*;

    /// Never comes.
    struct Never;

    impl hyper::body::Body for Never {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn what_does_not_come_is_not_waited_for() {
        let error = Timed::new(Body::new(Never), Duration::ZERO).collect().await.unwrap_err();
        assert!(error.source().unwrap().is::<TooSlow>());
    }

    #[tokio::test]
    async fn what_is_there_is_read() {
        let body = Timed::new(Body::from("all"), Duration::ZERO);
        assert_eq!(body.size_hint().exact(), Some(3));
        assert_eq!(body.collect().await.unwrap().to_bytes(), "all");
    }
}
