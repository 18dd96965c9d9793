//! REST `/v0`, from one table of routes (see [`table`]).
//!
//! The router, who may call, the query parameters, what a body may hold, the `OpenAPI` document and the rows of
//! `docs/access.md` all follow from the table.

mod calls;
mod input;
mod openapi;
mod route;
mod served;
mod unserved;

use std::sync::Arc;

use axum::{
    Router,
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    http::{HeaderName, HeaderValue},
    response::Response,
    routing,
};
use bytes::Bytes;
use lcp::{Object, Value};

pub(crate) use self::calls::over;
use self::route::{Call, Route, Who};
use crate::{
    Caller, Problem,
    http::{Address, BoxFuture, HttpSettings, Limiter, json, problem, text, too_often},
    service::Query,
};

/// One call, read and judged: its role may call, its path, query, key and body hold no card number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    pub(crate) call: Call,
    /// There for every route but the public ones.
    pub(crate) caller: Option<Caller>,
    /// The parameters of the path, decoded, in their order.
    pub(crate) path: Vec<(String, String)>,
    /// Only parameters that the route knows.
    pub(crate) query: Query,
    pub(crate) body: Option<Value>,
    pub(crate) idempotency_key: Option<String>,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Json(Object),
    /// The stored answer of an earlier call with the same key.
    Replayed(Object),
    /// Text or bytes of the route's own media type.
    Text(String),
    Bytes(Vec<u8>),
}

/// What does the calls: the service, or a test's own.
pub(crate) type Port = Arc<dyn Fn(Ask) -> BoxFuture<Result<Reply, Problem>> + Send + Sync>;

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

struct Rest {
    port: Port,
    settings: HttpSettings,
    sandbox_keys: Limiter<Address>,
    openapi: Bytes,
}

/// Every route, served or not.
pub(crate) fn table() -> impl Iterator<Item = &'static Route> {
    served::ROUTES.iter().chain(unserved::ROUTES)
}

/// The router of the table.
pub(crate) fn router(port: Port, settings: &HttpSettings) -> Router {
    let rest = Arc::new(Rest {
        port,
        settings: settings.clone(),
        sandbox_keys: Limiter::new(settings.limits.sandbox_keys, settings.limits.remembered),
        openapi: openapi::document(&settings.public_url).into(),
    });
    table().fold(Router::new(), |router, route| {
        let rest = rest.clone();
        let handler = move |path: Result<RawPathParams, RawPathParamsRejection>, request: Request| {
            let rest = rest.clone();
            async move {
                let answered = match path {
                    Ok(path) => rest.answer(route, path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(), request).await,
                    Err(_) => Err(Problem::not_found()),
                };
                answered.unwrap_or_else(|refused| problem(&refused))
            }
        };
        router.route(route.path, routing::on(route.verb.filter(), handler))
    })
}

impl Rest {
    async fn answer(&self, route: &'static Route, path: Vec<(String, String)>, request: Request) -> Result<Response, Problem> {
        let caller = judge(route, &request)?;
        let given = input::Given::read(&request)?;
        given.refuse_card_numbers(route, &path)?;
        if route.call == Call::CreateSandboxKeys {
            self.admit_to_sandbox(&request)?;
        }
        let query = given.query(route)?;
        let idempotency_key = given.idempotency_key(route)?;
        let body = input::body(route, request).await?;
        let reply = match route.call {
            Call::NotServed => return Err(Problem::not_available()),
            Call::Health => Reply::Json(Object::new().with("status", "ok")),
            Call::OpenApi => return Ok(text(200, "application/json", self.openapi.clone())),
            call => (self.port)(Ask { call, caller, path, query, body, idempotency_key }).await?,
        };
        Ok(match reply {
            Reply::Json(object) => json(route.status, object),
            Reply::Replayed(object) => {
                let mut response = json(route.status, object);
                response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
                response
            }
            Reply::Text(written) => text(route.status, route.answer.media_type(), written),
            Reply::Bytes(bytes) => text(route.status, route.answer.media_type(), bytes),
        })
    }

    fn admit_to_sandbox(&self, request: &Request) -> Result<(), Problem> {
        if !self.settings.sandbox {
            return Err(Problem::not_a_sandbox());
        }
        self.sandbox_keys.take(Address::of(request), (self.settings.clock)()).map_err(too_often)
    }
}

/// Who calls, if they may: 401 without a key, 403 for a role that may not.
fn judge(route: &Route, request: &Request) -> Result<Option<Caller>, Problem> {
    let caller = request.extensions().get::<Caller>().cloned();
    match &caller {
        None if route.who != Who::Anybody => return Err(Problem::unauthenticated()),
        Some(caller) if !route.who.admits(caller.role) => return Err(Problem::forbidden()),
        _ => {}
    }
    // A platform's key would act for another organization with it; to leave it out would act for the key's own.
    if request.headers().contains_key("enruta-account") {
        return Err(Problem::new(403, "account_not_connected", "No account is connected: call without Enruta-Account."));
    }
    Ok(caller)
}

#[cfg(test)]
mod tests;
