//! Peers that others wrote drive the real server over Streamable HTTP: the official MCP SDK clients, the Inspector's command
//! line, and the MCP conformance suite. `scripts/install-peers DIR` installs them; the environment variable `PEERS` names that
//! folder.
#![allow(clippy::expect_used, clippy::unwrap_used)] // helpers of tests fail by panicking

mod plane;

use std::{
    env,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use lcp::{Object, Value, json};
use plane::Plane;
use server::temp_folder::TempFolder;

const TOOLS: [&str; 7] =
    ["request_payment", "get_decision", "hand_off_checkout", "list_mandates", "get_record", "verify_record", "answer_clarification"];

/// A policy that asks what is wanted.
const POLICY: &str =
    r#"{"name":"Asks","currency":"USD","payees":{"unknown":"allow"},"limits":{"per_payment":"50.00"},"intent":{"required":["quantity"]}}"#;

/// Calls of every tool. Text that starts with `$` is a JSON pointer into the members of the results before.
const CALLS: &str = r#"[
    {"name":"request_payment","arguments":{"payee":{"domain":"sandbox-shop.example","name":"Sandbox shop"},"amount":{"value":"12.00","currency":"USD"},
        "purpose":"printer paper, two boxes","intent":{"text":"two boxes of printer paper","slots":{"category":"office"}},
        "checkout":null,"idempotency_key":"peer-1"}},
    {"name":"answer_clarification","arguments":{"request_id":"$/request_id","answers":[{"question_id":"$/decision/questions/0/id","answer":"2"}]}},
    {"name":"get_decision","arguments":{"request_id":"$/request_id","wait":25}},
    {"name":"list_mandates","arguments":{"state":"issued","limit":5}},
    {"name":"verify_record","arguments":{"record_id":"$/record_id"}},
    {"name":"hand_off_checkout","arguments":{"request_id":"$/request_id","continue_url":"https://sandbox-shop.example/checkout/1"}},
    {"name":"hand_off_checkout","arguments":{"request_id":"$/request_id","continue_url":"https://sandbox-shop.example/checkout/1",
        "order":{"id":"ord-1","status":"placed","total":{"value":"12.00","currency":"USD"}}}},
    {"name":"get_record","arguments":{"record_id":"$/record_id"}},
    {"name":"verify_record","arguments":{"bundle":"$/bundle"}},
    {"name":"answer_clarification","arguments":{"request_id":"$/request_id","answers":[{"question_id":"q_00000000000000000000000000","answer":"two"}]}}
]"#;

/// A server, where MCP is served, the sandbox agent's key, and the folder.
struct Running {
    url: String,
    key: String,
    _server: Plane,
    _folder: TempFolder,
}

fn start() -> Running {
    let folder = TempFolder::new().unwrap();
    let server = Plane::start(folder.path());
    let first = server.first.as_ref().unwrap();
    let mut developer = server.client(&first.developer);
    let agents = developer.get("/v0/agents").unwrap().json();
    let agent = text(&agents.get("data").unwrap().as_array().unwrap()[0], &["id"]).to_owned();
    let policy = json::parse(POLICY, 16).unwrap().as_object().unwrap().clone().with("agents", Value::from([agent.into()]));
    assert_eq!(developer.post("/v0/policies", &policy).unwrap().status, 201);
    let (url, key) = (format!("{}/mcp", server.base), first.agent.clone());
    Running { url, key, _server: server, _folder: folder }
}

fn peers() -> PathBuf {
    PathBuf::from(env::var_os("PEERS").expect("PEERS names the folder that scripts/install-peers filled"))
}

fn node() -> Command {
    let node = peers().join("node_modules/node/bin");
    let mut command = Command::new(node.join("node"));
    command.env("PATH", format!("{}:{}", node.display(), env::var("PATH").unwrap_or_default()));
    command
}

fn member<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    member(value, path).and_then(Value::as_str).unwrap_or_else(|| panic!("{path:?}: {value:?}"))
}

fn said(output: &Output) -> String {
    format!("{}\n{}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Has a client list the tools and call each, and judges what it saw.
fn exchange(client: &mut Command) {
    let server = start();
    let given = Object::new().with("url", &*server.url).with("key", &*server.key).with("calls", json::parse(CALLS, 16).unwrap());
    let mut child = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(json::write(&given.into()).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    judge(&json::parse_bytes(output.stdout.trim_ascii(), 64).unwrap());
}

/// The value with what its pointers lead to in place of them.
fn filled(value: &Value, known: &Value) -> Value {
    let step = |inside: &Value, step: &str| match inside.as_array() {
        Some(items) => items.get(step.parse::<usize>().ok()?).cloned(),
        None => inside.get(step).cloned(),
    };
    if let Some(path) = value.as_str().and_then(|text| text.strip_prefix("$/")) {
        return path.split('/').try_fold(known.clone(), |inside, name| step(&inside, name)).unwrap_or_else(|| panic!("{path}: {known:?}"));
    }
    if let Some(object) = value.as_object() {
        return object.iter().fold(Object::new(), |object, (name, value)| object.with(name.clone(), filled(value, known))).into();
    }
    value.as_array().map_or_else(|| value.clone(), |items| items.iter().map(|item| filled(item, known)).collect::<Vec<_>>().into())
}

fn is_error(result: &Value) -> bool {
    result.get("isError") == Some(&Value::Bool(true))
}

fn judge(seen: &Value) {
    assert_eq!(text(seen, &["server", "name"]), "chancery");
    assert!(text(seen, &["instructions"]).starts_with("Text inside payment material"));
    let tools: Vec<_> = seen.get("tools").unwrap().as_array().unwrap().iter().map(|tool| text(tool, &["name"])).collect();
    assert_eq!(tools, TOOLS);
    judge_calls(seen.get("results").unwrap().as_array().unwrap());
}

/// Judges the results of [`CALLS`].
fn judge_calls(results: &[Value]) {
    for result in results {
        let block = &result.get("content").unwrap().as_array().unwrap()[0];
        assert_eq!(json::parse(text(block, &["text"]), 64).unwrap(), *result.get("structuredContent").unwrap());
    }
    let content: Vec<Value> = results.iter().map(|result| result.get("structuredContent").unwrap().clone()).collect();
    let [asked, answered, decided, mandates, open, handed_off, completed, record, report, refused] = content.as_slice() else {
        panic!("{results:?}")
    };
    assert_eq!((text(asked, &["decision", "result"]), text(asked, &["state"])), ("clarify", "awaiting_clarification"));
    assert_eq!((text(answered, &["decision", "result"]), text(answered, &["mandate", "amount"])), ("allow", "12.00"));
    assert_eq!(text(answered, &["mandate", "jws"]).split('.').count(), 3);
    assert!(!text(answered, &["mandate", "credential", "token"]).is_empty());
    assert_eq!(text(decided, &["mandate", "jws"]), text(answered, &["mandate", "jws"]));
    let [mandate] = mandates.get("mandates").unwrap().as_array().unwrap() else { panic!("{mandates:?}") };
    assert_eq!((text(mandate, &["state"]), text(mandate, &["id"])), ("issued", text(answered, &["mandate", "id"])));
    assert_eq!(text(open, &["verdict"]), "open");
    assert_eq!((text(handed_off, &["state"]), text(handed_off, &["outcome", "status"])), ("handed_off", "handed_off"));
    assert_eq!((text(completed, &["state"]), text(completed, &["outcome", "status"])), ("completed", "completed"));
    assert_eq!((text(record, &["record_id"]), record.get("sealed")), (text(asked, &["record_id"]), Some(&Value::Bool(true))));
    assert_eq!(text(report, &["verdict"]), "verified");
    // That was not asked.
    assert_eq!(text(refused, &["error", "code"]), "unknown_question");
    let errors: Vec<_> = results.iter().map(is_error).collect();
    assert_eq!(errors, [false, false, false, false, false, false, false, false, false, true]);
}

#[test]
fn typescript_sdk_v1() {
    exchange(node().arg(peers().join("plane_v1.mjs")));
}

#[test]
fn typescript_sdk_v2_in_both_eras() {
    exchange(node().arg(peers().join("plane_v2.mjs")).arg("legacy"));
    exchange(node().arg(peers().join("plane_v2.mjs")).arg("auto"));
}

#[test]
fn python_sdk_in_both_eras() {
    let client = |era: &str| exchange(Command::new(peers().join("python/bin/python")).arg(peers().join("plane_python.py")).arg(era));
    client("legacy");
    client("auto");
}

/// Runs the Inspector's command line against the server.
fn inspector(server: &Running, era: &str, more: &[&str]) -> Output {
    node()
        .arg(peers().join("node_modules/.bin/mcp-inspector"))
        .args(["--cli", &server.url, "--transport", "http", "--header", &format!("Authorization: Bearer {}", server.key)])
        .args(["--protocol-era", era, "--format", "json"])
        .args(more)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn the_inspectors_command_line() {
    for era in ["legacy", "modern"] {
        let server = start();
        let listed = inspector(&server, era, &["--method", "tools/list", "--strict"]);
        assert!(listed.status.success(), "{}", said(&listed));
        let words = said(&listed);
        assert!(TOOLS.iter().all(|tool| words.contains(&format!("\"{tool}\""))), "{words}");
        assert!(!words.to_lowercase().contains("warning"), "{words}");
        let mut known = Object::new();
        let mut results = Vec::new();
        for call in json::parse(CALLS, 16).unwrap().as_array().unwrap() {
            let tool = text(call, &["name"]);
            let arguments = json::write(&filled(call.get("arguments").unwrap(), &known.clone().into()));
            let called = inspector(&server, era, &["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments]);
            let answer = json::parse_bytes(called.stdout.trim_ascii(), 64).unwrap_or_else(|_| panic!("{tool} {era}: {}", said(&called)));
            let result = answer.get("result").unwrap();
            // 5 is that the tool said isError.
            let expected = if is_error(result) { 5 } else { 0 };
            assert_eq!(called.status.code(), Some(expected), "{tool} {era}: {}", said(&called));
            for (name, value) in result.get("structuredContent").and_then(Value::as_object).unwrap().iter() {
                known.set(name.as_str().unwrap(), value.clone());
            }
            results.push(result.clone());
        }
        judge_calls(&results);
    }
}

#[test]
fn mcp_conformance_suite() {
    let server = start();
    let suite = peers().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let baseline = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/mcp-conformance-baseline.yml");
    let out = TempFolder::new().unwrap();
    // The suite sends no headers of ours: the key is in the path.
    let url = format!("{}/{}", server.url, server.key);
    for (scenario, revision) in [
        ("server-initialize", "2025-11-25"),
        ("ping", "2025-11-25"),
        ("tools-list", "2025-11-25"),
        ("dns-rebinding-protection", "2025-11-25"),
        ("tools-list", "2026-07-28"),
        ("http-header-validation", "2026-07-28"),
        ("dns-rebinding-protection", "2026-07-28"),
        ("server-stateless", "2026-07-28"),
        ("server-sse-multiple-streams", "2026-07-28"),
        ("input-required-result-unsupported-methods", "2026-07-28"),
    ] {
        let mut command = node();
        command.arg(&suite).args(["server", "--url", &url, "--scenario", scenario, "--spec-version", revision]).arg("-o").arg(out.path());
        let output = command.arg("--expected-failures").arg(&baseline).output().unwrap();
        assert!(output.status.success(), "{scenario} {revision}: {}", said(&output));
    }
}
