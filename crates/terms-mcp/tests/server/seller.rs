//! What a seller serves: the ATR of the shared example, and offers that carry its hash.

use lcp::{Object, Value, json};

use crate::world::{Served, World};

pub(crate) const H: &str = "0x8b1e122580ae3f6a8c3d36a24294e1260a87bde70f597279b973e39310072938";
pub(crate) const ATR: &str =
    r#"{"atrVersion":"1","id":"0f8fad5b-d9cb-469f-a165-70867728950e","x402":{"z":1.0,"a":"caf\u00e9"},"seller":{"note":"Café — 30 días ✓"}}"#;
pub(crate) const AGREEMENT: &str = "https://agree.seller.example/agreements/1";

pub(crate) const EIP3009: &str = "x402/exact/eip155/eip3009";
pub(crate) const BATCH: &str = "x402/batch-settlement/eip155";
pub(crate) const CARD: &str = "card/seller-reference";

pub(crate) fn link() -> String {
    format!("https://atr.seller.example/{H}")
}

pub(crate) fn read(source: &str) -> Value {
    json::parse(source, 512).unwrap()
}

/// An x402 offer of one option.
fn required(option: &str) -> Value {
    read(&format!(
        r#"{{"x402Version":2,"resource":{{"url":"https://api.seller.example/v1/quote"}},"accepts":[{option}],
            "extensions":{{"legalContext":{{"info":{{"type":"sha256","value":"{H}","legalContextUrl":"{}"}},"schema":{{}}}}}}}}"#,
        link()
    ))
}

/// The offer of the quickstart.
pub(crate) fn offer() -> Value {
    required(
        r#"{"scheme":"exact","network":"eip155:84532","amount":"10000","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":60,"extra":{"name":"USDC","version":"2"}}"#,
    )
}

/// An offer of a channel, at a price.
pub(crate) fn channel_offer(amount: &str) -> Value {
    required(&format!(
        r#"{{"scheme":"batch-settlement","network":"eip155:84532","amount":"{amount}","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "payTo":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","maxTimeoutSeconds":3600,
            "extra":{{"receiverAuthorizer":"0x90F79bf6EB2c4f870365E785982E1f101E93b906","withdrawDelay":900,"name":"USDC","version":"2"}}}}"#
    ))
}

/// What the channel's build needs of the buyer.
pub(crate) fn channel_inputs() -> Value {
    read(&format!(r#"{{"payerAuthorizer":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","deposit":"100000","authSalt":"0x{}"}}"#, "2b".repeat(32)))
}

/// A card payment, for which an agreement is paid first.
pub(crate) fn card_document() -> Value {
    read(&format!(
        r#"{{"total":"12.00","currency":"USD","legalContext":{{"type":"sha256","value":"{H}","legalContextUrl":"{}","legalContextAgreementUrl":"{AGREEMENT}"}}}}"#,
        link()
    ))
}

/// The agreement's receipt, as it is stated.
pub(crate) fn receipt() -> Value {
    read(&format!(r#"{{"atrHash":"{H}","agreed":true,"network":"eip155:84532","transaction":"0x{}"}}"#, "77".repeat(32)))
}

/// A seller whose link serves the ATR, and whose agreement URL asks for a payment until one comes.
pub(crate) fn seller() -> World {
    World::new(|url, payment, _| match payment {
        _ if url == link() => Served::ok(ATR),
        None if url == AGREEMENT => Served::payment_required(&offer()),
        Some(_) if url == AGREEMENT => Served::ok(json::write(&receipt())),
        _ => Served::status(404),
    })
}

/// Arguments of these members.
pub(crate) fn arguments<const N: usize>(members: [(&str, Value); N]) -> Value {
    members.into_iter().fold(Object::new(), |arguments, (name, value)| arguments.with(name, value)).into()
}

/// A copy of an object with one member set.
pub(crate) fn set(object: &Value, name: &str, value: impl Into<Value>) -> Value {
    object.as_object().unwrap().clone().with(name, value).into()
}
