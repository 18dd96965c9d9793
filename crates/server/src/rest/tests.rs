use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{body::Body, extract::Request};
use bytes::Bytes;
use control::{
    access::Role,
    ids::{MandateId, OrgId},
};
use hyper::body::Frame;

use super::*;
use crate::http::{
    Limit, Limits, MAX_BODY, TooSlow,
    testing::{Answered, KEYS, Setup, empty, from, org, sent, to, with_key},
};

const CARD: &str = "4242 4242 4242 4242";
/// The same in a path or query.
const CARD_ENCODED: &str = "4242%204242%204242%204242";

/// The route's path with that in place of each parameter.
fn path_with(route: &Route, value: &str) -> String {
    let fill = |segment: &str| if segment.starts_with('{') { value.to_owned() } else { segment.to_owned() };
    route.path.split('/').map(fill).collect::<Vec<_>>().join("/")
}

fn path(route: &Route) -> String {
    path_with(route, org().as_str())
}

fn is_local(route: &Route) -> bool {
    matches!(route.call, Call::Health | Call::OpenApi)
}

/// A good request to the route, by a key of that role or none.
fn request(route: &Route, role: Option<Role>, uri: &str, body: &str) -> Request {
    let builder = role.map_or_else(|| to(route.verb.name(), uri), |role| with_key(route.verb.name(), uri, role));
    let builder = builder.header("idempotency-key", "k-1");
    match route.body {
        route::Body::None => empty(builder),
        _ => sent(builder, body.to_owned()),
    }
}

fn may(route: &Route, role: Option<Role>) -> bool {
    route.who.roles().is_none_or(|roles| role.is_some_and(|role| roles.contains(&role)))
}

#[tokio::test]
async fn every_route_and_every_role() {
    let app = Setup::default().app();
    for route in table() {
        for role in Role::ALL.iter().copied().map(Some).chain([None]) {
            let calls = app.calls();
            let answered = app.call(request(route, role, &path(route), "{}")).await;
            let name = format!("{} {} {role:?}", route.verb.name(), route.path);
            match role {
                _ if may(route, role) && route.call == Call::NotServed => {
                    assert_eq!((answered.status, answered.code().as_str()), (501, "not_available"), "{name}");
                }
                _ if may(route, role) => assert_eq!(answered.status, route.status, "{name}"),
                None => {
                    assert_eq!((answered.status, answered.code().as_str()), (401, "unauthenticated"), "{name}");
                    assert_eq!(answered.header("www-authenticate"), Some("Bearer"));
                }
                Some(_) => assert_eq!((answered.status, answered.code().as_str()), (403, "forbidden"), "{name}"),
            }
            let is_asked = may(route, role) && !is_local(route) && route.call != Call::NotServed;
            assert_eq!(app.calls() - calls, usize::from(is_asked), "{name}");
        }
    }
}

#[test]
fn no_role_may_all_and_none_approves() {
    assert_eq!(KEYS.len(), Role::ALL.len());
    let asks = |role| may(table().find(|route| route.call == Call::CreatePaymentRequest).unwrap(), Some(role));
    assert!(asks(Role::Agent) && asks(Role::Developer) && !asks(Role::Auditor) && !asks(Role::Seller));
    for route in table().filter(|route| route.verb != route::Verb::Get && route.call != Call::NotServed) {
        assert!(!may(route, Some(Role::Auditor)) || matches!(route.call, Call::VerifyBundle | Call::CreateSandboxKeys), "{}", route.path);
        assert!(!route.path.contains("approv"), "{}", route.path);
    }
}

#[tokio::test]
async fn a_role_that_may_not_is_refused_before_the_body_is_read() {
    let route = table().find(|route| route.call == Call::SignPolicy).unwrap();
    let app = Setup::default().app();
    let builder = with_key("POST", route.path, Role::Agent);
    assert_eq!(app.call(sent(builder, Body::new(NeverRead))).await.status, 403);
    let builder = with_key("POST", route.path, Role::Developer);
    assert_eq!(app.call(sent(builder, Body::new(NeverRead))).await.status, 500);
}

/// A body that panics when it is read.
struct NeverRead;

impl hyper::body::Body for NeverRead {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        panic!("the body is read")
    }
}

#[tokio::test]
async fn a_card_number_is_refused_on_every_route() {
    let app = Setup::default().app();
    for route in table() {
        let role = route.who.roles().and_then(|roles| roles.first().copied());
        let name = format!("{} {}", route.verb.name(), route.path);
        let mut refused = vec![("query", app.call(request(route, role, &format!("{}?note={CARD_ENCODED}", path(route)), "{}")).await)];
        refused.push(("query", app.call(request(route, role, &format!("{}?{CARD_ENCODED}=1", path(route)), "{}")).await));
        if route.path.contains('{') {
            refused.push(("path", app.call(request(route, role, &path_with(route, CARD_ENCODED), "{}")).await));
            refused.push(("path", app.call(request(route, role, &path_with(route, "4242424242424242"), "{}")).await));
        }
        if !matches!(route.body, route::Body::None) {
            refused.push(("body", app.call(request(route, role, &path(route), &format!(r#"{{"a":[{{"note":"{CARD}"}}]}}"#))).await));
            refused.push(("body", app.call(request(route, role, &path(route), &format!(r#"{{"{CARD}":1}}"#))).await));
        }
        let mut with_key = request(route, role, &path(route), "{}");
        with_key.headers_mut().insert("idempotency-key", CARD.parse().unwrap());
        refused.push(("header", app.call(with_key).await));
        for (place, answered) in refused {
            assert_eq!((answered.status, answered.code().as_str()), (422, "card_number_rejected"), "{name} {place}");
            assert_eq!(answered.detail("in").as_deref(), Some(place), "{name}");
            assert!(!answered.text.contains("4242"), "{name} {place}");
        }
        assert_eq!(app.calls(), 0, "{name}");
    }
}

#[tokio::test]
async fn what_is_typed_is_spared_bare_digits_alone() {
    let app = Setup::default().app();
    let digits = "4242424242424242";
    for uri in [format!("/v0/mandates?cursor={digits}"), format!("/v0/records?from={digits}&to={digits}&agent_id={digits}")] {
        assert_eq!(app.call(empty(with_key("GET", &uri, Role::Agent))).await.status, 200, "{uri}");
    }
    for uri in [format!("/v0/mandates?state={digits}"), format!("/v0/mandates?cursor={CARD_ENCODED}"), format!("/v0/mandates?limit={digits}")] {
        assert_eq!(app.call(empty(with_key("GET", &uri, Role::Agent))).await.code(), "card_number_rejected", "{uri}");
    }
    let of_digits = format!("rec_{}", "42".repeat(13));
    assert_eq!(app.call(empty(with_key("GET", &format!("/v0/records/{of_digits}"), Role::Agent))).await.status, 200);
    let ask = |body: &str| sent(with_key("POST", "/v0/payment-requests", Role::Agent).header("idempotency-key", "k"), body.to_owned());
    assert_eq!(app.call(ask(&format!(r#"{{"amount":{{"value":"{digits}"}}}}"#))).await.status, 201);
    let refused = app.call(ask(&format!(r#"{{"payee":{{"name":"{digits}"}}}}"#))).await;
    assert_eq!(refused.detail("pointer").as_deref(), Some("/payee/name"));
}

#[tokio::test]
async fn what_is_asked_is_what_was_sent() {
    let app = Setup::default().app();
    let builder = with_key("POST", "/v0/payment-requests", Role::Agent).header("idempotency-key", "order-1");
    assert_eq!(app.call(sent(builder, r#"{"b":1,"a":"\u00e9"}"#)).await.status, 201);
    let id = MandateId::of([9; 16]);
    app.call(empty(with_key("GET", &format!("/v0/mandates/{id}"), Role::Auditor))).await;
    app.call(empty(with_key("GET", "/v0/records?from=2026-11-30T00%3A00%3A00Z&limit=200", Role::Agent))).await;
    app.call(empty(with_key("GET", "/v0/policies/a%2Fb/versions/3", Role::Developer))).await;
    app.call(empty(with_key("POST", "/v0/consents/c/revoke", Role::Developer))).await;
    app.call(empty(with_key("GET", "/log/o/tile/0/x001/234.p/5", Role::Seller))).await;
    let asked = app.asked.lock().unwrap();
    assert_eq!(asked[0].call, Call::CreatePaymentRequest);
    assert_eq!(asked[0].idempotency_key.as_deref(), Some("order-1"));
    assert_eq!(asked[0].body.as_ref().map(lcp::json::write).as_deref(), Some(r#"{"b":1,"a":"é"}"#));
    assert_eq!(asked[0].caller.as_ref().unwrap().role, Role::Agent);
    assert_eq!(asked[1].path, [("id".to_owned(), id.to_string())]);
    let query = [("from", "2026-11-30T00:00:00Z"), ("limit", "200")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(asked[2].query, Query::from(query));
    assert_eq!(asked[3].path, [("id".to_owned(), "a/b".to_owned()), ("n".to_owned(), "3".to_owned())]);
    assert_eq!((asked[4].call, &asked[4].body), (Call::RevokeConsent, &None));
    assert_eq!(asked[5].path, [("org".to_owned(), "o".to_owned()), ("path".to_owned(), "0/x001/234.p/5".to_owned())]);
}

#[tokio::test]
async fn an_idempotency_key_is_required_to_ask() {
    let app = Setup::default().app();
    let ask = |keys: &[&str]| {
        let builder = with_key("POST", "/v0/payment-requests", Role::Agent);
        sent(keys.iter().fold(builder, |builder, key| builder.header("idempotency-key", *key)), "{}")
    };
    assert_eq!(app.call(ask(&[])).await.code(), "idempotency_key_required");
    let (longest, longer) = ("k".repeat(255), "k".repeat(256));
    for keys in [&[""][..], &["a b"], &["a\tb"], &["a", "a"], &[&longer]] {
        let refused = app.call(ask(keys)).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, "idempotency_key_invalid"), "{keys:?}");
    }
    for key in ["a", "!~", &longest] {
        assert_eq!(app.call(ask(&[key])).await.status, 201);
    }
    let mut not_ascii = ask(&[]);
    not_ascii.headers_mut().insert("idempotency-key", axum::http::HeaderValue::from_bytes("é".as_bytes()).unwrap());
    assert_eq!(app.call(not_ascii).await.code(), "idempotency_key_invalid");
}

#[tokio::test]
async fn a_replay_says_so() {
    let app = Setup { reply: |_| Ok(Reply::Replayed(Object::new().with("id", "pr_1"))), ..Setup::default() }.app();
    let again = app.call(sent(with_key("POST", "/v0/payment-requests", Role::Agent).header("idempotency-key", "k"), "{}")).await;
    assert_eq!((again.status, again.header("idempotent-replayed"), again.text.as_str()), (201, Some("true"), r#"{"id":"pr_1"}"#));
    let first = Setup::default().app().call(sent(with_key("POST", "/v0/payment-requests", Role::Agent).header("idempotency-key", "k"), "{}")).await;
    assert_eq!(first.header("idempotent-replayed"), None);
}

#[tokio::test]
async fn queries() {
    let app = Setup::default().app();
    let get = |uri: &str| empty(with_key("GET", uri, Role::Developer));
    for uri in ["/v0/me?a=1", "/v0/mandates?Limit=1", "/v0/payment-requests/p?waits=1", "/v0/openapi.json?a"] {
        let refused = app.call(get(uri)).await;
        assert_eq!((refused.status, refused.code().as_str()), (422, "unknown_parameter"), "{uri}");
    }
    for value in ["-1", "26", "", "1.0", "+1", "01", "99999999999999999999", "x", "%F0%9D%9F%8F"] {
        let refused = app.call(get(&format!("/v0/payment-requests/p?wait={value}"))).await;
        assert_eq!((refused.status, refused.code().as_str()), (422, "parameter_malformed"), "{value}");
    }
    for uri in ["/v0/mandates?limit=0", "/v0/mandates?limit=201", "/v0/mandates?state=a&state=a", "/v0/mandates?state=%ff"] {
        assert_eq!(app.call(get(uri)).await.code(), "parameter_malformed", "{uri}");
    }
    for uri in ["/v0/payment-requests/p?wait=0", "/v0/payment-requests/p?wait=25", "/v0/mandates?", "/v0/mandates?&limit=1&", "/v0/mandates?state="] {
        assert_eq!(app.call(get(uri)).await.status, 200, "{uri}");
    }
}

#[tokio::test]
async fn bodies() {
    let app = Setup::default().app();
    let post = |media_type: Option<&str>, body: Body| {
        let builder = with_key("POST", "/v0/agents", Role::Developer);
        media_type
            .map_or(builder.method("POST"), |media_type| with_key("POST", "/v0/agents", Role::Developer).header("content-type", media_type))
            .body(body)
            .unwrap()
    };
    let refused = |answered: &Answered| (answered.status, answered.code());
    let json = Some("application/json");
    for body in ["", " ", "{", "{'a':1}", "{\"a\":NaN}", "\u{feff}{}", &"[".repeat(65), "{}{}"] {
        assert_eq!(refused(&app.call(post(json, body.to_owned().into())).await), (400, "not_json".to_owned()), "{body}");
    }
    assert_eq!(refused(&app.call(post(json, vec![b'"', 0xFF, b'"'].into())).await), (400, "not_json".to_owned()));
    let twice = r#"{"amount":{"value":"1.00","value":"9.00","currency":"USD"}}"#;
    assert_eq!(refused(&app.call(post(json, twice.to_owned().into())).await), (400, "repeated_member".to_owned()));
    for media_type in ["text/plain", "application/x-www-form-urlencoded", ""] {
        assert_eq!(refused(&app.call(post(Some(media_type), "{}".into())).await), (415, "unsupported_media_type".to_owned()), "{media_type}");
    }
    assert_eq!(app.call(post(None, "{}".into())).await.status, 201);
    assert_eq!(app.call(post(Some("application/json; charset=utf-8"), "[]".into())).await.status, 201);
    let text_of = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
    assert_eq!(app.call(post(json, text_of(MAX_BODY).into())).await.status, 201);
    assert_eq!(refused(&app.call(post(json, text_of(MAX_BODY + 1).into())).await), (413, "body_too_large".to_owned()));
    let mut stated = post(json, "{}".into());
    stated.headers_mut().insert("content-length", (MAX_BODY + 1).to_string().parse().unwrap());
    assert_eq!(refused(&app.call(stated).await), (413, "body_too_large".to_owned()));
}

/// A body that breaks off.
struct Broken(Option<axum::Error>);

impl hyper::body::Body for Broken {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Poll::Ready(self.0.take().map(Err))
    }
}

#[tokio::test]
async fn bodies_that_break_off() {
    let app = Setup::default().app();
    for (error, status, code) in
        [(axum::Error::new(TooSlow), 408, "request_timeout"), (axum::Error::new(std::io::Error::other("reset")), 400, "body_incomplete")]
    {
        let answered = app.call(sent(with_key("POST", "/v0/agents", Role::Developer), Body::new(Broken(Some(error))))).await;
        assert_eq!((answered.status, answered.code().as_str()), (status, code));
    }
    assert_eq!(app.calls(), 0);
}

#[tokio::test]
async fn an_optional_body_may_be_left_out() {
    let app = Setup::default().app();
    let revoke = || with_key("POST", "/v0/consents/c/revoke", Role::Developer);
    assert_eq!(app.call(empty(revoke().header("content-type", "text/plain"))).await.status, 200);
    assert_eq!(app.call(sent(revoke(), "{}")).await.status, 200);
    assert_eq!(app.call(sent(revoke(), "{")).await.code(), "not_json");
    assert_eq!(app.asked.lock().unwrap().iter().map(|ask| ask.body.is_some()).collect::<Vec<_>>(), [false, true]);
}

#[tokio::test]
async fn a_connected_account_is_not_taken_for_ones_own() {
    let app = Setup::default().app();
    let refused = app.call(empty(with_key("GET", "/v0/me", Role::Agent).header("Enruta-Account", "org_2"))).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "account_not_connected"));
}

#[tokio::test]
async fn the_sandbox_is_limited_per_address() {
    let limits = Limits { sandbox_keys: Some(Limit::new(2, Duration::from_mins(1))), key: None, address: None, remembered: 10 };
    let app = Setup { limits, ..Setup::default() }.app();
    let create = |address: &str| from(sent(to("POST", "/v0/sandbox/keys"), "{}"), address);
    assert_eq!(app.call(create("192.0.2.1")).await.status, 200);
    assert_eq!(app.call(create("::ffff:192.0.2.1")).await.status, 200);
    let refused = app.call(create("192.0.2.1")).await;
    assert_eq!((refused.status, refused.code().as_str(), refused.header("retry-after")), (429, "rate_limited", Some("60")));
    assert_eq!(app.call(create("192.0.2.2")).await.status, 200);
    assert_eq!(app.call(create("2001:db8::1")).await.status, 200);
    assert_eq!(app.call(create("2001:db8::2")).await.status, 200);
    assert_eq!(app.call(create("2001:db8::3")).await.status, 429);
    app.advance(Duration::from_mins(1));
    assert_eq!(app.call(create("192.0.2.1")).await.status, 200);
    let none = Setup { sandbox: false, ..Setup::default() }.app();
    assert_eq!(none.call(create("192.0.2.1")).await.code(), "not_a_sandbox");
    assert_eq!(none.calls(), 0);
}

#[tokio::test]
async fn answers_are_of_the_routes_media_type() {
    let reply = |ask: &Ask| {
        Ok(match ask.call {
            Call::GetTile => Reply::Bytes(vec![0, 1, 2]),
            _ => Reply::Text("{\"a\" : 1}".to_owned()),
        })
    };
    let app = Setup { reply, ..Setup::default() }.app();
    let get = |uri: &str| empty(with_key("GET", uri, Role::Agent));
    let record = app.call(get("/v0/records/r")).await;
    assert_eq!((record.header("content-type"), record.text.as_str()), (Some("application/json"), "{\"a\" : 1}"));
    assert_eq!(app.call(get("/log/o/checkpoint")).await.header("content-type"), Some("text/plain; charset=utf-8"));
    let tile = app.call(get("/log/o/tile/0/000")).await;
    assert_eq!((tile.header("content-type"), tile.text.as_bytes()), (Some("application/octet-stream"), &[0, 1, 2][..]));
}

#[tokio::test]
async fn a_problem_keeps_its_status_and_retry_after() {
    let app = Setup { reply: |_| Err(Problem::new(409, "idempotency_in_flight", "Wait.").retry_after(3)), ..Setup::default() }.app();
    let refused = app.call(empty(with_key("GET", "/v0/me", Role::Agent))).await;
    assert_eq!((refused.status, refused.code().as_str(), refused.header("retry-after")), (409, "idempotency_in_flight", Some("3")));
}

#[tokio::test]
async fn a_log_of_another_organization_is_not_there() {
    let caller = Caller { role: Role::Agent, org: org(), agent: None, domain: None, key: control::ids::KeyId::of([0; 16]), prefix: String::new() };
    let ask = |call, first: &OrgId| Ask {
        call,
        caller: Some(caller.clone()),
        path: vec![("org".to_owned(), first.to_string()), ("path".to_owned(), "0/000".to_owned())],
        query: Query::new(),
        body: None,
        idempotency_key: None,
    };
    for call in [Call::GetCheckpoint, Call::GetTile] {
        assert!(calls::is_own_log(&ask(call, &org())));
        assert!(!calls::is_own_log(&ask(call, &OrgId::of([8; 16]))));
    }
}

#[tokio::test]
async fn unknown_paths_and_methods() {
    let app = Setup::default().app();
    for uri in ["/", "/v0", "/v0/nothing", "/v0/me/", "/v0//me", "/V0/me", "/v0/records/a/b", "/v0/records/%ff"] {
        let missing = app.call(empty(with_key("GET", uri, Role::Agent))).await;
        assert_eq!((missing.status, missing.code().as_str()), (404, "not_found"), "{uri}");
    }
    let wrong = app.call(empty(with_key("DELETE", "/v0/payment-requests", Role::Agent))).await;
    assert_eq!((wrong.status, wrong.code().as_str(), wrong.header("allow")), (405, "method_not_allowed", Some("POST")));
}

/// The rows of the document's table: route, operation, who, what.
#[test]
fn the_document_on_access_is_the_table() {
    let document = include_str!("../../../../docs/access.md");
    let rows: Vec<&str> = document.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = table().map(row).collect();
    for (row, expected) in rows.iter().zip(&expected) {
        assert_eq!(row, expected);
    }
    assert_eq!(rows.len(), expected.len(), "the rows are:\n{}", expected.join("\n"));
}

fn row(route: &Route) -> String {
    let who = match route.who.roles() {
        None => "anybody".to_owned(),
        Some(roles) if roles == Role::ALL => "every key".to_owned(),
        Some(roles) => roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", "),
    };
    format!("| `{} {}` | `{}` | {who} | {} |", route.verb.name(), route.path, route.operation, route.summary)
}
