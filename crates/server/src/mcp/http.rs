//! MCP over Streamable HTTP: one POST, one JSON answer, no session.

use std::sync::Arc;

use axum::{
    Router,
    body::{self, Body},
    extract::{Request, State},
    http::{Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, streamable_http_server::session::never::NeverSessionManager};

use super::{handler::Handler, message, operations::Operations};
use crate::Service;

/// What the endpoint answers to.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// The `Host` values that are served, with or without port; another is answered 403.
    pub allowed_hosts: Vec<String>,
    /// The `Origin` values that are served, with scheme and port (`:*` for any); another is answered 403, a request without
    /// one is served. None at all means that no browser is.
    pub allowed_origins: Vec<String>,
    /// The longest body, in bytes; a longer one is answered 413.
    pub max_body_bytes: usize,
}

impl McpSettings {
    /// For a server that is reached on the loopback addresses alone.
    pub fn loopback() -> Self {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            allowed_hosts: texts(&["localhost", "127.0.0.1", "::1"]),
            allowed_origins: texts(&["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"]),
            max_body_bytes: 4 << 20,
        }
    }
}

/// The endpoint at the root of a router, to be nested where it is to be. Whoever mounts it authenticates first, and puts the
/// [`Caller`](crate::Caller) into the request's extensions; a call without one is refused.
pub fn router(service: Service, settings: McpSettings) -> Router {
    routes(service, settings)
}

/// The same over any operations.
pub(super) fn routes(operations: impl Operations, settings: McpSettings) -> Router {
    let McpSettings { allowed_hosts, allowed_origins, max_body_bytes } = settings;
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(allowed_hosts)
        .with_allowed_origins(allowed_origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(max_body_bytes);
    let handler = Handler::for_http(operations);
    let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config);
    Router::new().route_service("/", service).layer(middleware::from_fn_with_state(max_body_bytes, answer_what_is_no_message))
}

/// Answers a body that is no message, or a served method's in another form, which the MCP crate would call unknown.
async fn answer_what_is_no_message(State(max_body_bytes): State<usize>, request: Request, next: Next) -> Response {
    let media_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_json = media_type.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"));
    if request.method() != Method::POST || !is_json {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(bytes) = body::to_bytes(body, max_body_bytes).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    match message::read(&bytes) {
        Ok(_) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(fault) => (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], fault.to_text()).into_response(),
    }
}
