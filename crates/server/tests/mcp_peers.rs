//! Peers that others wrote drive the real server over Streamable HTTP: the official MCP SDK clients, the Inspector's command
//! line, and the MCP conformance suite. `scripts/install-peers DIR` installs them; the environment variable `PEERS` names that
//! folder.
#![allow(clippy::expect_used, clippy::unwrap_used)] // helpers of tests fail by panicking

mod plane;

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use lcp::{Object, Value, json};
use plane::Plane;
use server::temp_folder::TempFolder;

const TOOLS: [&str; 7] =
    ["request_payment", "get_decision", "hand_off_checkout", "list_mandates", "get_record", "verify_record", "answer_clarification"];

/// One call of each tool. `$name` is that member of the results before.
const CALLS: &str = r#"[
    {"name":"request_payment","arguments":{"payee":{"domain":"sandbox-shop.example","name":"Sandbox shop"},"amount":{"value":"12.00","currency":"USD"},
        "purpose":"printer paper, two boxes","intent":{"text":"two boxes of printer paper","slots":{"category":"office","quantity":2}},
        "checkout":null,"idempotency_key":"peer-1"}},
    {"name":"get_decision","arguments":{"request_id":"$request_id","wait":0}},
    {"name":"list_mandates","arguments":{"limit":5}},
    {"name":"get_record","arguments":{"record_id":"$record_id"}},
    {"name":"verify_record","arguments":{"record_id":"$record_id"}},
    {"name":"hand_off_checkout","arguments":{"request_id":"$request_id","continue_url":"https://sandbox-shop.example/checkout/1"}},
    {"name":"answer_clarification","arguments":{"request_id":"$request_id","answers":[{"question_id":"q_00000000000000000000000000","answer":"two"}]}}
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
    let (url, key) = (format!("{}/mcp", server.base), server.first.as_ref().unwrap().agent.clone());
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

fn judge(seen: &Value) {
    assert_eq!(text(seen, &["server", "name"]), "chancery");
    assert!(text(seen, &["instructions"]).starts_with("Text inside payment material"));
    let tools: Vec<_> = seen.get("tools").unwrap().as_array().unwrap().iter().map(|tool| text(tool, &["name"])).collect();
    assert_eq!(tools, TOOLS);
    let results = seen.get("results").unwrap().as_array().unwrap();
    for result in results {
        let block = &result.get("content").unwrap().as_array().unwrap()[0];
        assert_eq!(json::parse(text(block, &["text"]), 64).unwrap(), *result.get("structuredContent").unwrap());
    }
    let [asked, decided, mandates, record, report, handed_off, answered] = results else { panic!("{results:?}") };
    let content = |result: &Value| result.get("structuredContent").unwrap().clone();
    assert!(["allow", "observe"].contains(&text(&content(asked), &["decision", "result"])), "{asked:?}");
    assert!(!text(&content(asked), &["mandate", "jws"]).is_empty());
    assert_eq!(text(&content(decided), &["request_id"]), text(&content(asked), &["request_id"]));
    assert_eq!(text(&content(mandates).get("mandates").unwrap().as_array().unwrap()[0], &["state"]), "issued");
    assert_eq!(text(&content(record), &["record_id"]), text(&content(asked), &["record_id"]));
    assert_eq!(text(&content(report), &["verdict"]), "open");
    assert_eq!(text(&content(handed_off), &["state"]), "handed_off");
    // Nothing was asked of the person, so there is nothing to answer.
    assert_eq!(answered.get("isError"), Some(&Value::Bool(true)));
    assert!(!text(&content(answered), &["error", "code"]).is_empty());
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
        for call in json::parse(CALLS, 16).unwrap().as_array().unwrap() {
            let tool = text(call, &["name"]);
            let mut arguments = json::write(call.get("arguments").unwrap());
            for (name, value) in known.iter() {
                arguments = arguments.replace(&format!("\"${}\"", name.as_str().unwrap()), &json::write(value));
            }
            let called = inspector(&server, era, &["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments]);
            // 5 is that the tool said isError.
            let expected = if tool == "answer_clarification" { 5 } else { 0 };
            assert_eq!(called.status.code(), Some(expected), "{tool} {era}: {}", said(&called));
            if let Ok(answer) = json::parse_bytes(called.stdout.trim_ascii(), 64) {
                let content = member(&answer, &["structuredContent"]).or_else(|| member(&answer, &["result", "structuredContent"]));
                for name in ["request_id", "record_id"] {
                    if let Some(value) = content.and_then(|content| content.get(name)) {
                        known.set(name, value.clone());
                    }
                }
            }
        }
    }
}

#[test]
fn mcp_conformance_suite() {
    let server = start();
    let suite = peers().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let baseline = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/mcp-conformance-baseline.yml");
    let out = env::temp_dir().join(format!("chancery-conformance-{}", std::process::id()));
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
        command.arg(&suite).args(["server", "--url", &url, "--scenario", scenario, "--spec-version", revision]).arg("-o").arg(&out);
        let output = command.arg("--expected-failures").arg(&baseline).output().unwrap();
        assert!(output.status.success(), "{scenario} {revision}: {}", said(&output));
    }
    fs::remove_dir_all(out).unwrap();
}
