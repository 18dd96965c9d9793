//! What must come back unchanged comes back with its mac, or is declined before the gate, the network or the wallet.

use lcp::{Object, Value, encoding, json};
use terms_mcp::{BuyerServer, sealing};

use crate::{
    client::Client,
    seller::{AGREEMENT, ATR, BATCH, CARD, H, arguments, read, seller, set},
    world::World,
};

async fn client(world: &World) -> Client {
    Client::connected(BuyerServer::new(world.clone(), world.clone()).signer(world.wallet())).await
}

fn object(value: &Value) -> &Object {
    value.as_object().unwrap()
}

/// What a sealed object must not be taken as: with a member changed, added or removed, without its mac, or with that of
/// another process.
fn tampered(sealed: &Value) -> Vec<Value> {
    let first = object(sealed).iter().next().unwrap().0.as_str().unwrap().to_owned();
    vec![
        set(sealed, &first, "changed"),
        set(sealed, "added", Value::Null),
        object(sealed).without(&first).into(),
        object(sealed).without("mac").into(),
        set(sealed, "mac", format!("0x{}", "00".repeat(32))),
        set(sealed, "mac", object(sealed).get("mac").unwrap().as_str().unwrap().to_uppercase().replace("0X", "0x")),
        set(sealed, "mac", Value::Null),
    ]
}

/// The same object with its members in another order.
fn reordered(sealed: &Value) -> Value {
    let mut members: Vec<_> = object(sealed).iter().collect();
    members.reverse();
    members.into_iter().fold(Object::new(), |reordered, (name, value)| reordered.with(name.clone(), value)).into()
}

fn chosen(pairing: &str) -> Value {
    let chosen = Object::new().with("pairing", pairing).with("choice", Object::new()).with("ref", "r").with("agreement", AGREEMENT);
    sealing::chosen(&chosen).into()
}

#[tokio::test]
async fn a_changed_chosen_payment_is_not_paid_for() {
    let world = seller();
    let mut client = client(&world).await;
    let agree = |chosen: Value| arguments([("atr", encoding::base64(ATR.as_bytes()).into()), ("chosen", chosen)]);
    for chosen in tampered(&chosen(CARD)) {
        assert_eq!(client.declined("atr_agree", &agree(chosen)).await, "chosen-unverified");
    }
    assert!(world.requests().is_empty());
    assert!(client.call("atr_agree", &agree(reordered(&chosen(CARD)))).await.get("approve").is_some());
}

#[tokio::test]
async fn the_chosen_payment_of_a_channel_must_verify() {
    let world = seller();
    let mut client = client(&world).await;
    // The mac is looked at before the ATR's size, and before whose pairing it is.
    let long = encoding::base64(&vec![b'x'; (1 << 20) + 1]);
    let finish = |pairing: &str, chosen: Value, atr: &str| {
        arguments([("pairing", pairing.into()), ("atr", atr.into()), ("chosen", chosen), ("signature", Value::Null)])
    };
    for chosen in tampered(&chosen(CARD)) {
        assert_eq!(client.declined("atr_finish", &finish(BATCH, chosen, &long)).await, "chosen-unverified");
    }
    assert_eq!(client.declined("atr_finish", &finish(BATCH, chosen(CARD), "")).await, "pairing-not-supported");
    assert_eq!(client.declined("atr_finish", &finish(BATCH, chosen(BATCH), &long)).await, "atr-too-large");
    assert_eq!(client.declined("atr_finish", &finish(CARD, tampered(&chosen(CARD)).remove(0), "")).await, "pairing-not-supported");
}

#[tokio::test]
async fn a_changed_opening_is_not_kept() {
    let world = seller();
    let mut client = client(&world).await;
    let (signed, landed) = (read(r#"{"payload":{"type":"deposit"}}"#), read(r#"{"log":[]}"#));
    let mac = sealing::opening(BATCH, &signed, Some(&landed));
    let open = arguments([
        ("pairing", BATCH.into()),
        ("atr", encoding::base64(ATR.as_bytes()).into()),
        ("signed", signed.clone()),
        ("landed", landed),
        ("mac", mac.as_str().into()),
    ]);
    assert_eq!(client.declined("atr_channel_open", &open).await, "signed-not-bound", "the gate is asked");
    let changed = [
        set(&open, "pairing", "mpp/session/evm"),
        set(&open, "signed", set(&signed, "more", 1u32)),
        set(&open, "landed", Value::Null),
        set(&open, "landed", read("{}")),
        object(&open).without("landed").into(),
        set(&open, "mac", mac.to_uppercase()),
        set(&open, "mac", sealing::opening(BATCH, &signed, None)),
        set(&open, "mac", ""),
    ];
    for open in changed {
        assert_eq!(client.declined("atr_channel_open", &open).await, "opening-unverified", "{open:?}");
    }
    let open = set(&open, "mac", sealing::opening(BATCH, &signed, None));
    assert_eq!(client.declined("atr_channel_open", &set(&open, "landed", Value::Null)).await, "signed-not-bound", "null is no receipt");
}

fn hold() -> Value {
    let hold = read(&format!(
        r#"{{"pairing":"{BATCH}","network":"eip155:84532","channel":"0x01","h":"{H}","atr":"","opening":{{"b":1,"a":[{{}}]}},"charged":"5","signedMax":"100"}}"#
    ));
    sealing::hold(object(&hold)).into()
}

#[tokio::test]
async fn a_changed_hold_is_not_used() {
    let world = seller();
    let mut client = client(&world).await;
    let charge = |hold: &Value, charged: &str| arguments([("hold", hold.into()), ("charged", charged.into())]);
    let within = |hold: &Value| arguments([("pairing", BATCH.into()), ("hold", hold.into()), ("document", Value::Null)]);
    for hold in tampered(&hold()) {
        for (tool, arguments) in [("atr_channel_record_charge", charge(&hold, "7")), ("atr_channel_within", within(&hold))] {
            let content = client.call(tool, &arguments).await;
            let sentence = "The hold is not one this server process returned, unchanged. Pass back the latest hold exactly as returned.";
            assert_eq!(json::write(content.get("decline").unwrap()), format!(r#"{{"code":"hold-unverified","detail":"{sentence}"}}"#));
        }
    }
    assert!(world.asked().is_empty());

    let charged = client.call("atr_channel_record_charge", &charge(&reordered(&hold()), "007")).await;
    assert_eq!(charged.get("atrHash"), Some(&Value::from(H)));
    let after = charged.get("hold").unwrap();
    assert_eq!(after.get("charged"), Some(&Value::from("7")));
    assert_ne!(after.get("mac"), hold().get("mac"));
    assert_eq!(client.declined("atr_channel_record_charge", &charge(after, "6")).await, "offer-unreadable");
    assert_eq!(client.declined("atr_channel_record_charge", &charge(after, "101")).await, "offer-unreadable");
    let again = client.call("atr_channel_record_charge", &charge(after, "100")).await;
    assert_eq!(again.get("hold").unwrap().get("charged"), Some(&Value::from("100")));
}
