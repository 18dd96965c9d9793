//! The tools that have the host's wallet sign.

use lcp::{Value, encoding, json};
use terms_mcp::BuyerServer;

use crate::{
    client::Client,
    seller::{AGREEMENT, ATR, CARD, EIP3009, H, arguments, card_document, link, offer, read, receipt, seller, set},
    world::{ACCOUNT, Served, World, signature},
};

fn with_signer(world: &World) -> BuyerServer<World, World, crate::world::Wallet> {
    BuyerServer::new(world.clone(), world.clone()).signer(world.wallet())
}

#[tokio::test]
async fn transact_signs_only_after_the_comparison() {
    let world = seller();
    let mut client = Client::connected(with_signer(&world)).await;
    let transact = arguments([("pairing", EIP3009.into()), ("document", offer())]);
    let transacted = client.call("atr_transact", &transact).await;
    assert_eq!(transacted.as_object().unwrap().iter().map(|(name, _)| name.as_str().unwrap()).collect::<Vec<_>>(), ["atrHash", "atr", "signed"]);
    let payload = transacted.get("signed").and_then(|signed| signed.get("payload")).unwrap();
    assert_eq!(payload.get("signature"), Some(&Value::from(signature())));
    assert_eq!((world.requests().len(), world.asked().len()), (1, 1));

    let world = World::new(|_, _, _| Served::ok("another ATR"));
    let mut client = Client::connected(with_signer(&world)).await;
    assert_eq!(client.declined("atr_transact", &transact).await, "hash-mismatch");
    assert!(world.asked().is_empty());
}

#[tokio::test]
async fn transact_shows_the_agreement_payment_before_it_pays_it() {
    let world = seller();
    let mut client = Client::connected(with_signer(&world)).await;
    let transact = arguments([("pairing", CARD.into()), ("document", card_document())]);
    let shown = client.call("atr_transact", &transact).await;
    assert_eq!(shown.as_object().unwrap().iter().map(|(name, _)| name.as_str().unwrap()).collect::<Vec<_>>(), ["atrHash", "atr", "approve"]);
    let approve = shown.get("approve").unwrap();
    assert_eq!(approve.get("url"), Some(&Value::from(AGREEMENT)));
    assert_eq!(approve.get("required"), Some(&offer()));
    assert!(world.asked().is_empty());

    let transacted = client.call("atr_transact", &set(&transact, "approved", approve)).await;
    assert_eq!(transacted.get("signed"), Some(&Value::Null));
    assert_eq!(transacted.get("agreement"), Some(&receipt()));
    assert_eq!(transacted.get("mac"), None);
    assert_eq!(world.asked().len(), 1);
    assert_eq!(world.requests(), [link(), AGREEMENT.to_owned(), link(), AGREEMENT.to_owned()]);
}

/// Confirms the card payment, and returns the arguments of `atr_agree` for it.
async fn agree_arguments(client: &mut Client) -> Value {
    let confirm = arguments([("pairing", CARD.into()), ("document", card_document()), ("account", ACCOUNT.into())]);
    let confirmed = client.call("atr_confirm", &confirm).await;
    assert_eq!(confirmed.get("request"), None, "the request waits for the agreement");
    assert_eq!(confirmed.get("chosen").unwrap().get("agreement"), Some(&Value::from(AGREEMENT)));
    arguments([("atr", encoding::base64(ATR.as_bytes()).into()), ("chosen", confirmed.get("chosen").unwrap().into())])
}

#[tokio::test]
async fn the_agreement_is_shown_then_paid_then_the_request_comes() {
    let world = seller();
    // Any wallet that pays agreements serves.
    let server = BuyerServer::new(world.clone(), world.clone()).agreement_signer(world.wallet());
    let mut client = Client::connected(server).await;
    let agree = agree_arguments(&mut client).await;
    let shown = client.call("atr_agree", &agree).await;
    assert_eq!(shown.get("atrHash"), Some(&Value::from(H)));
    assert!(world.asked().is_empty());
    let agreed = client.call("atr_agree", &set(&agree, "approved", shown.get("approve").unwrap())).await;
    assert_eq!(agreed, arguments([("atrHash", H.into()), ("receipt", receipt())]));
    assert_eq!(world.asked().len(), 1);

    let confirm = arguments([("pairing", CARD.into()), ("document", card_document()), ("account", ACCOUNT.into()), ("receipt", receipt())]);
    assert_eq!(client.call("atr_confirm", &confirm).await.get("request"), Some(&Value::Null));
    for wrong in [set(&receipt(), "agreed", "yes"), set(&receipt(), "atrHash", format!("0x{}", "00".repeat(32))), Value::Null] {
        assert_eq!(client.declined("atr_confirm", &set(&confirm, "receipt", wrong)).await, "agreement-failed");
    }
}

#[tokio::test]
async fn an_approved_payment_is_held_to_its_offer() {
    let world = seller();
    let mut client = Client::connected(with_signer(&world)).await;
    let agree = agree_arguments(&mut client).await;
    let approve = client.call("atr_agree", &agree).await.get("approve").unwrap().clone();
    let before = world.requests().len();
    let option = set(approve.get("option").unwrap(), "amount", "1");
    let content = client.call("atr_agree", &set(&agree, "approved", set(&approve, "option", option))).await;
    assert_eq!(json::write(content.get("decline").unwrap()), r#"{"code":"offer-unreadable","detail":"x402/option-not-in-document"}"#);
    assert_eq!(client.declined("atr_agree", &set(&agree, "approved", set(&approve, "url", "https://other.example/"))).await, "agreement-failed");
    let refused = client.refused("atr_agree", &json::write(&set(&agree, "approved", read(r#"{"url":"","option":{}}"#)))).await;
    assert_eq!(refused, r#"Argument "approved" has no member "required"."#);
    assert_eq!((world.requests().len(), world.asked().len()), (before, 0));
}

#[tokio::test]
async fn a_chosen_payment_without_agreement_has_none_to_pay() {
    let world = seller();
    let mut client = Client::connected(with_signer(&world)).await;
    let confirm = arguments([("pairing", EIP3009.into()), ("document", offer()), ("account", ACCOUNT.into())]);
    let confirmed = client.call("atr_confirm", &confirm).await;
    let agree = arguments([("atr", encoding::base64(ATR.as_bytes()).into()), ("chosen", confirmed.get("chosen").unwrap().into())]);
    assert_eq!(client.declined("atr_agree", &agree).await, "offer-unreadable");
}
