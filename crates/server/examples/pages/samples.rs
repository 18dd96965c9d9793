//! Sample payments: a usual one, hard ones, and each state.

use std::sync::Arc;

use control::{
    Asset, Currency, Instant, Money,
    ids::{AgentId, ApprovalId, RecordId},
};
use server::service::ApprovalPage;

/// One of each.
pub(crate) fn all() -> Vec<ApprovalPage> {
    vec![usual(), hostile(), token(), bare(), approved(), declined(), expired(), superseded(), refused(), withdrawn()]
}

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap_or(Instant::MIN)
}

fn money(units: i128, code: &str) -> Money {
    Currency::iso(code).map_or_else(|| Money::new(units, ether()), |currency| Money::new(units, currency))
}

fn ether() -> Currency {
    let asset = Asset::new("eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC", 6);
    asset.map_or_else(|| unreachable!("a CAIP-19 id"), |asset| Currency::Asset(Arc::new(asset)))
}

fn fact(name: &str, state: &str, detail: &str) -> (String, String, String) {
    (name.into(), state.into(), detail.into())
}

fn numbered(number: u8, state: &str) -> ApprovalPage {
    let now = at("2026-11-30T22:15:00Z");
    ApprovalPage {
        id: ApprovalId::of([number; 16]).to_string(),
        state: state.into(),
        digest: "sha256:9b0c7a55e1d9a1f40c3fb2f7f1f3a0c9e7dbe3a7a1c5a0e2b6f4d8c0a9e1b3d5".into(),
        amount: money(12_900, "EUR"),
        payee_name: Some("Ream & Rule".into()),
        payee_domain: Some(("shop.reamandrule.com".into(), "reamandrule.com".into())),
        merchant_id: None,
        purpose: "10 reams of recycled A4 paper, 80 g, for the office printer".into(),
        intent: Some("Order the paper we always take, before Thursday".into()),
        agent: ("Office assistant".into(), AgentId::of([9; 16]).to_string()),
        rules: vec![("approval_required".into(), "The amount is above 100.00 EUR, from which a person is asked.".into())],
        merchant_facts: vec![
            fact("paid_before", "PASS", "Paid 3 times before."),
            fact("payee_domain", "PASS", "The checkout is on the payee's domain."),
            fact("payee_identity", "SKIP", "The payee's identity was not checked."),
        ],
        evidence: vec![("quote".into(), "Quote 2026-1187".into(), "sha256:4d0e41a3c3b2d8b7b9d6fbd8e7f4b2a19c6d5e8f7a0b1c2d3e4f5a6b7c8d9e0f".into())],
        checkout: Some(("ucp".into(), "https://shop.reamandrule.com/checkout/cs_8842".into())),
        risk: (12, vec![]),
        policy: Some(("Office purchases".into(), 3)),
        asked_at: now.minus_seconds(70),
        expires_at: now.plus_seconds(4 * 60 + 20),
        now,
        decided: None,
        outcome: None,
        record_id: RecordId::of([number; 16]).to_string(),
    }
}

fn usual() -> ApprovalPage {
    numbered(1, "pending")
}

/// A payee that looks like another, and words that try to be more than words.
fn hostile() -> ApprovalPage {
    let purpose = "URGENT <b>already approved by your bank</b> https://evil.example/confirm \u{202E}01.0 RUE\u{202C} \u{200B}Ignore the amount \
                   above, it is a deposit that comes back within the hour. ";
    ApprovalPage {
        amount: money(123_456_789_000, "USD"),
        payee_name: Some("Bücher Müller & Söhne GmbH".into()),
        payee_domain: Some(("kasse.xn--bcher-kva.example".into(), "xn--bcher-kva.example".into())),
        merchant_id: Some("acct_1Nv0FGQ9RKHgCVdKu7mVbXyZ0123456789".into()),
        purpose: purpose.repeat(8),
        intent: None,
        agent: ("Einkauf \u{202E}tnega".into(), AgentId::of([8; 16]).to_string()),
        rules: vec![
            ("payee_lookalike".into(), "The payee looks like buecher.example, and is another.".into()),
            ("payee_unknown".into(), "The policy does not name the payee.".into()),
            ("risk_review".into(), "The risk is 61 of 100; from 50 on a person is asked.".into()),
        ],
        merchant_facts: vec![
            fact("paid_before", "SKIP", "Never paid before."),
            fact("payee_looks", "FAIL", "The payee looks like buecher.example, and is another."),
            fact("payee_identity", "SKIP", "The payee's identity was not checked."),
            fact("screening", "PASS", "Nothing is on a screening list."),
        ],
        risk: (61, vec!["First payment to this payee".into(), "Far above what this agent usually pays".into()]),
        ..numbered(2, "pending")
    }
}

fn token() -> ApprovalPage {
    ApprovalPage {
        amount: Money::new(2_500_000, ether()),
        payee_name: None,
        payee_domain: Some(("api.weather.example".into(), "weather.example".into())),
        purpose: "One month of hourly forecasts for Lisbon".into(),
        intent: None,
        checkout: Some(("x402".into(), "https://api.weather.example/v1/forecast".into())),
        merchant_facts: vec![
            fact("paid_before", "SKIP", "Never paid before."),
            fact("payee_domain", "PASS", "The checkout is on the payee's domain."),
        ],
        evidence: vec![],
        ..numbered(3, "pending")
    }
}

/// As little as a request may say.
fn bare() -> ApprovalPage {
    ApprovalPage {
        amount: money(40_000, "JPY"),
        payee_name: None,
        payee_domain: None,
        merchant_id: Some("acct_1Nv0FGQ9".into()),
        intent: None,
        checkout: None,
        evidence: vec![],
        merchant_facts: vec![],
        policy: None,
        ..numbered(4, "pending")
    }
}

fn approved() -> ApprovalPage {
    let page = numbered(5, "approved");
    ApprovalPage {
        decided: Some(("ada".into(), page.now.minus_seconds(5))),
        outcome: Some("The agent has a mandate for this payment alone, good for 15 minutes.".into()),
        ..page
    }
}

fn declined() -> ApprovalPage {
    let page = numbered(6, "declined");
    ApprovalPage { decided: Some(("grace".into(), page.now.minus_seconds(5))), outcome: None, ..page }
}

fn expired() -> ApprovalPage {
    let page = numbered(7, "expired");
    ApprovalPage { expires_at: page.now.minus_seconds(120), ..page }
}

fn superseded() -> ApprovalPage {
    let page = numbered(8, "superseded");
    ApprovalPage { decided: Some(("ada".into(), page.now)), outcome: Some("Ask the person one question.".into()), ..page }
}

fn refused() -> ApprovalPage {
    let page = numbered(9, "refused");
    ApprovalPage { decided: Some(("ada".into(), page.now)), outcome: Some("Denied: the agent is paused (agent_paused).".into()), ..page }
}

fn withdrawn() -> ApprovalPage {
    ApprovalPage { outcome: Some("The request was withdrawn; nothing was paid by it.".into()), ..numbered(10, "void") }
}
