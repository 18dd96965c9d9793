//! The exchange of the quickstart, and what follows it.

use lcp::{Value, encoding};
use terms_mcp::BuyerServer;

use crate::{
    client::Client,
    seller::{ATR, EIP3009, H, arguments, link, offer, seller, set},
    world::{ACCOUNT, signature},
};

fn confirm() -> Value {
    arguments([("pairing", EIP3009.into()), ("document", offer()), ("account", ACCOUNT.into())])
}

#[tokio::test]
async fn the_request_to_sign_holds_the_confirmed_hash() {
    let world = seller();
    let mut client = Client::connected(BuyerServer::new(world.clone(), world.clone())).await;
    let confirmed = client.call("atr_confirm", &confirm()).await;
    assert_eq!(
        confirmed.as_object().unwrap().iter().map(|(name, _)| name.as_str().unwrap()).collect::<Vec<_>>(),
        ["atrHash", "atr", "chosen", "request"]
    );
    assert_eq!(confirmed.get("atrHash"), Some(&Value::from(H)));
    assert_eq!(confirmed.get("atr").unwrap(), &arguments([("base64", encoding::base64(ATR.as_bytes()).into()), ("utf8", ATR.into())]));
    let request = confirmed.get("request").unwrap();
    assert_eq!(request.get("kind"), Some(&Value::from("eip712")));
    let message = request.get("typedData").and_then(|data| data.get("message")).unwrap();
    assert_eq!(message.get("nonce"), Some(&Value::from(H)));
    assert_eq!(message.get("value"), Some(&Value::from("10000")));
    assert_eq!(message.get("validBefore"), Some(&Value::from("1790000060")));
    assert_eq!(world.requests(), [link()]);
    assert_eq!(client.end().await, []);
}

#[tokio::test]
async fn the_signed_payment_is_finished_and_checked() {
    let world = seller();
    let mut client = Client::connected(BuyerServer::new(world.clone(), world.clone())).await;
    let confirmed = client.call("atr_confirm", &confirm()).await;
    let (atr, chosen) = (confirmed.get("atr").unwrap().get("base64").unwrap(), confirmed.get("chosen").unwrap());
    let finish = arguments([("pairing", EIP3009.into()), ("atr", atr.into()), ("chosen", chosen.into()), ("signature", signature().into())]);
    let finished = client.call("atr_finish", &finish).await;
    assert_eq!(finished.as_object().unwrap().iter().map(|(name, _)| name.as_str().unwrap()).collect::<Vec<_>>(), ["atrHash", "signed"]);
    let payload = finished.get("signed").and_then(|signed| signed.get("payload")).unwrap();
    assert_eq!(payload.get("signature"), Some(&Value::from(signature())));

    let check = |atr: &[u8], landed: Value| {
        let presented = finished.get("signed").unwrap();
        arguments([("pairing", EIP3009.into()), ("atr", encoding::base64(atr).into()), ("presented", presented.into()), ("landed", landed)])
    };
    let checked = client.call("atr_check", &check(ATR.as_bytes(), Value::Null)).await;
    assert_eq!(checked, arguments([("atrHash", H.into())]));
    assert_eq!(client.declined("atr_check", &check(b"another ATR", Value::Null)).await, "signed-not-bound");
    assert_eq!(client.declined("atr_check", &check(ATR.as_bytes(), "no object".into())).await, "signed-not-bound");

    // Without a channel the mac is not read.
    for chosen in [set(chosen, "mac", "0x00"), chosen.as_object().unwrap().without("mac").into()] {
        assert_eq!(client.call("atr_finish", &set(&finish, "chosen", chosen)).await, finished);
    }
    assert_eq!(world.requests().len(), 1);
}

#[tokio::test]
async fn a_gate_decline_passes_through() {
    let world = seller();
    let mut client = Client::connected(BuyerServer::new(world.clone(), world.clone())).await;
    let document = set(&offer(), "x402Version", 7u32);
    let content = client.call("atr_confirm", &set(&confirm(), "document", document)).await;
    let decline = content.get("decline").unwrap();
    assert_eq!(decline.get("code"), Some(&Value::from("offer-unreadable")));
    assert_eq!(decline.get("detail"), Some(&Value::from("x402/not-v2")));
    assert_eq!(client.declined("atr_confirm", &set(&confirm(), "account", "nobody")).await, "no-payable-option");
    assert!(world.requests().is_empty());
}

#[tokio::test]
async fn a_malformed_argument_is_refused_before_anything() {
    let world = seller();
    let server = BuyerServer::new(world.clone(), world.clone()).signer(world.wallet());
    let mut client = Client::connected(server).await;
    let refused = client.refused("atr_check", &format!(r#"{{"pairing":"{EIP3009}","atr":"YW==","presented":null}}"#)).await;
    assert_eq!(refused, r#"Argument "atr" is not padded standard base64 in its canonical form."#);
    assert_eq!(client.refused("atr_confirm", "{}").await, r#"Argument "pairing" is missing."#);
    let secret = "4111111111111111";
    let refused = client.refused("atr_transact", &format!(r#"{{"pairing":"{EIP3009}","document":{{}},"inputs":"{secret}","approved":null}}"#)).await;
    assert_eq!(refused, r#"Argument "inputs" is not an object."#);
    let refused = client.refused("atr_transact", &format!(r#"{{"pairing":"{EIP3009}","document":{{}},"recieved":"{secret}"}}"#)).await;
    assert_eq!(refused, r#"Argument "recieved" is not one of this tool's arguments."#);
    assert!(world.requests().is_empty() && world.asked().is_empty());
}
