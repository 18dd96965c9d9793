//! Lines that are no messages, and how calls end early: by a cancellation, by the end of the input, by a panic.

use control::access::Role;
use lcp::{Value, json};

use super::{
    FITTING,
    client::{Client, error_code},
    desk::{Desk, caller},
};
use crate::{Caller, Problem, mcp::stdio};

#[tokio::test]
async fn a_bad_line_gets_an_error_and_the_session_goes_on() {
    let mut client = Client::agent(Desk::usual()).await;
    for (line, id, code) in [
        ("not JSON", "null", -32700),
        (r#"{"jsonrpc":"2.0","id":50,"method":"ping""#, "null", -32700),
        (r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#, "null", -32700),
        (r#"[{"jsonrpc":"2.0","id":51,"method":"ping"}]"#, "null", -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "null", -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "null", -32600),
        (r#"{"id":52,"method":"ping"}"#, "52", -32600),
        (r#"{"jsonrpc":"2.0","id":"53"}"#, r#""53""#, -32600),
        (r#"{"jsonrpc":"2.0","id":54,"method":"initialize","params":{}}"#, "54", -32602),
        (r#"{"jsonrpc":"2.0","id":55,"method":"nothing"}"#, "55", -32601),
    ] {
        client.send(line).await;
        let answer = client.answer().await;
        assert_eq!((json::write(answer.get("id").unwrap()).as_str(), error_code(&answer)), (id, code), "{line}");
    }
    for line in ["", " \r", r#"{"jsonrpc":"2.0","method":"anything","params":[1]}"#, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#] {
        client.send(line).await;
    }
    client.send(&"x".repeat((16 << 20) + 1)).await;
    assert_eq!(error_code(&client.answer().await), -32600);
    for id in [r#""a""#, "7", "7"] {
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).await;
    }
    assert_eq!(client.end().await.len(), 3, "an id that is used twice is answered twice");
}

async fn begin(client: &mut Client, index: usize) -> u32 {
    let (tool, arguments) = FITTING[index];
    client.ask("tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#)).await
}

#[tokio::test]
async fn calls_in_flight_at_the_end_of_the_input_are_answered() {
    let (desk, held) = Desk::holding();
    let mut client = Client::agent(desk.clone()).await;
    let ids = [begin(&mut client, 0).await, begin(&mut client, 1).await];
    desk.until_asked().await;
    desk.until_asked().await;
    let ending = tokio::spawn(client.end());
    held.add_permits(2);
    let answers = ending.await.unwrap();
    assert_eq!(answers.len(), 2);
    for id in ids {
        assert!(answers.iter().any(|answer| answer.get("id") == Some(&Value::from(id)) && answer.get("result").is_some()));
    }
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered_and_a_write_is_not_undone() {
    let (desk, held) = Desk::holding();
    let mut client = Client::agent(desk.clone()).await;
    for (index, done) in [(0, 1), (1, 1)] {
        let id = begin(&mut client, index).await;
        desk.until_asked().await;
        client.send(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)).await;
        client.request("ping", "{}").await;
        held.add_permits(1);
        while index == 0 && desk.done() == 0 {
            tokio::task::yield_now().await;
        }
        client.request("ping", "{}").await;
        assert_eq!(desk.done(), done, "a write goes on, a read is given up");
    }
    assert_eq!(client.end().await, []);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_ends_does_not_keep_the_server() {
    let (desk, _held) = Desk::holding();
    let mut client = Client::agent(desk.clone()).await;
    begin(&mut client, 1).await;
    desk.until_asked().await;
    let answers = client.end().await;
    assert_eq!(answers.iter().map(error_code).collect::<Vec<_>>(), [-32603]);
    assert_eq!(desk.done(), 0);
}

#[derive(Clone)]
struct Panicking;

macro_rules! panicking {
    ($($name:ident($($argument:ty),*);)*) => {
        impl crate::mcp::operations::Operations for Panicking {
            $(async fn $name(&self, $(_: $argument),*) -> Result<lcp::Object, Problem> { panic!("a test's panic") })*
        }
    };
}

panicking! {
    request_payment(&Caller, &Value);
    payment_request(&Caller, &str, u32);
    answer_clarification(&Caller, &str, &Value);
    hand_off(&Caller, &str, &Value);
    mandates(&Caller, &crate::service::Query);
    record_page(&Caller, &str);
    verify_record(&Caller, &str);
    verify_bundle(&Caller, &Value);
}

#[tokio::test]
async fn a_panic_ends_its_call_alone_and_with_an_answer() {
    let mut client = Client::agent(Panicking).await;
    let answer = client.request("tools/call", r#"{"name":"get_record","arguments":{"record_id":"rec_1"}}"#).await;
    assert_eq!(error_code(&answer), -32603);
    client.request("ping", "{}").await;
}

#[tokio::test]
async fn a_client_that_no_longer_listens_ends_the_server() {
    let (mut to_server, reader) = tokio::io::duplex(1 << 10);
    let (writer, from_server) = tokio::io::duplex(1 << 10);
    let serving = tokio::spawn(stdio::serve(Desk::usual(), caller(Role::Agent), reader, writer));
    drop(from_server);
    tokio::io::AsyncWriteExt::write_all(&mut to_server, b"nonsense\n").await.unwrap();
    assert_eq!(serving.await.unwrap().map_err(|error| error.kind()), Err(std::io::ErrorKind::BrokenPipe));
}
