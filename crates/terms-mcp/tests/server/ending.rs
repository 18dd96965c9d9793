//! How calls end early: by the client's cancellation, by the end of the input, by a panic, by a client that left.

use lcp::{Value, json};
use terms_mcp::BuyerServer;

use crate::{
    client::{Client, error_code},
    seller::{AGREEMENT, ATR, CARD, EIP3009, arguments, card_document, link, offer, read, seller, set},
    world::{ACCOUNT, Served, World},
};

/// A seller whose agreement payment is never recorded: it settles, and at the second look there is silence, or not.
fn settling(silence: bool) -> World {
    World::new(move |url, payment, before| match payment {
        _ if url == link() => Served::ok(ATR),
        None => Served::payment_required(&offer()),
        Some(_) if silence && before > 3 => Served::Silence,
        Some(_) => Served::status(202),
    })
}

/// Begins to pay the agreement, and returns the id of the call.
async fn begin(client: &mut Client) -> u32 {
    let transact = arguments([("pairing", CARD.into()), ("document", card_document())]);
    let shown = client.call("atr_transact", &transact).await;
    let transact = set(&transact, "approved", shown.get("approve").unwrap());
    client.ask("tools/call", &format!(r#"{{"name":"atr_transact","arguments":{}}}"#, json::write(&transact))).await
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_exchange_ends_and_is_not_answered() {
    let world = settling(true);
    let mut client = Client::connected(BuyerServer::new(world.clone(), world.clone()).signer(world.wallet())).await;
    let call = begin(&mut client).await;
    world.until_silent().await;
    let sent = world.requests();
    assert_eq!(sent, [&link(), AGREEMENT, &link(), AGREEMENT, AGREEMENT]);
    client.send(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{call},"reason":"\ud800"}}}}"#)).await;
    world.until_given_up().await;
    client.request("ping", read("{}")).await;
    assert_eq!(client.end().await, []);
    assert_eq!(world.requests(), sent, "nothing is sent after the cancellation");
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_exchange_at_the_end_of_the_input_is_ended_and_its_payment_returned() {
    let world = settling(false);
    let mut client = Client::connected(BuyerServer::new(world.clone(), world.clone()).signer(world.wallet())).await;
    let call = begin(&mut client).await;
    let answers = client.end().await;
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].get("id"), Some(&Value::from(call)));
    let content = answers[0].get("result").and_then(|result| result.get("structuredContent")).unwrap();
    assert_eq!(content.get("decline").and_then(|decline| decline.get("code")), Some(&Value::from("agreement-pending")));
    assert!(content.get("moved").and_then(|moved| moved.get("signed")).is_some());
    // Asked again every two seconds for thirty, of the 240 that the seller's time limit would have given.
    assert!((10..=20).contains(&world.requests().len()), "{:?}", world.requests().len());
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_at_the_end_of_the_input_are_answered() {
    let world = seller();
    let mut client = Client::connected(BuyerServer::new(world.clone(), world)).await;
    let confirm = arguments([("pairing", EIP3009.into()), ("document", offer()), ("account", ACCOUNT.into())]);
    for _ in 0..20 {
        client.ask("tools/call", &format!(r#"{{"name":"atr_confirm","arguments":{}}}"#, json::write(&confirm))).await;
    }
    let answers = client.end().await;
    assert_eq!(answers.len(), 20);
    assert!(answers.iter().all(|answer| answer.get("result").unwrap().get("isError").is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_ends_does_not_keep_the_server() {
    let world = World::new(|_, _, _| Served::Silence);
    let mut client = Client::connected(BuyerServer::new(world.clone(), world.clone())).await;
    let confirm = arguments([("pairing", EIP3009.into()), ("document", offer()), ("account", ACCOUNT.into())]);
    client.ask("tools/call", &format!(r#"{{"name":"atr_confirm","arguments":{}}}"#, json::write(&confirm))).await;
    world.until_silent().await;
    assert_eq!(client.end().await, []);
}

#[tokio::test]
async fn a_panic_ends_its_call_alone_and_with_an_answer() {
    let world = seller();
    let mut client = Client::connected(BuyerServer::new(world.clone(), world.clone()).signer(world.panicking_wallet())).await;
    let transact = arguments([("pairing", EIP3009.into()), ("document", offer())]);
    let call = arguments([("name", "atr_transact".into()), ("arguments", transact)]);
    assert_eq!(error_code(&client.request("tools/call", call).await), -32603);
    client.request("ping", read("{}")).await;
}

#[tokio::test]
async fn a_client_that_no_longer_listens_ends_the_server() {
    let world = seller();
    let (mut to_server, reader) = tokio::io::duplex(1 << 10);
    let (writer, from_server) = tokio::io::duplex(1 << 10);
    let serving = tokio::spawn(terms_mcp::serve(BuyerServer::new(world.clone(), world), reader, writer));
    drop(from_server);
    tokio::io::AsyncWriteExt::write_all(&mut to_server, b"nonsense\n").await.unwrap();
    assert_eq!(serving.await.unwrap().map_err(|error| error.kind()), Err(std::io::ErrorKind::BrokenPipe));
}
