use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::header,
    response::Response,
    routing::{any, get},
};
use control::access::Role;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

use super::{
    Limit, Limits, MAX_BODY, RequestId, serve,
    testing::{App, Setup, empty, from, key, sent, to, with_key},
};
use crate::{Caller, Problem, rest::Reply};

/// What a surface sees of its requests.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn router(&self) -> Router {
        let seen = self.0.clone();
        Router::new().route(
            "/",
            any(move |request: Request| {
                let role = request.extensions().get::<Caller>().map(|caller| caller.role);
                seen.lock().unwrap().push(format!("{role:?} {request:?}"));
                std::future::ready("seen")
            }),
        )
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn with_mcp(seen: &Seen) -> App {
    Setup { mcp: seen.router(), ..Setup::default() }.app()
}

#[tokio::test]
async fn a_key_in_the_path_works_and_is_seen_nowhere() {
    let seen = Seen::default();
    let app = with_mcp(&seen);
    let secret = key(Role::Agent);
    for uri in [format!("/mcp/{secret}"), format!("/mcp/{secret}/"), format!("//mcp//{secret}"), format!("/mcp/{secret}?q=1")] {
        let answered = app.call(sent(to("POST", &uri), "{}")).await;
        assert_eq!((answered.status, answered.text.as_str()), (200, "seen"), "{uri}");
    }
    let requests = seen.take();
    assert_eq!(requests.len(), 4);
    for request in requests {
        assert!(request.starts_with("Some(Agent)") && !request.contains("KEY_"), "{request}");
    }
    // In what is refused, too.
    for uri in [
        format!("/mcp/{secret}/more"),
        format!("/mcp/{secret}x"),
        format!("/MCP/{secret}/"),
        format!("/%6dcp/{secret}"),
        format!("/mcp/ /{secret}").replace(' ', ""),
    ] {
        let answered = app.call(sent(to("POST", &uri), "{}")).await;
        assert!(!format!("{answered:?}").contains("KEY_"), "{uri}");
    }
    let lines = app.lines.lock().unwrap();
    assert_eq!(lines.len(), 9);
    assert!(lines.iter().all(|line| !line.to_string().contains("KEY_")));
    assert_eq!((lines[0].route.as_deref(), lines[0].status.as_u16()), (Some("/mcp"), 200));
}

#[tokio::test]
async fn mcp_wants_a_key() {
    let seen = Seen::default();
    let app = with_mcp(&seen);
    let bearer = |uri: &str, value: &str| sent(to("POST", uri).header("authorization", value), "{}");
    for refused in
        [sent(to("POST", "/mcp"), "{}"), sent(to("POST", "/mcp/unknown"), "{}"), bearer("/mcp", "Bearer unknown"), bearer("/mcp", "Basic x")]
    {
        let answered = app.call(refused).await;
        assert_eq!((answered.status, answered.code().as_str()), (401, "unauthenticated"));
        assert_eq!(answered.header("www-authenticate"), Some("Bearer"));
    }
    assert_eq!(app.call(bearer("/mcp/KEY_agent", "Bearer KEY_seller")).await.code(), "two_keys");
    assert!(seen.take().is_empty());
    assert_eq!(app.call(bearer("/mcp/KEY_agent", "bearer KEY_agent")).await.status, 200);
    assert_eq!(app.call(bearer("/mcp", "BEARER KEY_agent")).await.status, 200);
    let requests = seen.take();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| !request.contains("KEY_")), "{requests:?}");
}

#[tokio::test]
async fn hosts_and_origins_are_checked_on_every_surface() {
    let seen = Seen::default();
    let app = Setup { mcp: seen.router(), pages: Router::new().route("/page", get(|| std::future::ready("page"))), ..Setup::default() }.app();
    for uri in ["/v0/me", "/mcp", "/mcp/KEY_agent", "/page", "/healthz", "/nothing"] {
        let rebound = Request::builder().uri(uri).header("host", "evil.example").header("authorization", "Bearer KEY_agent");
        assert_eq!(app.call(empty(rebound)).await.code(), "host_not_allowed", "{uri}");
        let foreign = app.call(empty(with_key("GET", uri, Role::Agent).header("origin", "https://evil.example"))).await;
        assert_eq!((foreign.status, foreign.code().as_str()), (403, "origin_not_allowed"), "{uri}");
        assert!(foreign.header("x-request-id").is_some());
    }
    assert!(seen.take().is_empty());
    assert_eq!(app.call(empty(to("GET", "/page").header("origin", "http://localhost:8080"))).await.status, 200);
}

#[tokio::test]
async fn every_answer_has_an_id_of_its_own_and_headers() {
    let pages = Router::new()
        .route("/page", get(|| std::future::ready("page")))
        .route("/own", get(|| std::future::ready(([("referrer-policy", "origin"), ("x-request-id", "theirs")], "page"))));
    let app = Setup { pages, ..Setup::default() }.app();
    let mut ids = Vec::new();
    for (request, policy, cache) in [
        (with_key("GET", "/v0/me", Role::Agent), "no-referrer", Some("no-store")),
        (to("GET", "/v0/me"), "no-referrer", Some("no-store")),
        (to("GET", "/mcp"), "no-referrer", Some("no-store")),
        (to("GET", "/nothing"), "no-referrer", None),
        (to("GET", "/healthz"), "no-referrer", None),
        (to("GET", "/page"), "no-referrer", None),
        (to("GET", "/own"), "origin", None),
        (Request::builder().uri("/v0/me"), "no-referrer", Some("no-store")),
    ] {
        let answered = app.call(empty(request.header("x-request-id", "theirs"))).await;
        assert_eq!(answered.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answered.header("referrer-policy"), Some(policy));
        assert_eq!(answered.header("cache-control"), cache);
        ids.push(answered.header("x-request-id").unwrap().to_owned());
    }
    let logged: Vec<_> = app.lines.lock().unwrap().iter().map(|line| line.request_id.clone()).collect();
    assert_eq!(ids, logged);
    assert_eq!(ids[0], "req_00000000000000000000000000000001");
    ids.dedup();
    assert_eq!(ids.len(), 8);
}

#[tokio::test]
async fn a_panic_is_a_fault_of_one_request() {
    async fn panics() -> &'static str {
        panic!("on purpose")
    }
    let app = Setup { pages: Router::new().route("/panics", get(panics)), ..Setup::default() }.app();
    let answered = app.call(empty(to("GET", "/panics"))).await;
    assert_eq!((answered.status, answered.code().as_str()), (500, "internal"));
    assert!(answered.header("x-request-id").is_some());
    assert_eq!(app.call(empty(to("GET", "/healthz"))).await.status, 200);
}

#[tokio::test]
async fn lines_hold_patterns() {
    let app = Setup { reply: |_| Err(Problem::not_found()), ..Setup::default() }.app();
    app.call(empty(with_key("GET", "/v0/records/rec_secret/linked?cursor=secret", Role::Agent))).await;
    app.call(empty(to("GET", "/nothing/secret"))).await;
    app.call(empty(to("secret", "/v0/me"))).await;
    let lines: Vec<String> = app.lines.lock().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            r#"{"method":"GET","route":"/v0/records/{id}/linked","status":404,"ms":0,"request_id":"req_00000000000000000000000000000001"}"#,
            r#"{"method":"GET","route":null,"status":404,"ms":0,"request_id":"req_00000000000000000000000000000002"}"#,
            r#"{"method":"OTHER","route":"/v0/me","status":405,"ms":0,"request_id":"req_00000000000000000000000000000003"}"#,
        ]
    );
}

#[tokio::test]
async fn each_key_has_its_own_limit() {
    let limits = Limits { key: Some(Limit::new(2, Duration::from_secs(5))), address: None, sandbox_keys: None, remembered: 10 };
    let app = Setup { limits, ..Setup::default() }.app();
    let me = |role, address| from(empty(with_key("GET", "/v0/me", role)), address);
    assert_eq!(app.call(me(Role::Agent, "192.0.2.1")).await.status, 200);
    assert_eq!(app.call(me(Role::Agent, "192.0.2.2")).await.status, 200);
    let refused = app.call(me(Role::Agent, "192.0.2.3")).await;
    assert_eq!((refused.status, refused.code().as_str(), refused.header("retry-after")), (429, "rate_limited", Some("5")));
    assert_eq!(app.call(me(Role::Seller, "192.0.2.1")).await.status, 200);
    app.advance(Duration::from_millis(4500));
    assert_eq!(app.call(me(Role::Agent, "192.0.2.1")).await.header("retry-after"), Some("1"));
    app.advance(Duration::from_millis(500));
    assert_eq!(app.call(me(Role::Agent, "192.0.2.1")).await.status, 200);
    assert_eq!(app.calls(), 4);
}

#[tokio::test]
async fn who_tries_keys_is_limited_by_address() {
    let limits = Limits { key: None, address: Some(Limit::new(2, Duration::from_mins(1))), sandbox_keys: None, remembered: 10 };
    let app = Setup { limits, ..Setup::default() }.app();
    let tried = |key: &str, address| from(empty(to("GET", "/v0/me").header("authorization", format!("Bearer {key}"))), address);
    assert_eq!(app.call(tried("a", "192.0.2.1")).await.status, 401);
    assert_eq!(app.call(from(empty(to("GET", "/healthz")), "192.0.2.1")).await.status, 200);
    assert_eq!(app.call(tried("b", "192.0.2.1")).await.header("retry-after"), Some("60"));
    assert_eq!(app.call(from(empty(to("GET", "/mcp/c")), "192.0.2.1")).await.status, 429);
    // A key in use is not held up by those who try at the same address.
    assert_eq!(app.call(tried("KEY_agent", "192.0.2.1")).await.status, 200);
    assert_eq!(app.call(tried("a", "192.0.2.2")).await.status, 401);
}

#[tokio::test]
async fn a_body_without_end_is_cut() {
    async fn whole(body: Body) -> Response {
        match axum::body::to_bytes(body, usize::MAX).await {
            Ok(bytes) => Response::new(bytes.len().to_string().into()),
            Err(_) => super::problem(&super::too_large()),
        }
    }
    let app = Setup { pages: Router::new().route("/whole", any(whole)), ..Setup::default() }.app();
    assert_eq!(app.call(sent(to("POST", "/whole"), vec![0; MAX_BODY])).await.text, MAX_BODY.to_string());
    assert_eq!(app.call(sent(to("POST", "/whole"), vec![0; MAX_BODY + 1])).await.status, 413);
}

#[tokio::test]
async fn pages_see_their_requests_as_they_came() {
    async fn echo(request: Request) -> String {
        let authorization = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        format!("{authorization} {} {}", request.extensions().get::<Caller>().is_some(), request.extensions().get::<RequestId>().unwrap().as_str())
    }
    let app = Setup { pages: Router::new().route("/approve/{id}", get(echo)), ..Setup::default() }.app();
    let answered = app.call(empty(with_key("GET", "/approve/apv_1", Role::Agent))).await;
    assert_eq!(answered.text, "Bearer KEY_agent false req_00000000000000000000000000000001");
}

/// Everything that the server sends until it closes.
async fn exchange(address: std::net::SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn the_listener_speaks_http_and_ends_when_told() {
    let app = Setup { reply: |_| Ok(Reply::Text("done".to_owned())), ..Setup::default() }.app();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(serve(listener, app.router.clone(), async { _ = stopped.await }));
    // Two requests on one connection.
    let two = "GET /healthz HTTP/1.1\r\nHost: localhost:8080\r\n\r\nGET /nothing HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n";
    let answers = exchange(address, two.as_bytes()).await;
    assert!(answers.starts_with("HTTP/1.1 200 OK\r\n") && answers.contains("HTTP/1.1 404 Not Found\r\n"), "{answers}");
    assert!(exchange(address, b"nonsense\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    let long = format!("GET /healthz HTTP/1.1\r\nHost: localhost:8080\r\nx: {}\r\n\r\n", "x".repeat(64 << 10));
    assert!(exchange(address, long.as_bytes()).await.starts_with("HTTP/1.1 431"));
    let many = format!("GET /healthz HTTP/1.1\r\nHost: localhost:8080\r\n{}\r\n", "x: y\r\n".repeat(100));
    assert!(exchange(address, many.as_bytes()).await.starts_with("HTTP/1.1 431"));
    // Who sends a whole body before it reads gets the answer all the same.
    for (length, status) in [(1 << 20, "401"), ((1 << 20) + 1, "413"), (6 << 20, "413")] {
        let mut request =
            format!("POST /v0/agents HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n").into_bytes();
        request.resize(request.len() + length, b'x');
        assert!(exchange(address, &request).await.starts_with(&format!("HTTP/1.1 {status}")), "{length}");
    }
    let asks = "POST /v0/agents HTTP/1.1\r\nHost: localhost:8080\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n\r\n";
    assert!(exchange(address, asks.as_bytes()).await.starts_with("HTTP/1.1 413"));
    // An idle connection does not hold up the end.
    let _idle = TcpStream::connect(address).await.unwrap();
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn an_answer_that_was_begun_is_finished() {
    let (entered, on_entry) = oneshot::channel();
    let (release, released) = oneshot::channel();
    let once = Mutex::new(Some((entered, released)));
    let slow = move || {
        let (entered, released) = once.lock().unwrap().take().unwrap();
        async move {
            entered.send(()).unwrap();
            Bytes::from(released.await.unwrap_or("dropped"))
        }
    };
    let slow = Arc::new(slow);
    let pages = Router::new().route("/slow", get(move || slow()));
    let app = Setup { pages, ..Setup::default() }.app();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(serve(listener, app.router.clone(), async { _ = stopped.await }));
    let call = tokio::spawn(async move { exchange(address, b"GET /slow HTTP/1.1\r\nHost: localhost:8080\r\n\r\n").await });
    on_entry.await.unwrap();
    stop.send(()).unwrap();
    release.send("finished").unwrap();
    server.await.unwrap().unwrap();
    assert!(call.await.unwrap().ends_with("finished"));
}
