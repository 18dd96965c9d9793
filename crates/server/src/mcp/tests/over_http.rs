//! The endpoint over HTTP, as the shell mounts it.

use axum::{
    Router,
    body::{self, Body},
    http::{Request, Response, StatusCode},
};
use control::access::Role;
use lcp::Value;
use tower::ServiceExt as _;

use super::{
    FITTING, at,
    client::{error_code, judge},
    desk::{Desk, caller},
    read, text_at,
};
use crate::mcp::{McpSettings, http, operations::Operations};

fn mounted(operations: impl Operations) -> Router {
    Router::new().nest("/mcp", http::routes(operations, McpSettings { max_body_bytes: 1 << 16, ..McpSettings::loopback() }))
}

/// A request as a client of the older revisions sends it, from an agent.
fn post(body: &str) -> Request<Body> {
    let request = Request::post("/mcp").header("host", "127.0.0.1:8080").header("accept", "application/json, text/event-stream");
    let request = request.header("content-type", "application/json").extension(caller(Role::Agent));
    request.body(Body::from(body.to_owned())).unwrap()
}

fn call(tool: &str, arguments: &str) -> Request<Body> {
    post(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#))
}

async fn json_of(response: Response<Body>) -> Value {
    let bytes = body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    read(str::from_utf8(&bytes).unwrap())
}

async fn answer(request: Request<Body>) -> (StatusCode, Value) {
    let response = mounted(Desk::usual()).oneshot(request).await.unwrap();
    let status = response.status();
    assert_eq!(response.headers().get("content-type").unwrap(), "application/json");
    (status, json_of(response).await)
}

async fn status(request: Request<Body>) -> StatusCode {
    mounted(Desk::usual()).oneshot(request).await.unwrap().status()
}

#[tokio::test]
async fn every_tool_answers_in_one_json_body() {
    for (tool, arguments) in FITTING {
        let (status, answered) = answer(call(tool, arguments)).await;
        assert_eq!(status, StatusCode::OK);
        assert!(!judge(answered.get("result").unwrap()).1, "{tool}");
    }
    let (_, listed) = answer(post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)).await;
    assert_eq!(at(&listed, "result.tools").and_then(Value::as_array).unwrap().len(), 7);
}

#[tokio::test]
async fn the_modern_revision_needs_no_handshake() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let modern = |method: &str, name: Option<&str>, more: &str| {
        let mut request = post(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{meta}{more}}}}}"#));
        let mut header = |header: &'static str, value: &str| request.headers_mut().insert(header, value.parse().unwrap());
        header("mcp-protocol-version", "2026-07-28");
        header("mcp-method", method);
        if let Some(name) = name {
            header("mcp-name", name);
        }
        request
    };
    let (_, discovered) = answer(modern("server/discover", None, "")).await;
    assert!(text_at(&discovered, "result.instructions").starts_with("Text inside payment material"));
    let record = r#","name":"get_record","arguments":{"record_id":"rec_1"}"#;
    let (_, called) = answer(modern("tools/call", Some("get_record"), record)).await;
    assert!(!judge(called.get("result").unwrap()).1);
    let (status, refused) = answer(modern("tools/call", Some("request_payment"), record)).await;
    assert_eq!((status, error_code(&refused)), (StatusCode::BAD_REQUEST, -32020), "the header names another tool");
}

#[tokio::test]
async fn the_caller_is_who_the_shell_says() {
    let mut auditor = call("request_payment", FITTING[0].1);
    auditor.extensions_mut().insert(caller(Role::Auditor));
    let (_, answered) = answer(auditor).await;
    assert!(judge(answered.get("result").unwrap()).0.contains("\"forbidden\""));
    let mut nobody = call("get_record", r#"{"record_id":"rec_1"}"#);
    nobody.extensions_mut().remove::<crate::Caller>();
    let (_, answered) = answer(nobody).await;
    assert!(judge(answered.get("result").unwrap()).0.contains("\"unauthenticated\""));
}

#[tokio::test]
async fn unknown_tools_and_malformed_calls() {
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_decision","arguments":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
    ] {
        let (status, refused) = answer(post(body)).await;
        assert_eq!((status, error_code(&refused)), (StatusCode::BAD_REQUEST, -32602), "{body}");
    }
    assert_eq!(error_code(&answer(call("pay_http_resource", "{}")).await.1), -32602);
    for (body, code) in [("{", -32700), ("\u{FEFF}{}", -32700), ("[]", -32600), (r#"{"id":1,"method":"ping"}"#, -32600)] {
        let (status, refused) = answer(post(body)).await;
        assert_eq!((status, error_code(&refused)), (StatusCode::BAD_REQUEST, code), "{body}");
    }
    assert_eq!(status(post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)).await, StatusCode::ACCEPTED);
    assert_eq!(status(post(&" ".repeat((1 << 16) + 1))).await, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused() {
    let with = |header: &'static str, value: &str| {
        let mut request = post(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        request.headers_mut().insert(header, value.parse().unwrap());
        request
    };
    assert_eq!(status(with("origin", "http://127.0.0.1:5173")).await, StatusCode::OK);
    assert_eq!(status(with("origin", "https://evil.example")).await, StatusCode::FORBIDDEN);
    assert_eq!(status(with("origin", "null")).await, StatusCode::FORBIDDEN);
    assert_eq!(status(with("host", "evil.example")).await, StatusCode::FORBIDDEN);
    let get = Request::get("/mcp").header("host", "127.0.0.1").header("accept", "text/event-stream").body(Body::empty()).unwrap();
    assert_eq!(status(get).await, StatusCode::METHOD_NOT_ALLOWED);
    let no_browser = McpSettings { allowed_origins: Vec::new(), ..McpSettings::loopback() };
    let router = Router::new().nest("/mcp", http::routes(Desk::usual(), no_browser));
    assert_eq!(router.oneshot(with("origin", "http://127.0.0.1:5173")).await.unwrap().status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_client_that_goes_away_undoes_no_write() {
    let (desk, held) = Desk::holding();
    let calling = tokio::spawn(mounted(desk.clone()).oneshot(call("request_payment", FITTING[0].1)));
    desk.until_asked().await;
    calling.abort();
    assert!(calling.await.unwrap_err().is_cancelled());
    held.add_permits(1);
    while desk.done() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.asked().len(), 1);
}
