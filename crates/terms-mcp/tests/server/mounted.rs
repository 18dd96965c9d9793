//! The server on a transport that is not ours, as over HTTP: the MCP crate reads the arguments and writes the results.

use lcp::{Value, encoding, json};
use rmcp::ServiceExt as _;
use terms_mcp::{BuyerServer, sealing};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::{
    seller::{AGREEMENT, ATR, CARD, EIP3009, H, arguments, offer, read, seller, set},
    world::{ACCOUNT, Served, World},
};

/// Calls one tool over the crate's own transport and returns the result.
async fn call(world: &World, tool: &str, arguments: &Value) -> Value {
    let (near, far) = tokio::io::duplex(1 << 20);
    let server = BuyerServer::new(world.clone(), world.clone()).signer(world.wallet());
    tokio::spawn(async move { server.serve(tokio::io::split(far)).await.unwrap().waiting().await });
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let arguments = json::write(arguments);
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{meta}}}}}"#);
    let mut near = BufReader::new(near);
    near.write_all(line.as_bytes()).await.unwrap();
    near.write_all(b"\n").await.unwrap();
    let mut answer = String::new();
    near.read_line(&mut answer).await.unwrap();
    read(&answer).get("result").unwrap_or_else(|| panic!("{answer}")).clone()
}

fn text(result: &Value) -> Value {
    let blocks = result.get("content").and_then(Value::as_array).unwrap();
    blocks[0].get("text").unwrap().clone()
}

#[tokio::test]
async fn results_and_refusals_are_the_same() {
    let world = seller();
    let document = set(&offer(), "numbers", read("[0.1,1e21,60.0,9007199254740992,123456789.12345679]"));
    let confirm = arguments([("pairing", EIP3009.into()), ("document", document.clone()), ("account", ACCOUNT.into())]);
    let confirmed = call(&world, "atr_confirm", &confirm).await;
    let content = confirmed.get("structuredContent").unwrap();
    assert_eq!(content.get("atrHash"), Some(&Value::from(H)));
    assert_eq!(read(text(&confirmed).as_str().unwrap()), *content);
    assert_eq!(content.get("chosen").and_then(|chosen| chosen.get("choice")?.get("required")), Some(&document));
    assert_eq!(confirmed.get("isError"), None);

    let declined = call(&world, "atr_confirm", &set(&confirm, "account", "")).await;
    assert_eq!(declined.get("isError"), Some(&Value::Bool(true)));
    assert_eq!(declined.get("structuredContent").and_then(|content| content.get("decline")?.get("code")), Some(&Value::from("no-payable-option")));
    let refused = call(&world, "atr_confirm", &set(&confirm, "account", 1u32)).await;
    assert_eq!((refused.get("structuredContent"), text(&refused)), (None, r#"Argument "account" is not a string."#.into()));
}

#[tokio::test]
async fn a_result_that_the_crate_cannot_hold_is_whole_in_its_text() {
    let required = set(&offer(), "note", read(r#""\ud800""#));
    let served = required.clone();
    let world = World::new(move |_, _, _| Served::payment_required(&served));
    let chosen = arguments([("pairing", CARD.into()), ("agreement", AGREEMENT.into())]);
    let chosen = sealing::chosen(chosen.as_object().unwrap());
    let agree = arguments([("atr", encoding::base64(ATR.as_bytes()).into()), ("chosen", chosen.into())]);
    let shown = call(&world, "atr_agree", &agree).await;
    assert_eq!((shown.get("structuredContent"), shown.get("isError")), (None, None));
    let content = read(text(&shown).as_str().unwrap());
    assert_eq!(content.get("approve").unwrap().get("required"), Some(&required));
}
