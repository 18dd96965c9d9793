//! A channel from its offer to its close, through the tools alone.

use lcp::{Value, encoding};
use terms_mcp::BuyerServer;

use crate::{
    client::Client,
    seller::{ATR, BATCH, H, arguments, channel_inputs, channel_offer, read, seller, set},
    world::{ACCOUNT, World, signature},
};

async fn client(world: &World) -> Client {
    Client::connected(BuyerServer::new(world.clone(), world.clone()).signer(world.wallet())).await
}

async fn opened(client: &mut Client, opening: &Value) -> Value {
    let open = arguments([
        ("pairing", BATCH.into()),
        ("atr", encoding::base64(ATR.as_bytes()).into()),
        ("signed", opening.get("signed").unwrap().into()),
        ("mac", opening.get("mac").expect("an opening has a mac").into()),
    ]);
    let kept = client.call("atr_channel_open", &open).await;
    assert_eq!(kept.get("atrHash"), Some(&Value::from(H)));
    kept.get("hold").unwrap().clone()
}

#[tokio::test]
async fn a_channel_is_opened_paid_in_charged_and_closed() {
    let world = seller();
    let mut client = client(&world).await;
    let transact = arguments([("pairing", BATCH.into()), ("document", channel_offer("1000")), ("inputs", channel_inputs())]);
    let opening = client.call("atr_transact", &transact).await;
    let hold = opened(&mut client, &opening).await;
    assert_eq!(hold.get("signedMax"), Some(&Value::from("1000")));

    let charge = arguments([("hold", hold), ("charged", "1000".into())]);
    let hold = client.call("atr_channel_record_charge", &charge).await.get("hold").unwrap().clone();
    let within = arguments([("pairing", BATCH.into()), ("hold", hold), ("document", channel_offer("250"))]);
    let paid = client.call("atr_channel_within", &within).await;
    assert_eq!(paid.get("atrHash"), Some(&Value::from(H)));
    let hold = paid.get("hold").unwrap();
    assert_eq!(hold.get("signedMax"), Some(&Value::from("1250")));
    assert_eq!(world.asked().len(), 2);

    let close = set(&set(&within, "hold", hold), "refund", read("{}"));
    let closed = client.call("atr_channel_within", &close).await;
    assert_eq!(closed.get("signed").and_then(|signed| signed.get("payload")?.get("type")), Some(&Value::from("refund")));
    let refund = set(&within, "refund", read(r#"{"amount":10}"#));
    assert_eq!(
        client.refused("atr_channel_within", &lcp::json::write(&refund)).await,
        r#"Argument "refund" has a member "amount" that is not a string."#
    );
    assert_eq!(world.asked().len(), 3);
}

#[tokio::test]
async fn an_opening_signed_by_the_agents_own_wallet_is_kept_too() {
    let world = seller();
    let mut client = Client::connected(BuyerServer::new(world.clone(), world.clone())).await;
    let confirm =
        arguments([("pairing", BATCH.into()), ("document", channel_offer("1000")), ("account", ACCOUNT.into()), ("inputs", channel_inputs())]);
    let confirmed = client.call("atr_confirm", &confirm).await;
    let finish = arguments([
        ("pairing", BATCH.into()),
        ("atr", encoding::base64(ATR.as_bytes()).into()),
        ("chosen", confirmed.get("chosen").unwrap().into()),
        ("signature", vec![Value::from(signature()); 2].into()),
    ]);
    let finished = client.call("atr_finish", &finish).await;
    opened(&mut client, &finished).await;

    let chosen = set(finish.get("chosen").unwrap(), "ref", "another");
    assert_eq!(client.declined("atr_finish", &set(&finish, "chosen", chosen)).await, "chosen-unverified");
}
