//! Whatever JSON stands where a document, a choice or a payment is read, a pairing answers or refuses; it never panics.

use lcp::{
    ConfirmedHash, Hash, Object, Value,
    pairing::{Advertised, Buyer, Choice},
    registry::PAIRINGS,
};
use proptest::prelude::*;

/// Names the pairings read, so that a made-up value gets past their first checks.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "x402Version", "accepts", "extensions", "legalContext", "info", "type", "value", "legalContextUrl", "legal_context_url",
    "legalContextAgreementUrl", "required", "accepted", "payload", "authorization", "signature", "scheme", "network", "amount", "asset", "payTo",
    "maxTimeoutSeconds", "extra", "name", "from", "now", "id", "realm", "method", "intent", "request", "opaque", "expires", "challenge", "source",
    "doc", "refused", "signatureInput", "lcpHash", "l1", "l2", "l3b", "checkout_mandate", "checkout_jwt", "checkoutJwt", "checkout", "links",
    "title", "url", "ap2", "merchant_authorization", "session", "metadata", "legal_context", "allowance", "max_amount", "currency", "merchant_id",
    "expires_at", "paymentRequestToken", "paymentOptions",
];

#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "exact", "sha256", "https://a.example/x", "http://a.example/x", "eip155:1", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "1", "",
    "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "charge", "card", "2030-01-01T00:00:00Z", "e30",
    "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0.0", "lcp:sha256:0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "legal_context", "legal_context_agreement", "a..b", "e30.e30.", "e30.e30.~", "a=(\"lcp-hash\");tag=\"agent-payer-auth\"", "a=:AA:", "usd",
];

fn name() -> impl Strategy<Value = String> {
    prop_oneof![9 => prop::sample::select(NAMES).prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![Just(2.0), Just(60.0), any::<f64>()].prop_map(Value::Number),
        prop::sample::select(TEXTS).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => prop::collection::vec((name(), inner), 0..6)
                .prop_map(|members| members.into_iter().fold(Object::new(), |object, (name, value)| object.with(name, value)).into()),
        ]
    })
}

proptest! {
    #[test]
    fn no_pairing_panics(value in json(), more in prop::collection::vec(json(), 0..3), account in "(eip155:1|\\PC{0,4}):\\PC{0,12}") {
        let nothing = Object::new();
        let members = value.as_object().unwrap_or(&nothing);
        let h = Hash::of(b"abc");
        let buyer = Buyer { account: &account, inputs: members, now: 1_790_000_000, random: &|bytes| bytes.fill(7) };
        let chosen = Choice { choice: members, reference: &"ref".into(), h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" };
        let made_up = Advertised { h, link: String::new(), agreement: None, document: value.clone(), options: more.clone() };
        for pairing in PAIRINGS.iter().map(|entry| entry.pairing) {
            for advertised in pairing.read(&value).iter().chain([&made_up]) {
                let _ = pairing.choose(advertised, &buyer);
            }
            if let Ok(unsigned) = pairing.build(&chosen) {
                let _ = (unsigned.request(), unsigned.complete(&value));
            }
            let _ = pairing.bound(&value, more.first());
        }
    }
}
