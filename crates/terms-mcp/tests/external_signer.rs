//! An external wallet process signs for the real binary, which pays a seller over TLS: `--signer`, `--agreement-signer`.
#![allow(clippy::unwrap_used)] // helpers of tests fail by panicking

mod support;

use lcp::{Hash, Object, Value};
use support::{
    Seller,
    binary::{ATR, Server, offer},
};

const WALLET: &str = concat!(env!("CARGO_BIN_EXE_terms-mcp"), " dev-signer");

fn tools(options: &[&str]) -> Vec<String> {
    let listed = Server::with(options).request("tools/list", Object::new());
    let tools = listed.get("tools").unwrap().as_array().unwrap().iter();
    tools.map(|tool| tool.get("name").unwrap().as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_wallets_decide_the_tools() {
    let without = ["atr_confirm", "atr_finish", "atr_check", "atr_channel_open", "atr_channel_record_charge"];
    assert_eq!(tools(&[]), without);
    let all = [
        "atr_confirm",
        "atr_finish",
        "atr_check",
        "atr_transact",
        "atr_agree",
        "atr_channel_open",
        "atr_channel_record_charge",
        "atr_channel_within",
    ];
    assert_eq!(tools(&["--signer", WALLET]), all);
    let agreements = ["atr_confirm", "atr_finish", "atr_check", "atr_agree", "atr_channel_open", "atr_channel_record_charge"];
    assert_eq!(tools(&["--agreement-signer", WALLET]), agreements);
}

#[test]
fn the_wallet_signs_only_under_the_hash_of_the_served_bytes() {
    for (served, signs) in [(ATR, true), (&ATR[1..], false)] {
        let seller = Seller::serving(served);
        let mut server = Server::with(&["--allow-net", "127.0.0.0/8", "--ca-cert", &seller.certificate(), "--signer", WALLET]);
        let document = offer(&format!("{}/atr", seller.origin));
        let result = server.call("atr_transact", Object::new().with("pairing", "x402/exact/eip155/eip3009").with("document", document));
        let structured = result.get("structuredContent").unwrap();
        assert_eq!(structured.get("decline").is_none(), signs);
        let nonce = structured.get("signed").and_then(|signed| signed.get("payload")?.get("authorization")?.get("nonce")?.as_str());
        assert_eq!(nonce.map(str::to_owned), signs.then(|| Hash::of(ATR).to_string()));
        let code = structured.get("decline").and_then(|decline| decline.get("code")).and_then(Value::as_str);
        assert_eq!(code, (!signs).then_some("hash-mismatch"));
    }
}
