//! Peers that others wrote drive the real binary: the official MCP SDK clients, the MCP conformance suite, and the Agent
//! Skills validator. `scripts/install-peers DIR` installs them; the environment variable `PEERS` names that folder.
#![allow(clippy::expect_used, clippy::unwrap_used)] // helpers of tests fail by panicking

mod support;

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use lcp::{Object, Value, json};
use support::Seller;

/// The ATR, its hash and the account of the seed's quickstart.
const ATR: &str =
    r#"{"atrVersion":"1","id":"0f8fad5b-d9cb-469f-a165-70867728950e","x402":{"z":1.0,"a":"caf\u00e9"},"seller":{"note":"Café — 30 días ✓"}}"#;
const H: &str = "0x8b1e122580ae3f6a8c3d36a24294e1260a87bde70f597279b973e39310072938";
const ACCOUNT: &str = "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const TOOLS: [&str; 5] = ["atr_confirm", "atr_finish", "atr_check", "atr_channel_open", "atr_channel_record_charge"];

fn peers() -> PathBuf {
    PathBuf::from(env::var_os("PEERS").expect("PEERS names the folder that scripts/install-peers filled"))
}

fn node() -> PathBuf {
    peers().join("node_modules/node/bin/node")
}

/// The quickstart's document, whose link is the seller's.
fn document(link: &str) -> Value {
    let text = r#"{"x402Version":2,"resource":{"url":"https://api.seller.example/v1/quote"},"accepts":[{"scheme":"exact","network":"eip155:84532",
        "amount":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,
        "extra":{"name":"USDC","version":"2"}}],"extensions":{"legalContext":{"info":{"type":"sha256","value":"HASH","legalContextUrl":"LINK"},"schema":{}}}}"#;
    json::parse(&text.replace("HASH", H).replace("LINK", link), 64).unwrap()
}

/// Runs a client over the exchange and gives what it saw.
fn exchange(client: &mut Command) -> Value {
    let seller = Seller::serving(ATR.as_bytes());
    let confirm = Object::new()
        .with("pairing", "x402/exact/eip155/eip3009")
        .with("document", document(&format!("{}/{H}", seller.origin)))
        .with("account", ACCOUNT);
    let other = Object::new().with("pairing", "x402/exact/eip155/eip3009").with("atr", "YWJj").with("presented", Object::new());
    let call = |name: &str, arguments: Object| Value::from(Object::new().with("name", name).with("arguments", arguments));
    let args: Vec<Value> = ["--allow-net", "127.0.0.0/8", "--ca-cert", &seller.certificate()].map(Value::from).into();
    let given = Object::new()
        .with("command", env!("CARGO_BIN_EXE_terms-mcp"))
        .with("args", args)
        .with("calls", [call("atr_confirm", confirm), call("atr_check", other)]);
    let mut child = client.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(json::write(&given.into()).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    json::parse_bytes(output.stdout.trim_ascii(), 64).unwrap()
}

fn judge(seen: &Value) {
    assert_eq!(seen.get("server").unwrap().get("name").unwrap().as_str(), Some("integraledger-terms"));
    let tools: Vec<_> = seen.get("tools").unwrap().as_array().unwrap().iter().map(|tool| tool.get("name").unwrap().as_str().unwrap()).collect();
    assert_eq!(tools, TOOLS);
    let [confirmed, declined] = seen.get("results").unwrap().as_array().unwrap() else { panic!("two results") };
    let structured = confirmed.get("structuredContent").unwrap();
    assert_eq!(structured.get("atrHash").unwrap().as_str(), Some(H));
    assert_eq!(structured.get("atr").unwrap().get("utf8").unwrap().as_str(), Some(ATR));
    let request = structured.get("request").unwrap();
    assert_eq!(request.get("kind").unwrap().as_str(), Some("eip712"));
    assert_eq!(request.get("typedData").unwrap().get("message").unwrap().get("nonce").unwrap().as_str(), Some(H));
    assert_eq!(declined.get("isError"), Some(&Value::Bool(true)));
    let decline = declined.get("structuredContent").unwrap().get("decline").unwrap();
    assert_eq!(decline.get("code").unwrap().as_str(), Some("signed-not-bound"));
}

fn node_client(script: &str, arguments: &[&str]) -> Value {
    exchange(Command::new(node()).arg(peers().join(script)).args(arguments))
}

#[test]
fn typescript_sdk_v1() {
    judge(&node_client("sdk_v1.mjs", &[]));
}

#[test]
fn typescript_sdk_v2_in_both_eras() {
    judge(&node_client("sdk_v2.mjs", &["legacy"]));
    judge(&node_client("sdk_v2.mjs", &["auto"]));
}

#[test]
fn python_sdk_in_both_eras() {
    let client = |era: &str| exchange(Command::new(peers().join("python/bin/python")).arg(peers().join("sdk_python.py")).arg(era));
    judge(&client("legacy"));
    judge(&client("auto"));
}

/// The test mount of the server over HTTP, while it lives.
struct Mount(Child, String);

impl Mount {
    fn start() -> Self {
        let mut child = Command::new(example("http")).arg("0").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child, line.trim().to_owned())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An example's binary, which cargo builds beside the tests of the same package.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_terms-mcp")).with_file_name("examples").join(name)
}

#[test]
fn mcp_conformance_suite() {
    let mount = Mount::start();
    let suite = peers().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let baseline = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp-conformance-baseline.yml");
    let out = env::temp_dir().join(format!("terms-mcp-conformance-{}", std::process::id()));
    for (scenario, revision) in [
        ("server-initialize", "2025-11-25"),
        ("ping", "2025-11-25"),
        ("tools-list", "2025-11-25"),
        ("dns-rebinding-protection", "2025-11-25"),
        ("tools-list", "2026-07-28"),
        ("http-header-validation", "2026-07-28"),
        ("dns-rebinding-protection", "2026-07-28"),
        ("server-stateless", "2026-07-28"),
    ] {
        let mut command = Command::new(node());
        command.arg(&suite).args(["server", "--url", &mount.1, "--scenario", scenario, "--spec-version", revision]).arg("-o").arg(&out);
        let output = command.arg("--expected-failures").arg(&baseline).output().unwrap();
        assert!(
            output.status.success(),
            "{scenario} {revision}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn the_skill_is_of_the_agent_skills_format() {
    let folder = env::temp_dir().join(format!("terms-mcp-skill-{}", std::process::id()));
    let installed = Command::new(env!("CARGO_BIN_EXE_terms-mcp")).args(["skill", "--install"]).arg(&folder).output().unwrap();
    assert!(installed.status.success());
    let skill = folder.join("confirming-the-atr-hash-before-paying");
    let printed = Command::new(env!("CARGO_BIN_EXE_terms-mcp")).args(["skill", "--print"]).output().unwrap();
    assert_eq!(printed.stdout, fs::read(skill.join("SKILL.md")).unwrap());
    assert!(Command::new(peers().join("python/bin/agentskills")).arg("validate").arg(&skill).status().unwrap().success());
    fs::remove_dir_all(folder).unwrap();
}
