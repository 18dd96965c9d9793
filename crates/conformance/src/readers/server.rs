//! The readers of the control plane's server: HTTP in all its surfaces, MCP lines, and what the operator gives.

use std::{cell::RefCell, path::Path};

use axum::{
    Router,
    body::{self, Body},
    http::{HeaderName, HeaderValue, Method, Request, Response, Uri, header},
};
use control::request::Form;
use lcp::{Object, Value, json};
use server::{
    Caller, Problem, Service,
    config::{Config, Flags, SETTINGS, variable_name},
    http::{self, HttpSettings, Limits},
    local,
    mcp::{self, McpSettings},
    pages::{self, PageSettings},
    public_url::PublicUrl,
    service::{Paths, ServiceOptions},
    temp_folder::TempFolder,
};
use tokio::{io::AsyncReadExt as _, runtime};
use tower::ServiceExt as _;

use super::judge;

/// Where the server says it is.
const BASE: &str = "http://127.0.0.1:7420";
/// After so many inputs a new server takes over, so that what one holds stays small.
const INPUTS: u32 = 2000;
const PING: &str = "the-ping-behind-it";

/// A sandbox's server in a folder of its own, with a payment that was allowed and one that a person is asked about.
struct Plane {
    service: Service,
    router: Router,
    agent: Caller,
    /// What stands for a secret in the head of an input, and the secret; none ever comes back.
    secrets: Vec<(&'static str, String)>,
    /// What stands for an id of the server's in an input, and the id.
    ids: Vec<(&'static str, String)>,
    inputs: u32,
    /// Goes away last.
    _folder: TempFolder,
}

thread_local! {
    static PLANE: RefCell<Option<Plane>> = const { RefCell::new(None) };
}

/// Runs a future over the server of this thread. Whatever fails in making one is a fault of the target's.
fn with_plane(run: impl AsyncFnOnce(&Plane)) {
    let runtime = runtime::Builder::new_current_thread().enable_time().build().unwrap_or_else(|error| panic!("{error}"));
    PLANE.with_borrow_mut(|plane| {
        if plane.as_ref().is_none_or(|plane| plane.inputs == INPUTS) {
            *plane = Some(runtime.block_on(Plane::open()).unwrap_or_else(|problem| panic!("{problem:?}")));
        }
        if let Some(plane) = plane {
            plane.inputs += 1;
            runtime.block_on(run(plane));
        }
    });
}

impl Plane {
    async fn open() -> Result<Self, Problem> {
        let broken = |_| Problem::new(500, "internal", "no folder");
        let folder = TempFolder::new().map_err(broken)?;
        let paths = Paths { database: folder.path().join("db"), master_key: folder.path().join("key") };
        let service = Service::open(&paths, ServiceOptions { is_durable: false, ..ServiceOptions::sandbox(BASE) }).await?;
        let first = service.first_start().await?.ok_or_else(Problem::not_found)?;
        let agent = service.authenticate(&first.agent_key).await?;
        let setup = first.setup_url.rsplit('/').next().unwrap_or_default();
        let session = service.set_password(setup, "correct horse battery").await?;
        let person = service.person(&session.0).await?;
        let purchase = |value: &str| {
            Object::new()
                .with("payee", Object::new().with("domain", first.to_json().get("seller_domain").cloned().unwrap_or(Value::Null)))
                .with("amount", Object::new().with("value", value).with("currency", "USD"))
                .with("purpose", "paper")
        };
        let allowed = service.request_payment(&agent, &purchase("10.00").into(), Form::Rest, Some("k-1")).await?.view;
        let asked = service.request_payment(&agent, &purchase("60.00").into(), Form::Rest, Some("k-2")).await?.view;
        let at = |view: &Object, path: &[&str]| {
            let whole = Value::from(view.clone());
            path.iter().try_fold(&whole, |value, name| value.get(name)).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let page = service.approval_page(&person, &at(&asked, &["approval", "id"])).await?;
        let url = PublicUrl::parse(BASE).map_err(|_| Problem::not_found())?;
        let mut settings = HttpSettings::new(url, std::time::Instant::now, || [7; 16]);
        settings.limits = Limits { key: None, address: None, sandbox_keys: None, ..Limits::default() };
        let pages = pages::router(service.clone(), PageSettings { public_url: BASE.into(), sandbox: true });
        let router = http::app(service.clone(), settings, mcp::router(service.clone(), McpSettings::loopback()), pages);
        Ok(Self {
            secrets: vec![
                ("{agent}", first.agent_key.clone()),
                ("{developer}", first.developer_key.clone()),
                ("{seller}", first.seller_key.clone()),
                ("{session}", session.0),
            ],
            ids: vec![
                ("{request}", at(&allowed, &["id"])),
                ("{waiting}", at(&asked, &["id"])),
                ("{mandate}", at(&allowed, &["mandate", "id"])),
                ("{jws}", at(&allowed, &["mandate", "jws"])),
                ("{record}", at(&allowed, &["record_id"])),
                ("{approval}", at(&asked, &["approval", "id"])),
                ("{digest}", page.digest),
                ("{csrf}", person.csrf),
                ("{org}", first.org.to_string()),
                ("{agent_id}", first.agent.to_string()),
            ],
            service,
            router,
            agent,
            inputs: 0,
            _folder: folder,
        })
    }

    fn filled(&self, text: &str, with_secrets: bool) -> String {
        let secrets = self.secrets.iter().filter(|_| with_secrets);
        secrets.chain(&self.ids).fold(text.to_owned(), |text, (place, value)| text.replace(place, value))
    }

    /// The request that an input writes: method and target, headers a line each, an empty line, the body.
    fn request(&self, text: &str) -> Option<Request<Body>> {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let head = self.filled(head, true);
        let mut lines = head.split('\n');
        let (method, target) = lines.next()?.split_once(' ')?;
        let mut request = Request::new(Body::from(self.filled(body, false)));
        *request.method_mut() = Method::from_bytes(method.as_bytes()).ok()?;
        *request.uri_mut() = target.parse::<Uri>().ok()?;
        for line in lines {
            let (name, value) = line.split_once(": ")?;
            request.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_bytes(value.as_bytes()).ok()?);
        }
        request.headers_mut().entry(header::HOST).or_insert(HeaderValue::from_static("127.0.0.1:7420"));
        Some(request)
    }
}

/// A request to any surface is answered, never by a fault of the server's; the answer repeats no key, no session and no card
/// number, what refuses says only what is ours to say, and a browser is sent to our own pages alone.
pub fn http_request(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // Some calls wait for a person.
    if text.contains("wait") {
        return;
    }
    with_plane(async |plane| {
        let Some(request) = plane.request(text) else { return };
        let sent = text.split_once("\n\n").and_then(|(_, body)| json::parse(body, json::MAX_DEPTH).ok());
        let Ok(response) = plane.router.clone().oneshot(request).await;
        let (shown, body) = shown(response).await;
        assert!(!shown.starts_with("500"), "{shown}{body}");
        for (place, secret) in &plane.secrets {
            assert!(!shown.contains(secret.as_str()) && !body.contains(secret.as_str()), "{place} in {shown}{body}");
        }
        assert!(!judge::holds_card(&shown) && !judge::holds_card(&body), "{shown}{body}");
        let error = json::parse(&body, json::MAX_DEPTH).ok().and_then(|value| value.get("error").cloned());
        if let (Some(error), Some(sent)) = (error, sent) {
            assert!(!judge::repeats(error.get("message").and_then(Value::as_str).unwrap_or_default(), &sent), "{body}");
        }
        let location = shown.lines().find_map(|line| line.strip_prefix("location: "));
        assert!(location.is_none_or(|to| ["/approvals", "/sign-in", "/setup", "/approve/"].iter().any(|page| to.starts_with(page))), "{shown}");
    });
}

/// The status and headers of an answer, a line each, and its body.
async fn shown(response: Response<Body>) -> (String, String) {
    let status = response.status().as_u16().to_string();
    let header = |(name, value): (&HeaderName, &HeaderValue)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()));
    let head: Vec<String> = std::iter::once(status).chain(response.headers().iter().map(header)).collect();
    let body = body::to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
    (head.join("\n"), String::from_utf8_lossy(&body).into_owned())
}

/// A line from an MCP client of the control plane: whatever it is, each answer is a JSON-RPC message without a card number's
/// or a key's text, the session goes on, and a ping behind it is answered.
pub fn plane_mcp_line(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let line = text.replace('\n', " ");
    // A request under the ping's own id, or a cancellation of it, is the client's own fault; some calls wait for a person.
    if line.contains(PING) || line.contains("wait") {
        return;
    }
    with_plane(async |plane| {
        let hello = concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        );
        let lines = format!("{hello}\n{}\n{{\"jsonrpc\":\"2.0\",\"id\":\"{PING}\",\"method\":\"ping\"}}\n", plane.filled(&line, false));
        let (answers, mut theirs) = tokio::io::duplex(1 << 24);
        assert!(mcp::serve_stdio(plane.service.clone(), plane.agent.clone(), std::io::Cursor::new(lines), answers).await.is_ok());
        let mut text = String::new();
        assert!(theirs.read_to_string(&mut text).await.is_ok());
        let answers: Vec<Value> = text.lines().filter_map(|line| json::parse(line, 256).ok()).collect();
        assert_eq!(answers.len(), text.lines().count(), "{text}");
        assert!(answers.iter().all(|answer| answer.get("jsonrpc").and_then(Value::as_str) == Some("2.0")), "{text}");
        let is_ping = |answer: &Value| answer.get("id").and_then(Value::as_str) == Some(PING) && answer.get("result").is_some();
        assert!(answers.iter().any(is_ping), "{text}");
        let results = answers.iter().filter_map(|answer| answer.get("result")).map(json::write);
        assert!(results.into_iter().all(|result| !judge::holds_card(&result)), "{text}");
    });
}

/// What the operator gives: a URL has one spelling, a line of the local channel is written as it is read, and a file of
/// settings says the same as environment variables of the same values.
pub fn operator_input(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let url = PublicUrl::parse(text).ok();
    assert!(url.is_none_or(|url| PublicUrl::parse(&url.to_string()) == Ok(url)), "{text}");
    match local::Request::read(text) {
        Ok(request) => assert_eq!(local::Request::read(&json::write(&request.to_json().into())), Ok(request)),
        Err(problem) => assert!(!judge::repeats(&problem.message, &json::parse(text, json::MAX_DEPTH).unwrap_or(Value::Null)), "{problem:?}"),
    }
    let variables: Vec<(String, String)> =
        text.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| (name.into(), value.into())).collect();
    let _ = Config::read(&Flags::default(), &variables, None);
    let file = Path::new("chancery.toml");
    let home = ("CHANCERY_CONFIG".to_owned(), "chancery.toml".to_owned());
    let Ok(config) = Config::read(&Flags::default(), &[home], Some((file, text))) else { return };
    let Some(variables) = as_variables(&config) else { return };
    assert_eq!(Config::read(&Flags::default(), &variables, None).as_ref(), Ok(&config));
}

/// The settings as environment variables; `None` for a list that a text with commas cannot hold.
fn as_variables(config: &Config) -> Option<Vec<(String, String)>> {
    let hosts = &config.allowed_hosts;
    if hosts.iter().any(|host| host.is_empty() || host.contains(',') || host.trim() != host) {
        return None;
    }
    let value = |name: &str| match name {
        "data" => config.data.to_str().map(str::to_owned),
        "listen" => Some(config.listen.to_string()),
        "public_url" => config.public_url.as_ref().map(ToString::to_string),
        "allowed_hosts" => (!hosts.is_empty()).then(|| hosts.join(",")),
        "allowed_origins" => {
            let origins: Vec<String> = config.allowed_origins.iter().map(ToString::to_string).collect();
            (!origins.is_empty()).then(|| origins.join(","))
        }
        "sandbox" => Some(config.sandbox.to_string()),
        "sandbox_rail_fails" => Some(config.sandbox_rail_fails.to_string()),
        "key_calls_per_minute" => config.key_calls_per_minute.map(|calls| calls.to_string()),
        "address_calls_per_minute" => config.address_calls_per_minute.map(|calls| calls.to_string()),
        _ => Some(config.log.to_string()),
    };
    Some(SETTINGS.iter().filter_map(|setting| Some((variable_name(setting), value(setting.name)?))).collect())
}
