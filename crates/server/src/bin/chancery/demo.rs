//! `chancery demo`: the whole story on this machine, over real HTTP, with nobody at the keyboard.

mod client;
mod form;
mod screen;

use std::net::SocketAddr;

use axum::http::StatusCode;
use lcp::{
    Object, Value,
    jose::Jwks,
    json::{self, MAX_DEPTH},
};
use record::{Report, Status, Verdict, verify_bytes};
use server::{
    config::{Config, Flags},
    data_folder::DataFolder,
    local,
    service::FirstStart,
    temp_folder::TempFolder,
};
use tokio::net::TcpListener;

use crate::{arguments::Failure, output::put_line, plane::Plane, serve};
use client::{Client, Reply, form_with};
use screen::{Screen, Tone};

/// What the owner chooses.
const PASSWORD: &str = "seven quiet herons at noon";

/// The sandbox's policy, with one slot that must be known.
const POLICY: &str = r#"{
  "name": "Office purchases",
  "currency": "USD",
  "agents": "*",
  "payees": { "deny": [{ "domain": "casino.example" }], "unknown": "step_up" },
  "limits": { "per_payment": "200.00", "windows": [{ "kind": "day", "max": "500.00" }] },
  "approval": { "threshold": "50.00", "expires_in_seconds": 900 },
  "intent": { "required": ["category"], "questions": { "category": "What is this for: office supplies, books, or travel?" } }
}"#;

/// Plays it. Everything it makes goes away with it.
pub(crate) async fn run() -> Result<(), Failure> {
    let temporary = TempFolder::new().map_err(Failure::of)?;
    let mut flags = Flags::default();
    for (flag, value) in [("data", temporary.path().join("data").display().to_string()), ("listen", "127.0.0.1:0".to_owned())] {
        let setting = Flags::setting(flag).ok_or_else(|| Failure::Failed(format!("no setting {flag}")))?;
        flags.set(setting, value).map_err(Failure::of)?;
    }
    let config = Config::load(&flags, &[]).map_err(Failure::of)?;
    let lock = local::own(&DataFolder::make(&config.data).map_err(Failure::of)?).await.map_err(Failure::of)?;
    let listener = TcpListener::bind(config.listen).await.map_err(Failure::of)?;
    let address = listener.local_addr().map_err(Failure::of)?;
    let mut plane = Plane::start(lock, &config, Some(listener)).await?;
    let played = match plane.first_start.take() {
        Some(first) => tokio::select! {
            played = play(&first, address, &plane.base) => played.map_err(Failure::Failed),
            // Listened for, so that the folder goes away then too.
            _ = tokio::signal::ctrl_c() => Err(Failure::Failed("interrupted".to_owned())),
        },
        None => Err(Failure::Failed("the new folder was not new".to_owned())),
    };
    plane.stop().await?;
    played
}

/// Who plays.
struct Cast {
    screen: Screen,
    agent: Client,
    developer: Client,
    seller: Client,
    shop: String,
}

async fn play(first: &FirstStart, address: SocketAddr, base: &str) -> Result<(), String> {
    let program = |key: &str| Client::program(address, key);
    let mut cast = Cast {
        screen: Screen::new(),
        agent: program(&first.agent_key),
        developer: program(&first.developer_key),
        seller: program(&first.seller_key),
        shop: serve::seller_domain(first),
    };
    put_line("Chancery demo: an agent, its owner and a seller, all on this machine. No real money moves.");

    cast.screen.step("A server starts");
    cast.screen.say("listens at", base);
    cast.screen.say("made", "a database, signing keys, a sandbox organization, an agent and its key");
    cast.policy().await?;
    cast.allow().await?;
    cast.deny().await?;
    cast.clarify().await?;
    let paid = cast.step_up(first, address).await?;
    cast.order(&paid).await?;
    cast.records().await?;
    cast.verify(&paid.record).await?;

    put_line("\nThat was all of it, and it is gone again. To keep one: chancery serve");
    Ok(())
}

/// A payment that was approved.
struct Paid {
    mandate: String,
    amount: String,
    record: String,
}

impl Cast {
    async fn policy(&mut self) -> Result<(), String> {
        self.screen.step("The organization signs its policy");
        let page = self.developer.get("/v0/policies").await?.json()?;
        let current = page.get("data").and_then(Value::as_array).and_then(<[Value]>::first).ok_or("the sandbox has no policy")?;
        let document = json::parse(POLICY, MAX_DEPTH).map_err(|_| "the demo's policy is not JSON")?;
        let mut document = document.as_object().cloned().unwrap_or_default().with("id", text(current, &["id"])?);
        document.set("payees", payees(&document, &self.shop));
        let signed = self.developer.post("/v0/policies", &[], &document).await?.json()?;
        self.screen.say("limits", "USD 200.00 a payment, 500.00 a day; above 50.00, or to strangers, a person is asked");
        self.screen.say("knows", &format!("{}; never casino.example; what a purchase is for must be known", self.shop));
        self.screen.say("signed as", &format!("{} version {}, {}", text(&signed, &["id"])?, number(&signed, "version")?, text(&signed, &["hash"])?));
        Ok(())
    }

    /// Asks to pay over REST, and says what came of it.
    async fn ask(&mut self, key: &str, body: &Object) -> Result<Value, String> {
        let amount = body.get("amount").ok_or("no amount")?;
        let payee = body.get("payee").ok_or("no payee")?;
        let asks = format!("{} {} to {}: {:?}", text(amount, &["currency"])?, text(amount, &["value"])?, text(payee, &["domain"])?, purpose(body));
        self.screen.say("agent asks", &asks);
        self.agent.post("/v0/payment-requests", &[("idempotency-key", key)], body).await?.json()
    }

    fn decided(&self, request: &Value, expected: &str) -> Result<(), String> {
        let result = text(request, &["decision", "result"])?;
        let tone = match result.as_str() {
            "allow" => Tone::Good,
            "deny" => Tone::Bad,
            _ => Tone::Ask,
        };
        self.screen.verdict("decision", tone, &result, &reasons(request));
        self.screen.say("", &text(request, &["summary"])?);
        if result == expected { Ok(()) } else { Err(format!("the decision should have been {expected}")) }
    }

    fn mandate(&self, request: &Value) -> Result<String, String> {
        let id = text(request, &["mandate", "id"])?;
        self.screen.say("mandate", &format!("{id}, good until {}, signed", text(request, &["mandate", "expires_at"])?));
        let handler = text(request, &["mandate", "credential", "handler_id"])?;
        self.screen.say("credential", &format!("a single-use token for {handler}; never a card number"));
        text(request, &["mandate", "jws"])
    }

    async fn allow(&mut self) -> Result<(), String> {
        self.screen.step("Within the policy: allow");
        let body = purchase(("Sandbox Shop", &self.shop), "12.50", "Two boxes of paper", Some("office_supplies"));
        let request = self.ask("demo-allow", &body).await?;
        self.decided(&request, "allow")?;
        self.mandate(&request)?;
        Ok(())
    }

    async fn deny(&mut self) -> Result<(), String> {
        self.screen.step("Against the policy: deny, with every reason at once");
        let body = purchase(("Golden Casino", "casino.example"), "500.00", "Chips", Some("travel"));
        let request = self.ask("demo-deny", &body).await?;
        self.decided(&request, "deny")?;
        self.screen.say("record", &format!("{}, sealed: a denial leaves one too", text(&request, &["record_id"])?));
        Ok(())
    }

    async fn clarify(&mut self) -> Result<(), String> {
        self.screen.step("Not clear enough: clarify, then decided again");
        let body = purchase(("Sandbox Shop", &self.shop), "20.00", "The book that Ada asked for", None);
        let request = self.ask("demo-clarify", &body).await?;
        self.decided(&request, "clarify")?;
        let questions = request.get("decision").and_then(|decision| decision.get("questions")?.as_array()).ok_or("no questions")?;
        let question = questions.first().ok_or("no question")?;
        self.screen.say("question", &text(question, &["question"])?);
        self.screen.say("person says", "books");
        let answer = Object::new().with("question_id", text(question, &["id"])?).with("answer", "books");
        let answers = Object::new().with("answers", vec![Value::from(answer)]).with("answered_by", "user");
        let path = format!("/v0/payment-requests/{}/clarifications", text(&request, &["id"])?);
        let request = self.agent.post(&path, &[], &answers).await?.json()?;
        self.decided(&request, "allow")?;
        Ok(())
    }

    async fn step_up(&mut self, first: &FirstStart, address: SocketAddr) -> Result<Paid, String> {
        self.screen.step("Above the threshold: a person is asked, and approves in a page");
        let body = purchase(("Sandbox Shop", &self.shop), "80.00", "A desk lamp", Some("office_supplies"));
        let request = self.ask("demo-step-up", &body).await?;
        self.decided(&request, "step_up")?;
        let (id, url) = (text(&request, &["id"])?, text(&request, &["approval", "url"])?);
        self.screen.say("approval", &url);

        let mut waiting = Client::program(address, &first.agent_key);
        let waited = tokio::spawn(async move { get_decision(&mut waiting, &id).await });
        self.screen.say("agent waits", "with the MCP tool get_decision");

        let mut browser = Client::browser(address);
        let page = browser.open(&browser.path_of(&first.setup_url)?).await?;
        let form = form_with(&page, "again", None)?;
        shown(&browser.submit(&form, &[("password", PASSWORD), ("again", PASSWORD)]).await?)?;
        self.screen.say("owner", "opened the link of the first start, and set a password");

        let mut phone = Client::browser(address);
        let page = phone.open(&phone.path_of(&url)?).await?;
        let form = form_with(&page, "login", None)?;
        let page = phone.submit(&form, &[("login", &first.owner), ("password", PASSWORD)]).await?;
        self.screen.say("", "opened the approval on a phone, and signed in");
        let form = form_with(&page, "verdict", Some("approve"))?;
        shown(&phone.submit(&form, &[]).await?)?;
        self.screen.say("", "read who, how much and why, and pressed Approve");

        let request = waited.await.map_err(|error| error.to_string())??;
        self.screen.say("agent wakes", "get_decision returns");
        self.decided(&request, "allow")?;
        let mandate = self.mandate(&request)?;
        Ok(Paid { mandate, amount: "80.00".to_owned(), record: text(&request, &["record_id"])? })
    }

    async fn order(&mut self, paid: &Paid) -> Result<(), String> {
        self.screen.step("The seller takes the mandate, once");
        let amount = Object::new().with("value", paid.amount.as_str()).with("currency", "USD");
        let body = Object::new().with("mandate", paid.mandate.as_str()).with("amount", amount.clone());
        let judged = self.seller.post("/v0/sellers/verify", &[], &body).await?.json()?;
        let is_valid = judged.get("valid") == Some(&Value::Bool(true));
        self.screen.verdict(
            "verify",
            if is_valid { Tone::Good } else { Tone::Bad },
            if is_valid { "valid" } else { "not valid" },
            "for this payee and amount",
        );
        let order = Object::new().with("id", "order-1001").with("status", "completed").with("total", amount);
        let body = Object::new().with("mandate", paid.mandate.as_str()).with("order", order);
        let taken = self.seller.post("/v0/sellers/orders", &[], &body).await?.json()?;
        self.screen.say("order", &format!("order-1001; the mandate is {}", text(&taken, &["mandate_state"])?));
        let body = Object::new().with("mandate", paid.mandate.as_str());
        let judged = self.seller.post("/v0/sellers/verify", &[], &body).await?.json()?;
        let reasons = list(judged.get("reasons"));
        if judged.get("valid") != Some(&Value::Bool(false)) {
            return Err("a mandate was good twice".to_owned());
        }
        self.screen.verdict("again", Tone::Bad, "not valid", &reasons);
        Ok(())
    }

    async fn records(&mut self) -> Result<(), String> {
        self.screen.step("What is left: sealed records, each chained to the one before");
        let page = self.developer.get("/v0/records").await?.json()?;
        for row in page.get("data").and_then(Value::as_array).ok_or("no records")? {
            let member = |name: &str| row.get(name).map(cell).unwrap_or_default();
            self.screen.say(&format!("seq {}", member("seq")), &format!("{}  {}  {}", member("id"), member("kind"), member("sealed_at")));
        }
        self.screen.say("open", "the records of the two mandates that no seller took yet: each is sealed when its mandate is used or ends");
        Ok(())
    }

    async fn verify(&mut self, record: &str) -> Result<(), String> {
        self.screen.step("Anybody verifies a record offline, with the published keys");
        let bundle = self.developer.get(&format!("/v0/records/{record}/bundle")).await?;
        bundle.json()?;
        let keys = self.agent.get("/.well-known/jwks.json").await?.json()?;
        let keys = Jwks::read(&keys).map_err(|error| error.to_string())?;
        let report = verify_bytes(&bundle.body, Some(&keys));
        for check in report.checks.iter().filter(|check| check.status == Status::Pass) {
            self.screen.verdict(check.name, Tone::Good, "PASS", &check.detail);
        }
        self.conclude(&report);
        if report.verdict != Verdict::Verified {
            return Err("the record does not verify".to_owned());
        }

        self.screen.step("One byte of it is changed: 80.00 becomes 90.00");
        let changed = verify_bytes(&one_byte_changed(&bundle)?, Some(&keys));
        for check in changed.checks.iter().filter(|check| check.status == Status::Fail) {
            self.screen.verdict(check.name, Tone::Bad, "FAIL", &check.detail);
        }
        self.conclude(&changed);
        if changed.verdict == Verdict::Fails { Ok(()) } else { Err("the change was not found".to_owned()) }
    }

    fn conclude(&self, report: &Report) {
        let tone = if report.verdict == Verdict::Verified { Tone::Good } else { Tone::Bad };
        self.screen.verdict("verdict", tone, report.verdict.as_str(), "");
    }
}

/// Waits for the person with the tool that agents have for it.
async fn get_decision(agent: &mut Client, id: &str) -> Result<Value, String> {
    const REVISION: &str = "2026-07-28";
    let meta = Object::new()
        .with("io.modelcontextprotocol/protocolVersion", REVISION)
        .with("io.modelcontextprotocol/clientInfo", Object::new().with("name", "chancery demo").with("version", env!("CARGO_PKG_VERSION")))
        .with("io.modelcontextprotocol/clientCapabilities", Object::new());
    let arguments = Object::new().with("request_id", id).with("wait", 25u32);
    let params = Object::new().with("name", "get_decision").with("arguments", arguments).with("_meta", meta);
    let call = Object::new().with("jsonrpc", "2.0").with("id", 1u32).with("method", "tools/call").with("params", params);
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", REVISION),
        ("mcp-method", "tools/call"),
        ("mcp-name", "get_decision"),
    ];
    let answer = agent.post("/mcp", &headers, &call).await?.json()?;
    let result = answer.get("result").and_then(|result| result.get("structuredContent"));
    let mut result = result.and_then(Value::as_object).cloned().ok_or_else(|| format!("get_decision: {}", json::write(&answer)))?;
    if let Some(id) = result.get("request_id").cloned() {
        result.set("id", id);
    }
    Ok(result.into())
}

/// A payment request.
fn purchase((name, domain): (&str, &str), value: &str, purpose: &str, category: Option<&str>) -> Object {
    let slots = Object::new().with_some("category", category);
    Object::new()
        .with("payee", Object::new().with("name", name).with("domain", domain))
        .with("amount", Object::new().with("value", value).with("currency", "USD"))
        .with("purpose", purpose)
        .with("intent", Object::new().with("text", purpose).with("slots", slots))
}

/// The policy's payees, and the shop allowed.
fn payees(document: &Object, shop: &str) -> Object {
    let payees = document.get("payees").and_then(Value::as_object).cloned().unwrap_or_default();
    payees.with("allow", vec![Value::from(Object::new().with("domain", shop))])
}

/// The bundle's bytes with another amount in the record's text.
fn one_byte_changed(bundle: &Reply) -> Result<Vec<u8>, String> {
    let mut bytes = bundle.body.to_vec();
    let place = bytes.windows(5).position(|window| window == b"80.00").ok_or("the bundle does not name the amount")?;
    bytes[place] = b'9';
    Ok(bytes)
}

/// Refuses a page that says that something went wrong.
fn shown(page: &Reply) -> Result<(), String> {
    if page.status == StatusCode::OK { Ok(()) } else { Err(format!("{}: a page that should have been another", page.status)) }
}

fn purpose(body: &Object) -> &str {
    body.get("purpose").and_then(Value::as_str).unwrap_or_default()
}

fn reasons(request: &Value) -> String {
    list(request.get("decision").and_then(|decision| decision.get("reasons")))
}

fn list(texts: Option<&Value>) -> String {
    let texts = texts.and_then(Value::as_array).unwrap_or_default();
    texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

fn number(value: &Value, name: &str) -> Result<u64, String> {
    value.get(name).and_then(Value::as_safe_unsigned).ok_or_else(|| format!("an answer without {name}"))
}

fn text(value: &Value, path: &[&str]) -> Result<String, String> {
    let found = path.iter().try_fold(value, |value, name| value.get(name)).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| format!("an answer without {}", path.join(".")))
}

fn cell(value: &Value) -> String {
    value.as_str().map_or_else(|| json::write(value), str::to_owned)
}
