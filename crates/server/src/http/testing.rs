//! The whole stack over a service of the test's own.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{HeaderMap, request},
    response::Response,
};
use control::{
    access::Role,
    ids::{AgentId, KeyId, OrgId},
};
use http_body_util::BodyExt as _;
use lcp::{Object, Value, json};
use tower::ServiceExt as _;

use super::{HttpSettings, Limits, Line, listen::Peer, stack};
use crate::{
    Caller, Problem,
    public_url::PublicUrl,
    rest::{self, Ask, Port, Reply},
};

/// The names that the tests' keys have: one per role.
pub(crate) const KEYS: &[(&str, Role)] =
    &[("KEY_agent", Role::Agent), ("KEY_developer", Role::Developer), ("KEY_auditor", Role::Auditor), ("KEY_seller", Role::Seller)];

/// The key of that role.
pub(crate) fn key(role: Role) -> String {
    format!("KEY_{}", role.as_str())
}

/// The organization of every key.
pub(crate) fn org() -> OrgId {
    OrgId::of([1; 16])
}

fn caller(key: &str) -> Result<Caller, Problem> {
    let (place, (_, role)) = KEYS.iter().enumerate().find(|(_, (name, _))| *name == key).ok_or_else(Problem::unauthenticated)?;
    Ok(Caller {
        org: org(),
        role: *role,
        agent: (*role == Role::Agent).then(|| AgentId::of([2; 16])),
        domain: None,
        key: KeyId::of([u8::try_from(place).unwrap(); 16]),
        prefix: "KEY_".to_owned(),
    })
}

/// The application over a port that keeps what it was asked.
pub(crate) struct App {
    pub(crate) router: Router,
    pub(crate) asked: Arc<Mutex<Vec<Ask>>>,
    pub(crate) lines: Arc<Mutex<Vec<Line>>>,
    pub(crate) now: Arc<Mutex<Instant>>,
}

/// What a test changes.
pub(crate) struct Setup {
    pub(crate) limits: Limits,
    pub(crate) sandbox: bool,
    pub(crate) mcp: Router,
    pub(crate) pages: Router,
    pub(crate) reply: fn(&Ask) -> Result<Reply, Problem>,
}

impl Default for Setup {
    fn default() -> Self {
        let limits = Limits { key: None, address: None, sandbox_keys: None, remembered: 100 };
        Self { limits, sandbox: true, mcp: Router::new(), pages: Router::new(), reply: |_| Ok(Reply::Json(Object::new().with("done", true))) }
    }
}

impl Setup {
    pub(crate) fn app(self) -> App {
        let (asked, lines) = (Arc::<Mutex<Vec<Ask>>>::default(), Arc::<Mutex<Vec<Line>>>::default());
        let now = Arc::new(Mutex::new(Instant::now()));
        let (clock, written) = (Arc::clone(&now), Arc::clone(&lines));
        let counter = Mutex::new(0u128);
        let random = move || {
            let mut counter = counter.lock().unwrap();
            *counter += 1;
            counter.to_be_bytes()
        };
        let settings = HttpSettings::new(PublicUrl::parse("http://localhost:8080").unwrap(), move || *clock.lock().unwrap(), random);
        let settings = HttpSettings {
            sandbox: self.sandbox,
            limits: self.limits,
            log: Some(Arc::new(move |line| written.lock().unwrap().push(line.clone()))),
            ..settings
        };
        let (reply, kept) = (self.reply, Arc::clone(&asked));
        let port: Port = Arc::new(move |ask: Ask| {
            let answered = reply(&ask);
            kept.lock().unwrap().push(ask);
            Box::pin(async move { answered })
        });
        let inner = rest::router(port, &settings).merge(self.pages).nest("/mcp", self.mcp);
        let router = stack::around(inner, Arc::new(|key| Box::pin(async move { caller(&key) })), settings);
        App { router, asked, lines, now }
    }
}

impl App {
    pub(crate) async fn call(&self, request: Request) -> Answered {
        Answered::read(self.router.clone().oneshot(request).await.unwrap()).await
    }

    /// How many calls came through.
    pub(crate) fn calls(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    pub(crate) fn advance(&self, time: Duration) {
        *self.now.lock().unwrap() += time;
    }
}

/// A request to an allowed host.
pub(crate) fn to(method: &str, uri: &str) -> request::Builder {
    Request::builder().method(method).uri(uri).header("host", "localhost:8080")
}

/// The same with a key.
pub(crate) fn with_key(method: &str, uri: &str, role: Role) -> request::Builder {
    to(method, uri).header("authorization", format!("Bearer {}", key(role)))
}

/// From that address.
pub(crate) fn from(mut request: Request, address: &str) -> Request {
    request.extensions_mut().insert(Peer(address.parse().unwrap()));
    request
}

/// An answer, read.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answered {
    async fn read(response: Response) -> Self {
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Self { status: head.status.as_u16(), headers: head.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        json::parse(&self.text, json::MAX_DEPTH).unwrap()
    }

    /// The code of the envelope.
    pub(crate) fn code(&self) -> String {
        let body = self.json();
        let error = body.get("error").unwrap();
        assert!(error.get("message").and_then(Value::as_str).is_some_and(|message| message.ends_with('.')), "{}", self.text);
        error.get("code").and_then(Value::as_str).unwrap().to_owned()
    }

    pub(crate) fn detail(&self, name: &str) -> Option<String> {
        Some(self.json().get("error")?.get("details")?.get(name)?.as_str()?.to_owned())
    }
}

/// A body.
pub(crate) fn sent(builder: request::Builder, body: impl Into<Body>) -> Request {
    builder.header("content-type", "application/json").body(body.into()).unwrap()
}

/// No body.
pub(crate) fn empty(builder: request::Builder) -> Request {
    builder.body(Body::empty()).unwrap()
}
