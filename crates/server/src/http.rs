//! The listener and what every request passes on its way to a surface.
//!
//! Outermost first: the key in the path moves out of the URI, a fresh request id, panics, `Host` and `Origin`, the body
//! limit, whose key it is, how often it calls. Only then a router sees the request. See `docs/rest.md`.

mod answer;
mod bearer;
mod body_timeout;
mod host;
mod limit;
mod listen;
mod log;
mod path_key;
mod settings;
mod stack;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod unread;

use std::{pin::Pin, sync::Arc};

use axum::Router;

pub(crate) use self::{
    answer::{json, problem, text},
    body_timeout::TooSlow,
    limit::Limiter,
    stack::{Address, too_large, too_often},
};
pub use self::{
    listen::serve,
    log::Line,
    settings::{HttpSettings, Limit, Limits, LogSink},
    stack::RequestId,
};
use crate::{Caller, Problem, Service, rest};

/// Most bytes of a request's body.
pub const MAX_BODY: usize = 1 << 20;

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// Whose key a text is.
pub(crate) type Authenticate = Arc<dyn Fn(String) -> BoxFuture<Result<Caller, Problem>> + Send + Sync>;

/// The whole application: REST, `mcp` below `/mcp`, and `pages` at the root.
///
/// A request that reaches `mcp` has a [`Caller`] among its extensions; one without a key in use was answered 401. Neither
/// router ever sees the key: it is in no header, no URI and no extension. `pages` see their requests as they came.
pub fn app(service: Service, settings: HttpSettings, mcp: Router, pages: Router) -> Router {
    let rest = rest::router(rest::over(service.clone()), &settings);
    let authenticate: Authenticate = Arc::new(move |key| {
        let service = service.clone();
        Box::pin(async move { service.authenticate(&key).await })
    });
    stack::around(rest.merge(pages).nest("/mcp", mcp), authenticate, settings)
}
