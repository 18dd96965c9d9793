//! The listener: HTTP/1.1 with bounds on heads, time and connections, and an end that lets answers finish.

use std::{io, net::IpAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::Request, http::header};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
    time,
};
use tower::ServiceExt as _;

use super::unread;

/// Longest head of a request, in bytes; hyper takes no less than 8 KiB.
const MAX_HEAD: usize = 32 << 10;
/// Most header fields.
const MAX_HEADERS: usize = 64;
/// How long a client may take over a head, and how long a connection may be idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Most connections at once; more wait in the operating system's queue.
const MAX_CONNECTIONS: usize = 4096;
/// How long answers may take once the server was told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long to wait when the operating system has no connection to give, such as when files run out.
const PAUSE: Duration = Duration::from_millis(100);

/// The address at the other end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer(pub(super) IpAddr);

/// Serves until `shutdown` ends; then takes no more connections, lets each finish the answer that it is at, and returns,
/// after ten seconds at the latest.
///
/// # Errors
/// When the listener is broken. That one connection fails is no error.
pub async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let (stop, stopped) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    let ended = loop {
        let accepted = async {
            // The semaphore is never closed.
            let place = room.clone().acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(stream, peer)| (stream, peer, place))
        };
        tokio::select! {
            () = &mut shutdown => break Ok(()),
            Some(_) = connections.join_next() => {}
            accepted = accepted => match accepted {
                Ok((stream, peer, place)) => {
                    let (router, stopped) = (router.clone(), stopped.clone());
                    connections.spawn(async move {
                        connection(stream, Peer(peer.ip()), router, stopped).await;
                        drop(place);
                    });
                }
                Err(error) if is_of_the_listener(&error) => break Err(error),
                Err(_) => time::sleep(PAUSE).await,
            },
        }
    };
    drop(listener);
    drop(stop);
    let all = async { while connections.join_next().await.is_some() {} };
    // What is not done by then is dropped with the set.
    let _ = time::timeout(GRACE, all).await;
    ended
}

async fn connection(stream: TcpStream, peer: Peer, router: Router, mut stopped: watch::Receiver<()>) {
    // Answers are written whole, so waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        // Who waits for leave to send the body is told the answer instead.
        let asks_first = request.headers().contains_key(header::EXPECT);
        let (head, body) = request.into_parts();
        let (lent, unread) = unread::lend(body);
        let answer = router.clone().oneshot(Request::from_parts(head, Body::new(lent)));
        async move {
            let answer = answer.await;
            if !asks_first {
                unread.discard().await;
            }
            answer
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(MAX_HEAD).max_headers(MAX_HEADERS).keep_alive(true);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // That a client went away or sent no HTTP is its own matter; hyper answered what could be answered.
        _ = connection.as_mut() => return,
        _ = stopped.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Whether no further connection can come; else it was that connection's, or passes.
fn is_of_the_listener(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotConnected | io::ErrorKind::Unsupported)
}
