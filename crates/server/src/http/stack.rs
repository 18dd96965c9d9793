//! What every request passes, in this order, before a router sees it.

use std::{
    future,
    net::IpAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use axum::{
    Router,
    body::Body,
    extract::{MatchedPath, Request},
    http::{HeaderName, HeaderValue, header},
    middleware::{self, Next},
    response::Response,
};
use control::ids::KeyId;
use http_body_util::Limited;
use tower::ServiceExt as _;

use super::{
    Authenticate, HttpSettings, MAX_BODY, answer, bearer,
    body_timeout::{BODY_TIMEOUT, Timed},
    host,
    limit::Limiter,
    listen::Peer,
    log::{Line, method_name},
    path_key,
};
use crate::{Caller, Problem};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of the request, which its answer carries as `x-request-id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    fn fresh(settings: &HttpSettings) -> Self {
        Self(format!("req_{:032x}", u128::from_be_bytes((settings.random)())))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The address that a request came from, as limits count it: of an IPv6 address the network alone, since one machine has
/// all the addresses of it. `None` where nobody said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address(Option<IpAddr>);

impl Address {
    pub(crate) fn of(request: &Request) -> Self {
        Self(request.extensions().get::<Peer>().map(|peer| match peer.0.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
            address @ IpAddr::V4(_) => address,
        }))
    }
}

/// The pattern that the path matched, on its way out to the log.
#[derive(Clone)]
struct Pattern(MatchedPath);

/// Which surface a path belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    /// REST and the log: a key where the route wants one.
    Api,
    /// MCP: always a key.
    Mcp,
    /// Pages and what is public: no key of an API.
    Open,
}

impl Zone {
    fn of(path: &str) -> Self {
        match path.split('/').nth(1) {
            Some("v0" | "log") => Self::Api,
            Some("mcp") => Self::Mcp,
            _ => Self::Open,
        }
    }
}

struct Stack {
    inner: Router,
    authenticate: Authenticate,
    settings: HttpSettings,
    keys: Limiter<KeyId>,
    addresses: Limiter<Address>,
}

/// The routers behind all that a request passes first.
pub(super) fn around(inner: Router, authenticate: Authenticate, settings: HttpSettings) -> Router {
    let inner = inner
        .fallback(|| future::ready(answer::problem(&Problem::new(404, "not_found", "There is nothing at this path: check the URL."))))
        .method_not_allowed_fallback(|| {
            future::ready(answer::problem(&Problem::new(405, "method_not_allowed", "Use a method that the Allow header names.")))
        })
        .layer(middleware::from_fn(with_pattern));
    let limits = settings.limits;
    let stack = Arc::new(Stack {
        inner,
        authenticate,
        keys: Limiter::new(limits.key, limits.remembered),
        addresses: Limiter::new(limits.address, limits.remembered),
        settings,
    });
    // A layer of a router runs after its routing, and the path is to be rewritten before.
    Router::new().fallback(move |request: Request| {
        let stack = stack.clone();
        async move { stack.handle(request).await }
    })
}

async fn with_pattern(request: Request, next: Next) -> Response {
    let pattern = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Some(pattern) = pattern {
        response.extensions_mut().insert(Pattern(pattern));
    }
    response
}

impl Stack {
    async fn handle(&self, mut request: Request) -> Response {
        let taken = path_key::take(&mut request);
        let started = (self.settings.clock)();
        let request_id = RequestId::fresh(&self.settings);
        let method = method_name(request.method());
        let zone = Zone::of(request.uri().path());
        request.extensions_mut().insert(request_id.clone());
        let answered = async {
            taken?;
            self.pass(request, zone).await
        };
        let mut response = match unless_it_panics(answered).await {
            Some(answered) => answered.unwrap_or_else(|problem| answer::problem(&problem)),
            None => answer::problem(&Problem::new(500, "internal", "The server failed. Nothing says that it was your fault; try again later.")),
        };
        add_headers(&mut response, zone, &request_id);
        if let Some(log) = &self.settings.log {
            let elapsed = (self.settings.clock)().saturating_duration_since(started);
            log(&Line {
                method,
                route: response.extensions().get::<Pattern>().map(|pattern| pattern.0.as_str().to_owned()),
                status: response.status(),
                millis: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
                request_id: request_id.0,
            });
        }
        response
    }

    async fn pass(&self, mut request: Request, zone: Zone) -> Result<Response, Problem> {
        host::check(&request, &self.settings, zone == Zone::Open)?;
        if stated_length(&request).is_some_and(|length| length > MAX_BODY as u64) {
            return Err(too_large());
        }
        let caller = match zone {
            Zone::Open => None,
            Zone::Api | Zone::Mcp => self.caller(&mut request).await?,
        };
        let now = (self.settings.clock)();
        match &caller {
            Some(caller) => self.keys.take(caller.key.clone(), now).map_err(too_often)?,
            None => self.addresses.take(Address::of(&request), now).map_err(too_often)?,
        }
        match caller {
            Some(caller) => _ = request.extensions_mut().insert(caller),
            None if zone == Zone::Mcp => return Err(Problem::unauthenticated()),
            None => {}
        }
        // The router's error type is `Infallible`, so this is always an answer.
        Ok(self
            .inner
            .clone()
            .oneshot(request.map(|body| Body::new(Limited::new(Timed::new(body, BODY_TIMEOUT), MAX_BODY))))
            .await
            .unwrap_or_else(|never| match never {}))
    }

    /// Whose key the request carries. Who tries keys is held up like who sends none.
    async fn caller(&self, request: &mut Request) -> Result<Option<Caller>, Problem> {
        let known = match bearer::take(request) {
            Ok(Some(key)) => (self.authenticate)(key.to_string()).await.map(Some),
            Ok(None) => Ok(None),
            Err(problem) => Err(problem),
        };
        if known.is_err() {
            self.addresses.take(Address::of(request), (self.settings.clock)()).map_err(too_often)?;
        }
        known
    }
}

fn stated_length(request: &Request) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// 413: the body is longer than [`MAX_BODY`].
pub(crate) fn too_large() -> Problem {
    Problem::new(413, "body_too_large", "Send a body of at most 1 MiB.")
}

/// 429: called too often.
pub(crate) fn too_often(seconds: u32) -> Problem {
    Problem::new(429, "rate_limited", "Too many calls: wait as many seconds as Retry-After says.").retry_after(seconds)
}

/// `None` when it panicked. What it was at is dropped: state that outlives a request is changed by the store alone, which
/// rolls back what does not commit.
async fn unless_it_panics<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    future::poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Some(value)),
        Err(_) => Poll::Ready(None),
    })
    .await
}

/// The headers of every answer. A surface that set one of its own keeps it, but for the request id.
fn add_headers(response: &mut Response, zone: Zone, request_id: &RequestId) {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(request_id.as_str()) {
        headers.insert(REQUEST_ID, id);
    }
    let mut add = |name, value| _ = headers.entry(name).or_insert(HeaderValue::from_static(value));
    add(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    add(header::REFERRER_POLICY, "no-referrer");
    if zone != Zone::Open {
        add(header::CACHE_CONTROL, "no-store");
    }
}
