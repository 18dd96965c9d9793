//! The tools over the real service and a database on the disk: each way a payment goes, every result held to the schema that
//! is listed.
#![allow(clippy::expect_used, clippy::unwrap_used)] // helpers of tests fail by panicking

use std::collections::HashMap;

use lcp::{Object, Value, json};
use server::{
    Service,
    mcp::serve_stdio,
    service::{FirstStart, Paths, ServiceOptions},
    temp_folder::TempFolder,
};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

fn read(text: &str) -> Value {
    json::parse(text, json::MAX_DEPTH).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    let found = path.split('.').try_fold(value, |value, name| value.get(name));
    found.and_then(Value::as_str).unwrap_or_else(|| panic!("{path}: {value:?}"))
}

/// A sandbox, and its agent's session.
struct World {
    service: Service,
    first: FirstStart,
    to_server: WriteHalf<DuplexStream>,
    from_server: Lines<BufReader<ReadHalf<DuplexStream>>>,
    results: HashMap<String, jsonschema::Validator>,
    _folder: TempFolder,
}

impl World {
    async fn new() -> Self {
        let folder = TempFolder::new().unwrap();
        let paths = Paths { database: folder.path().join("data.sqlite"), master_key: folder.path().join("master.key") };
        let service = Service::open(&paths, ServiceOptions::sandbox("http://127.0.0.1:7420")).await.unwrap();
        let first = service.first_start().await.unwrap().unwrap();
        let agent = service.authenticate(&first.agent_key).await.unwrap();
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        tokio::spawn(serve_stdio(service.clone(), agent, reader, writer));
        let (from_server, to_server) = tokio::io::split(near);
        let from_server = BufReader::new(from_server).lines();
        let mut world = Self { service, first, to_server, from_server, results: HashMap::new(), _folder: folder };
        let listed = world.request("tools/list", "").await;
        for tool in listed.get("tools").unwrap().as_array().unwrap() {
            let schema = serde_json::from_str(&json::write(tool.get("outputSchema").unwrap())).unwrap();
            world.results.insert(text(tool, "name").to_owned(), jsonschema::draft202012::new(&schema).unwrap());
        }
        assert_eq!(world.results.len(), 7);
        world
    }

    async fn request(&mut self, method: &str, more: &str) -> Value {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{meta}{more}}}}}"#).replace('\n', " ");
        self.to_server.write_all(line.as_bytes()).await.unwrap();
        self.to_server.write_all(b"\n").await.unwrap();
        let answer = read(&self.from_server.next_line().await.unwrap().unwrap());
        answer.get("result").unwrap_or_else(|| panic!("{line}: {answer:?}")).clone()
    }

    /// The result of a call, which is of its schema, and whether it is an error.
    async fn result(&mut self, tool: &str, arguments: &str) -> (Value, bool) {
        let result = self.request("tools/call", &format!(r#","name":"{tool}","arguments":{arguments}"#)).await;
        let content = result.get("structuredContent").unwrap().clone();
        let instance = serde_json::from_str(&json::write(&content)).unwrap();
        let faults: Vec<String> = self.results[tool].iter_errors(&instance).map(|error| format!("{} {error}", error.instance_path())).collect();
        assert_eq!(faults, [""; 0], "{tool}: {content:?}");
        (content, result.get("isError") == Some(&Value::Bool(true)))
    }

    async fn call(&mut self, tool: &str, arguments: &str) -> Value {
        let (content, is_error) = self.result(tool, arguments).await;
        assert!(!is_error, "{tool} {arguments}: {content:?}");
        content
    }

    /// The code with which a call is refused.
    async fn refused(&mut self, tool: &str, arguments: &str) -> String {
        let (content, is_error) = self.result(tool, arguments).await;
        assert!(is_error, "{tool} {arguments}: {content:?}");
        text(&content, "error.code").to_owned()
    }

    async fn pay(&mut self, members: &str) -> Value {
        let more = if members.is_empty() { String::new() } else { format!(",{members}") };
        self.call("request_payment", &format!(r#"{{"purpose":"printer paper","amount":{{"value":"12.00","currency":"USD"}}{more}}}"#)).await
    }

    async fn verdict(&mut self, payment: &Value) -> String {
        let report = self.call("verify_record", &format!(r#"{{"record_id":"{}"}}"#, text(payment, "record_id"))).await;
        text(&report, "verdict").to_owned()
    }
}

const SHOP: &str = r#""payee":{"domain":"sandbox-shop.example"}"#;

#[tokio::test]
async fn an_allowed_payment_is_handed_off_and_its_record_verifies() {
    let mut world = World::new().await;
    let asked = world.pay(&format!(r#"{SHOP},"checkout":null,"idempotency_key":"paper-1""#)).await;
    assert_eq!((text(&asked, "decision.result"), text(&asked, "state")), ("allow", "decided"));
    assert_eq!((text(&asked, "mandate.amount"), text(&asked, "mandate.currency")), ("12.00", "USD"));
    assert_eq!(text(&asked, "mandate.jws").split('.').count(), 3);
    let token = text(&asked, "mandate.credential.token").to_owned();
    assert_eq!(world.pay(&format!(r#"{SHOP},"idempotency_key":"paper-1""#)).await, asked, "the same key is answered the same");
    let other = format!(r#"{{{SHOP},"purpose":"toner","amount":{{"value":"12.00","currency":"USD"}},"idempotency_key":"paper-1"}}"#);
    assert_eq!(world.refused("request_payment", &other).await, "idempotency_key_reused");

    let (id, record) = (text(&asked, "request_id").to_owned(), text(&asked, "record_id").to_owned());
    let decided = world.call("get_decision", &format!(r#"{{"request_id":"{id}","wait":25}}"#)).await;
    assert_eq!(text(&decided, "mandate.credential.token"), token, "it is still the agent's to use");
    let listed = json::write(&world.call("list_mandates", r#"{"state":"issued"}"#).await);
    assert!(listed.contains(&id) && !listed.contains(&token) && !listed.contains("jws"), "{listed}");
    let open = world.call("get_record", &format!(r#"{{"record_id":"{record}"}}"#)).await;
    assert_eq!(open.get("sealed"), Some(&Value::Bool(false)));
    assert_eq!(world.verdict(&asked).await, "open");

    let hand_off = format!(r#"{{"request_id":"{id}","continue_url":"https://sandbox-shop.example/pay/1"}}"#);
    let handed_off = world.call("hand_off_checkout", &hand_off).await;
    assert_eq!((text(&handed_off, "state"), text(&handed_off, "outcome.status")), ("handed_off", "handed_off"));
    assert!(!json::write(&handed_off).contains(&token), "the mandate is void");
    assert_eq!(world.call("hand_off_checkout", &hand_off).await, handed_off, "the same call changes nothing");
    let order = hand_off.replace('}', r#","order":{"id":"R-1","total":{"value":"12.00","currency":"USD"}}}"#);
    let completed = world.call("hand_off_checkout", &order).await;
    assert_eq!((text(&completed, "state"), text(&completed, "handoff.order.id")), ("completed", "R-1"));

    assert_eq!(world.verdict(&asked).await, "verified");
    let sealed = world.call("get_record", &format!(r#"{{"record_id":"{record}"}}"#)).await;
    assert!(!json::write(&sealed).contains(&token));
    let bundle = json::write(sealed.get("bundle").unwrap());
    let report = world.call("verify_record", &format!(r#"{{"bundle":{bundle}}}"#)).await;
    assert_eq!(text(&report, "verdict"), "verified");
    let changed = world.call("verify_record", &format!(r#"{{"bundle":{}}}"#, bundle.replace("12.00", "12.01"))).await;
    assert_eq!(text(&changed, "verdict"), "fails");
}

#[tokio::test]
async fn deny_step_up_and_a_rail_that_serves_not() {
    let mut world = World::new().await;
    let denied = world.pay(r#""payee":{"domain":"casino.example"}"#).await;
    assert_eq!((text(&denied, "decision.result"), denied.get("mandate")), ("deny", Some(&Value::Null)));
    assert_eq!(world.verdict(&denied).await, "verified");

    let waiting = world.pay(r#""payee":{"domain":"unknown-shop.example"}"#).await;
    assert_eq!((text(&waiting, "decision.result"), text(&waiting, "state")), ("step_up", "awaiting_approval"));
    let url = format!("http://127.0.0.1:7420/approve/{}", text(&waiting, "approval.id"));
    assert_eq!(text(&waiting, "approval.url"), url);
    let decided = world.call("get_decision", &format!(r#"{{"request_id":"{}"}}"#, text(&waiting, "request_id"))).await;
    assert_eq!(text(&decided, "state"), "awaiting_approval");

    let unserved = world.pay(&format!(r#"{SHOP},"checkout":{{"protocol":"x402","reference":"https://sandbox-shop.example/weather"}}"#)).await;
    assert_eq!((text(&unserved, "state"), unserved.get("mandate")), ("handed_off", Some(&Value::Null)));
    assert_eq!((text(&unserved, "handoff.rail"), text(&unserved, "handoff.reason")), ("x402", "rail_unavailable"));
    assert!(["message", "next_step"].iter().all(|member| !text(&unserved, &format!("handoff.{member}")).is_empty()));
}

#[tokio::test]
async fn clarify_is_answered_and_decided_again() {
    let mut world = World::new().await;
    let developer = world.service.authenticate(&world.first.developer_key).await.unwrap();
    let policies = world.service.policies(&developer).await.unwrap();
    let id = text(&policies.get("data").unwrap().as_array().unwrap()[0], "id").to_owned();
    let document = r#"{"currency":"USD","agents":"*","payees":{"allow":[{"domain":"sandbox-shop.example"}]},"shadow":true,"limits":{"per_payment":"10.00"},
        "intent":{"required":["quantity"]}}"#;
    let document: Object = read(document).as_object().unwrap().clone().with("id", id);
    world.service.sign_policy(&developer, &document.into()).await.unwrap();

    let asked = world.pay(SHOP).await;
    assert_eq!((text(&asked, "decision.result"), asked.get("mandate")), ("clarify", Some(&Value::Null)));
    let question = &asked.get("decision").unwrap().get("questions").unwrap().as_array().unwrap()[0];
    assert_eq!(text(question, "slot"), "quantity");
    let answers =
        format!(r#"{{"request_id":"{}","answers":[{{"question_id":"{}","answer":"2"}}]}}"#, text(&asked, "request_id"), text(question, "id"));
    let observed = world.call("answer_clarification", &answers).await;
    assert_eq!((text(&observed, "decision.result"), text(&observed, "decision.shadow_result.result")), ("observe", "deny"));
    assert!(!text(&observed, "mandate.credential.token").is_empty());
    let again = answers.replace("\"2\"", "\"3\"");
    assert!(!world.refused("answer_clarification", &again).await.is_empty());
}

#[tokio::test]
async fn what_is_not_there_and_what_may_not_be_said() {
    let mut world = World::new().await;
    let id = format!("pr_{}", "0".repeat(26));
    for (tool, arguments) in [
        ("get_decision", format!(r#"{{"request_id":"{id}"}}"#)),
        ("get_decision", r#"{"request_id":"nonsense"}"#.to_owned()),
        ("hand_off_checkout", format!(r#"{{"request_id":"{id}","continue_url":"https://a.example/"}}"#)),
        ("answer_clarification", format!(r#"{{"request_id":"{id}","answers":[{{"question_id":"q_{}","answer":"x"}}]}}"#, "0".repeat(26))),
        ("get_record", r#"{"record_id":"rec_1"}"#.to_owned()),
        ("verify_record", r#"{"record_id":"rec_1"}"#.to_owned()),
    ] {
        assert_eq!(world.refused(tool, &arguments).await, "not_found", "{tool} {arguments}");
    }
    let purchase = |members: &str| format!(r#"{{{SHOP},"purpose":"paper","amount":{{"value":"12.00","currency":"USD"}},{members}}}"#);
    let card = purchase(r#""trace":{"ref":"4242 4242 4242 4242","digest":"ab"}"#);
    assert_eq!(world.refused("request_payment", &card).await, "card_number_rejected");
    assert!(!world.refused("request_payment", &purchase(r#""catalog_snapshot_hash":"ab""#)).await.is_empty());
    assert!(!world.refused("list_mandates", r#"{"limit":100000}"#).await.is_empty());
    assert!(!world.refused("list_mandates", r#"{"cursor":"nonsense"}"#).await.is_empty());
    let (report, _) = world.result("verify_record", r#"{"bundle":{}}"#).await;
    assert_eq!(text(&report, "verdict"), "fails");
    assert_eq!(json::write(&world.call("list_mandates", "{}").await), r#"{"mandates":[],"next_cursor":null,"summary":"No mandates."}"#);
}
