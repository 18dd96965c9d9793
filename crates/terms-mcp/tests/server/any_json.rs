//! Any JSON to any tool: an answer, never a panic, and no signature under a decline.

use lcp::{Value, encoding, json};
use proptest::{collection::vec, prelude::*, sample::select};
use terms_mcp::{BuyerServer, sealing};

use crate::{
    client::{Client, text_of},
    seller::{ATR, BATCH, CARD, EIP3009, arguments, card_document, channel_offer, offer, receipt, seller},
    world::ACCOUNT,
};

const TOOLS: [&str; 8] =
    ["atr_confirm", "atr_finish", "atr_check", "atr_transact", "atr_agree", "atr_channel_open", "atr_channel_record_charge", "atr_channel_within"];

/// JSON text, also such as a general reader refuses.
fn any_text() -> impl Strategy<Value = String> {
    let scalars = ["null", "true", "7", "-0", "1e400", "9007199254740993", r#""\ud800""#, r#""x""#, r#""0""#, "{}", "[]"];
    let names = ["pairing", "document", "atr", "x402Version", "accepts", "mac", "\\ud800", "0"];
    let scalar = prop_oneof![select(scalars.map(str::to_owned).to_vec()), any::<f64>().prop_map(|number| json::write(&Value::Number(number)))];
    scalar.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            vec((select(names.to_vec()), inner), 0..5).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// Values that the tools do something with.
fn likely() -> Vec<String> {
    let chosen =
        lcp::Object::new().with("pairing", EIP3009).with("choice", lcp::Object::new()).with("ref", "r").with("agreement", crate::seller::AGREEMENT);
    let approve = arguments([
        ("url", crate::seller::AGREEMENT.into()),
        ("option", offer().get("accepts").unwrap().as_array().unwrap()[0].clone()),
        ("required", offer()),
    ]);
    let values = [
        EIP3009.into(),
        BATCH.into(),
        CARD.into(),
        offer(),
        channel_offer("5"),
        card_document(),
        ACCOUNT.into(),
        encoding::base64(ATR.as_bytes()).into(),
        receipt(),
        approve,
        sealing::chosen(&chosen).into(),
        sealing::hold(&chosen).into(),
        crate::seller::channel_inputs(),
    ];
    values.iter().map(json::write).collect()
}

/// Arguments by the names the tools know, of likely and of any values; or any text.
fn any_arguments() -> impl Strategy<Value = String> {
    let names = [
        "pairing",
        "document",
        "account",
        "inputs",
        "receipt",
        "atr",
        "chosen",
        "signature",
        "presented",
        "landed",
        "signed",
        "mac",
        "hold",
        "charged",
        "approved",
        "refund",
    ];
    let value = prop_oneof![3 => select(likely()), 1 => any_text()];
    let members = vec((select(names.to_vec()), value), 0..8).prop_map(|members| {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    });
    prop_oneof![9 => members, 1 => any_text()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_call_is_answered_and_a_decline_signs_nothing(calls in vec((select(TOOLS.to_vec()), any_arguments()), 1..20)) {
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
            let world = seller();
            let mut client = Client::connected(BuyerServer::new(world.clone(), world.clone()).signer(world.wallet())).await;
            for (tool, arguments) in calls {
                let asked = world.asked().len();
                let result = client.call_with_text(tool, &arguments).await;
                let content = result.get("structuredContent");
                assert!(content.is_none_or(|content| text_of(&result) == json::write(content)), "{tool}: {result:?}");
                let code = content.and_then(|content| content.get("decline")?.get("code")?.as_str());
                let moved = content.is_some_and(|content| content.get("moved").is_some());
                // These two are what comes of a signature.
                if result.get("isError").is_some() && !moved && !matches!(code, Some("signer-failed" | "signed-not-bound")) {
                    assert_eq!(world.asked().len(), asked, "{tool} signed: {arguments}");
                }
            }
            assert_eq!(client.end().await, []);
        });
    }
}
