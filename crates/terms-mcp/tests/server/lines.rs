//! Every line is answered, and what the arguments hold arrives as it was written.

use lcp::Value;
use terms_mcp::BuyerServer;

use crate::{
    client::{Client, error_code},
    seller::{EIP3009, arguments, offer, read, seller, set},
    world::ACCOUNT,
};

async fn client() -> Client {
    let world = seller();
    Client::connected(BuyerServer::new(world.clone(), world)).await
}

#[tokio::test]
async fn a_bad_line_gets_an_error_and_the_session_goes_on() {
    let mut client = client().await;
    let deep = "[".repeat(300) + &"]".repeat(300);
    let bad = [
        ("not JSON", "null", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":50,\"method\":\"ping\"", "null", -32700),
        (r#"[{"jsonrpc":"2.0","id":51,"method":"ping"}]"#, "null", -32600),
        ("[]", "null", -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "null", -32600),
        (r#"{"id":52,"method":"ping"}"#, "52", -32600),
        (r#"{"jsonrpc":"2.0","id":"\ud800","params":{}}"#, r#""\ud800""#, -32600),
        (r#"{"jsonrpc":"2.0","id":53,"method":"tools/list","params":{"_meta":{"x":"\ud800"}}}"#, "53", -32600),
        (&format!(r#"{{"jsonrpc":"2.0","id":54,"method":"tools/list","params":{{"_meta":{{"x":{deep}}}}}}}"#), "54", -32600),
        (r#"{"jsonrpc":"2.0","id":55,"method":"tools/list","params":[]}"#, "55", -32602),
        (r#"{"jsonrpc":"2.0","id":56,"method":"initialize","params":{}}"#, "56", -32602),
        (r#"{"jsonrpc":"2.0","id":57,"method":"tools/list","params":{"cursor":"more"}}"#, "57", -32602),
        (r#"{"jsonrpc":"2.0","id":58,"method":"tools/call","params":{"name":7,"arguments":{}}}"#, "58", -32602),
        (r#"{"jsonrpc":"2.0","id":59,"method":"tools/call"}"#, "59", -32602),
        (r#"{"jsonrpc":"2.0","id":60,"method":"tools/call","params":{"name":"nothing"}}"#, "60", -32602),
        (r#"{"jsonrpc":"2.0","id":61,"method":"nothing"}"#, "61", -32601),
        (r#"{"jsonrpc":"2.0","id":62,"method":"resources/list"}"#, "62", -32601),
        (r#"{"jsonrpc":"2.0","id":1e3,"method":"nothing"}"#, "1e3", -32601),
    ];
    for (line, id, code) in bad {
        client.send(line).await;
        let text = client.line().await;
        assert_eq!(error_code(&read(&text)), code, "{line}");
        assert!(text.contains(&format!("\"id\":{id},")), "{line}: {text}");
    }
    assert!(client.request("ping", read("{}")).await.get("result").is_some());
}

#[tokio::test]
async fn what_asks_for_no_answer_gets_none() {
    let mut client = client().await;
    for line in [
        "",
        "   \r",
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\ud800"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"anything","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}"#,
    ] {
        client.send(line).await;
    }
    client.request("ping", read("{}")).await;
    assert_eq!(client.end().await, []);
}

#[tokio::test]
async fn an_overlong_line_is_skipped() {
    let mut client = client().await;
    client.send(&"x".repeat((16 << 20) + 1)).await;
    assert_eq!(error_code(&client.answer().await), -32600);
    client.request("ping", read("{}")).await;
}

#[tokio::test]
async fn ids_go_back_as_they_came_even_one_used_twice() {
    let mut client = client().await;
    let ids = [r#""a""#, r#""\u0061""#, "9007199254740993", "-0", "1.50", r#""""#, "7", "7"];
    for id in ids {
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).await;
    }
    let mut answered = Vec::new();
    for _ in ids {
        answered.push(client.line().await);
    }
    answered.sort();
    let mut expected = ids.map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    expected.sort();
    assert_eq!(answered, expected);
}

#[tokio::test]
async fn arguments_of_any_form_are_refused_as_arguments() {
    let mut client = client().await;
    for source in ["[]", "null", "7", r#""{}""#] {
        assert_eq!(client.refused("atr_confirm", source).await, "The arguments are not a JSON object.");
    }
    let deep = format!(r#"{{"document":{}}}"#, "[".repeat(300) + &"]".repeat(300));
    assert_eq!(client.refused("atr_confirm", &deep).await, "The arguments cannot be read: nested too deep at byte 267.");
    let deep = format!(r#"{{"document":{}}}"#, "[".repeat(200_000) + &"]".repeat(200_000));
    assert!(client.refused("atr_confirm", &deep).await.contains("nested too deep"));
}

#[tokio::test]
async fn arguments_arrive_as_they_were_written() {
    let mut client = client().await;
    let confirm = arguments([("pairing", EIP3009.into()), ("account", ACCOUNT.into())]);
    let echoed = async |client: &mut Client, members: &str| {
        let document = lcp::json::write(&offer()).replace("\"x402Version\":2", &format!("\"x402Version\":2,{members}"));
        let arguments = lcp::json::write(&confirm).replace('{', &format!("{{\"document\":{document},"));
        let result = client.call_with_text("atr_confirm", &arguments).await;
        result
            .get("structuredContent")
            .and_then(|content| content.get("chosen")?.get("choice")?.get("required"))
            .unwrap_or_else(|| panic!("{result:?}"))
            .clone()
    };
    let lone = echoed(&mut client, r#""x":"\ud800""#).await;
    assert_eq!(lone.get("x"), Some(&read(r#""\ud800""#)));
    assert_eq!(echoed(&mut client, r#""x":1e400"#).await.get("x"), Some(&Value::Null), "an infinity is written as null");
    assert_eq!(echoed(&mut client, r#""x":9007199254740993,"x":[60.0,-0,1E2]"#).await.get("x"), Some(&read("[60,0,100]")));
    let deep = format!("\"x\":{}", "[".repeat(200) + &"]".repeat(200));
    let result = client.call_with_text("atr_confirm", &lcp::json::write(&confirm).replace('{', &format!("{{\"document\":{{{deep}}},"))).await;
    let code = result.get("structuredContent").and_then(|content| content.get("decline")?.get("code")).unwrap();
    assert_eq!(code, &Value::from("offer-unreadable"), "the gate judges the depth");
    assert_eq!(client.declined("atr_confirm", &set(&set(&confirm, "document", offer()), "account", read(r#""\ud800""#))).await, "no-payable-option");
}
