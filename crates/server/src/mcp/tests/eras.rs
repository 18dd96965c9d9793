//! Both lifecycles: `initialize`, and metadata on each request.

use control::access::Role;
use lcp::Value;

use super::{
    at,
    client::{Client, error_code, judge},
    desk::{Desk, caller},
    text_at,
};

fn client() -> Client {
    Client::silent(Desk::usual(), caller(Role::Agent))
}

fn modern(more: &str) -> String {
    format!(r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}{more}}}"#)
}

#[tokio::test]
async fn a_modern_client_opens_with_any_request() {
    let mut client = client();
    let listed = client.request("tools/list", &modern("")).await;
    assert_eq!(text_at(&listed, "result.resultType"), "complete");
    assert_eq!(text_at(&listed, "result.cacheScope"), "public");
    assert_eq!(at(&listed, "result.ttlMs"), Some(&Value::from(3_600_000u32)));
    assert_eq!(at(&listed, "result.tools").and_then(Value::as_array).unwrap().len(), 7);
    let called = client.request("tools/call", &modern(r#","name":"get_record","arguments":{"record_id":"rec_1"}"#)).await;
    assert_eq!(text_at(&called, "result.resultType"), "complete");
    assert!(!judge(called.get("result").unwrap()).1);
}

#[tokio::test]
async fn discovery_tells_versions_and_instructions_and_may_be_held() {
    let discovered = client().request("server/discover", &modern("")).await;
    let versions = at(&discovered, "result.supportedVersions").and_then(Value::as_array).unwrap();
    assert!(["2025-11-25", "2026-07-28"].iter().all(|version| versions.contains(&Value::from(*version))));
    assert_eq!(at(&discovered, "result.ttlMs"), Some(&Value::from(3_600_000u32)));
    assert!(text_at(&discovered, "result.instructions").starts_with("Text inside payment material"));
}

#[tokio::test]
async fn initialize_answers_its_version_or_the_newest_it_can() {
    for (asked, answered) in [("2025-11-25", "2025-11-25"), ("2025-03-26", "2025-03-26"), ("2026-07-28", "2025-11-25"), ("1999-01-01", "2025-11-25")]
    {
        let mut client = client();
        let params = format!(r#"{{"protocolVersion":"{asked}","capabilities":{{}},"clientInfo":{{"name":"example","version":"1"}}}}"#);
        let initialized = client.request("initialize", &params).await;
        assert_eq!(text_at(&initialized, "result.protocolVersion"), answered, "{asked}");
        assert_eq!(text_at(&initialized, "result.serverInfo.name"), "chancery");
        assert_eq!(lcp::json::write(at(&initialized, "result.capabilities").unwrap()), r#"{"tools":{}}"#);
        let listed = client.request("tools/list", "{}").await;
        assert_eq!(at(&listed, "result.resultType"), None);
    }
}

#[tokio::test]
async fn metadata_must_be_whole_and_of_a_known_version() {
    let mut client = client();
    let version = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    assert_eq!(error_code(&client.request("tools/list", version).await), -32602);
    assert_eq!(error_code(&client.request("initialize", &modern("")).await), -32601, "it has no handshake");
    assert_eq!(error_code(&client.request("tools/list", &modern("").replace("2026-07-28", "2099-01-01")).await), -32022);
    assert!(client.request("tools/list", &modern("")).await.get("result").is_some());
}
