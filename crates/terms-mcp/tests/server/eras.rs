//! Both lifecycles: `initialize`, and metadata on each request.

use lcp::Value;
use terms_mcp::BuyerServer;

use crate::{
    client::{Client, error_code},
    seller::{EIP3009, arguments, offer, read, seller},
    world::ACCOUNT,
};

fn client() -> Client {
    let world = seller();
    Client::silent(BuyerServer::new(world.clone(), world))
}

fn params(meta: &str, more: &str) -> Value {
    read(&format!(r#"{{"_meta":{{{meta}}}{more}}}"#))
}

const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
const CAPABILITIES: &str = r#""io.modelcontextprotocol/clientCapabilities":{}"#;

fn modern(more: &str) -> Value {
    params(&format!("{VERSION},{CAPABILITIES}"), more)
}

#[tokio::test]
async fn a_modern_client_opens_with_any_request() {
    let mut client = client();
    let listed = client.request("tools/list", modern("")).await;
    let result = listed.get("result").unwrap();
    assert_eq!(result.get("resultType"), Some(&Value::from("complete")));
    assert!(result.get("ttlMs").unwrap().as_safe_integer().unwrap() > 0);
    assert_eq!(result.get("tools").unwrap().as_array().unwrap().len(), 5);

    let confirm = arguments([("pairing", EIP3009.into()), ("document", offer()), ("account", ACCOUNT.into())]);
    let call = modern(&format!(r#","name":"atr_confirm","arguments":{}"#, lcp::json::write(&confirm)));
    let called = client.request("tools/call", call).await;
    let result = called.get("result").unwrap();
    assert_eq!(result.get("resultType"), Some(&Value::from("complete")));
    assert!(result.get("structuredContent").unwrap().get("request").is_some());
    assert_eq!(result.get("isError"), None);
}

#[tokio::test]
async fn discovery_tells_versions_and_may_be_held() {
    let mut client = client();
    let discovered = client.request("server/discover", modern("")).await;
    let result = discovered.get("result").unwrap();
    let versions = result.get("supportedVersions").unwrap().as_array().unwrap();
    assert!(["2025-11-25", "2026-07-28"].iter().all(|version| versions.contains(&Value::from(*version))));
    assert!(result.get("ttlMs").unwrap().as_safe_integer().unwrap() > 0);
    let info = result.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo")).unwrap();
    assert_eq!(info.get("name"), Some(&Value::from("integraledger-terms")));
    assert!(result.get("instructions").is_some());
}

#[tokio::test]
async fn metadata_must_be_whole_and_of_a_known_version() {
    for started in [false, true] {
        let mut client = client();
        if started {
            client.request("tools/list", modern("")).await;
        }
        assert_eq!(error_code(&client.request("tools/list", params(VERSION, "")).await), -32602);
        let unknown = params(&format!("{},{CAPABILITIES}", VERSION.replace("2026-07-28", "2099-01-01")), "");
        let refused = client.request("tools/list", unknown).await;
        assert_eq!(error_code(&refused), -32022);
        let supported = refused.get("error").and_then(|error| error.get("data")?.get("supported")?.as_array()).unwrap();
        assert!(supported.contains(&Value::from("2026-07-28")));
        assert!(client.request("tools/list", modern("")).await.get("result").is_some());
    }
}

#[tokio::test]
async fn initialize_answers_its_version_or_the_newest_it_can() {
    for (asked, answered) in [("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("2026-07-28", "2025-11-25"), ("1999-01-01", "2025-11-25")]
    {
        let mut client = client();
        let params = format!(r#"{{"protocolVersion":"{asked}","capabilities":{{}},"clientInfo":{{"name":"example","version":"1"}}}}"#);
        let initialized = client.request("initialize", read(&params)).await;
        assert_eq!(initialized.get("result").and_then(|result| result.get("protocolVersion")), Some(&Value::from(answered)), "{asked}");
        let listed = client.request("tools/list", read("{}")).await;
        assert_eq!(listed.get("result").unwrap().get("resultType"), None);
    }
}

#[tokio::test]
async fn nothing_before_the_first_request_ends_the_session() {
    let mut client = client();
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    client.send("nonsense").await;
    assert_eq!(error_code(&client.answer().await), -32700);
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#).await;
    assert_eq!(error_code(&client.answer().await), -32602);
    client.send(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#).await;
    assert!(client.answer().await.get("result").is_some());
    client.send(r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#).await;
    assert_eq!(error_code(&client.answer().await), -32602, "no version was agreed on");
    assert!(client.request("tools/list", modern("")).await.get("result").is_some());
}

#[tokio::test]
async fn a_client_that_says_nothing_is_no_error() {
    assert_eq!(client().end().await, []);
}
