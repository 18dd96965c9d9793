//! What of a body nobody read.
//!
//! A refusal may be said before the body has come. To close then would make the client's system drop the answer with the
//! connection, since bytes that were sent find nobody there; so what is left is taken in and thrown away first.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time;

/// Most bytes that are thrown away; who sends more loses the answer.
const MAX_DISCARDED: usize = 8 << 20;
/// How long they may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a body comes back to that was not read to its end.
pub(super) struct Unread<B>(Arc<Mutex<Option<B>>>);

/// A body that is lent to whoever answers.
pub(super) struct Lent<B> {
    body: Option<B>,
    home: Arc<Mutex<Option<B>>>,
}

/// Lends the body.
pub(super) fn lend<B>(body: B) -> (Lent<B>, Unread<B>) {
    let home = Arc::new(Mutex::new(None));
    (Lent { body: Some(body), home: home.clone() }, Unread(home))
}

impl<B: Body<Data = Bytes> + Unpin> Unread<B> {
    /// Takes in what is left, within bounds.
    pub(super) async fn discard(self) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = left else { return };
        let discarded = async {
            let mut bytes = 0;
            while let Some(Ok(frame)) = body.frame().await {
                bytes += frame.data_ref().map_or(0, Bytes::len);
                if bytes > MAX_DISCARDED {
                    break;
                }
            }
        };
        // Whether it ended or time did, the answer is sent.
        let _ = time::timeout(PATIENCE, discarded).await;
    }
}

impl<B> Drop for Lent<B> {
    fn drop(&mut self) {
        *self.home.lock().unwrap_or_else(PoisonError::into_inner) = self.body.take();
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Lent<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = std::task::ready!(Pin::new(body).poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// A body of so many chunks, and how many were read of it.
    struct Chunks {
        left: usize,
        read: Arc<Mutex<usize>>,
    }

    impl Body for Chunks {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            if self.left == 0 {
                return Poll::Ready(None);
            }
            self.left -= 1;
            *self.read.lock().unwrap() += 1;
            Poll::Ready(Some(Ok(Frame::data(vec![0; 1 << 16].into()))))
        }
    }

    fn chunks(left: usize) -> (Chunks, Arc<Mutex<usize>>) {
        let read = Arc::default();
        (Chunks { left, read: Arc::clone(&read) }, read)
    }

    #[tokio::test]
    async fn what_is_left_is_discarded() {
        let (body, read) = chunks(5);
        let (mut lent, unread) = lend(body);
        assert!(lent.frame().await.is_some());
        assert_eq!(*read.lock().unwrap(), 1);
        drop(lent);
        unread.discard().await;
        assert_eq!(*read.lock().unwrap(), 5);
    }

    #[tokio::test]
    async fn within_bounds() {
        let (body, read) = chunks(usize::MAX);
        let (lent, unread) = lend(body);
        drop(lent);
        unread.discard().await;
        assert_eq!(*read.lock().unwrap(), MAX_DISCARDED / (1 << 16) + 1);
    }

    #[tokio::test]
    async fn a_body_that_was_read_or_is_still_held_is_left_alone() {
        let (body, read) = chunks(2);
        let (lent, unread) = lend(body);
        assert_eq!(lent.collect().await.unwrap().to_bytes().len(), 2 << 16);
        unread.discard().await;
        assert_eq!(*read.lock().unwrap(), 2);
        let (body, read) = chunks(2);
        let (_lent, unread) = lend(body);
        unread.discard().await;
        assert_eq!(*read.lock().unwrap(), 0);
    }
}
