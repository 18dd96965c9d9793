//! The control plane's side of the question.

use control::{
    Currency, Instant, Money,
    decision::{AgentFacts, Decision, DecisionFacts, EarlierRequest, KeyState, Outcome, PayeeFacts, PayeeStatus, WindowSpend, decide},
    ids::{AgentId, RequestId},
    policy::{Assurance, Policy},
    request::{Form, PaymentRequestCreate},
};
use lcp::{Object, Value, json};

use super::{Case, PURPOSE, TERMS, allowed, denied, screened};

/// 2026-11-30T12:00:00Z.
const NOW: Instant = Instant::from_millis(1_796_040_000_000);

/// All that a decision reads, loaded.
pub(super) struct Facts {
    id: RequestId,
    agent: AgentId,
    policy: Policy,
    request: PaymentRequestCreate,
    spend: Vec<WindowSpend>,
    earlier: Vec<EarlierRequest>,
}

fn agent() -> AgentId {
    AgentId::of([1; 16])
}

fn domains(names: Vec<String>) -> Vec<Value> {
    names.into_iter().map(|name| Object::new().with("domain", name).into()).collect()
}

fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<Value> {
    texts.into_iter().map(|text| Value::from(text.into())).collect()
}

fn policy() -> Policy {
    let limits = r#"{"per_payment":"200.00","windows":[{"kind":"day","max":"500.00"},{"kind":"week","max":"1000.00"},
        {"kind":"month","max":"2000.00"},{"kind":"rolling","seconds":3600,"max":"300.00"}]}"#;
    let document = Object::new()
        .with("currency", "USD")
        .with("agents", texts([agent().as_str()]))
        .with("payees", Object::new().with("allow", domains(allowed())).with("deny", domains(denied())).with("unknown", "step_up"))
        .with("categories", Object::new().with("allow", texts(["office_supplies", "books"])).with("deny", texts(["gift_cards"])))
        .with("limits", json::parse(limits, 8).unwrap())
        .with("window", Object::new().with("zone", "Europe/Berlin"))
        .with("approval", Object::new().with("threshold", "50.00"))
        .with("duplicate_window_seconds", 600_u32)
        .with("screening", Object::new().with("domains", texts(screened())).with("purpose_terms", texts(TERMS)))
        .with("retry_policy", json::parse(r#"{"max_attempts":3,"window_seconds":3600,"same_amount_only":true}"#, 8).unwrap())
        .with("intent", json::parse(r#"{"required":["category","max_total"]}"#, 8).unwrap())
        .with("identity_requirements", json::parse(r#"[{"assurance":"A1"}]"#, 8).unwrap())
        .with("rails", json::parse(r#"{"card":{},"ucp":{}}"#, 8).unwrap());
    Policy::read(&document.into()).unwrap()
}

/// Cents as a decimal text.
fn decimal(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn request(payee: &str, cents: i64, purpose: &str) -> PaymentRequestCreate {
    let amount = Object::new().with("value", decimal(cents)).with("currency", "USD");
    let slots = Object::new().with("category", "office_supplies").with("max_total", "300.00");
    let body = Object::new()
        .with("payee", Object::new().with("domain", payee))
        .with("amount", amount)
        .with("purpose", purpose)
        .with("intent", Object::new().with("text", "Buy printer paper for at most 300 dollars").with("slots", slots));
    PaymentRequestCreate::read(&body.into(), Form::Rest, &[]).unwrap()
}

impl Facts {
    pub(super) fn of(case: &Case) -> Self {
        let policy = policy();
        let hundred = Money::parse("100.00", &Currency::iso("USD").unwrap()).unwrap();
        let budgets = policy.budgets(NOW).into_iter();
        let spend = budgets.map(|budget| WindowSpend { kind: budget.kind, window: budget.window, counted: hundred.clone(), entries: Vec::new() });
        // As the plane would load them: others of the same agent, none of them the same payment.
        let earlier = (0..4_u8).map(|number| {
            let other = request("shop-27.example", 1200 + i64::from(number), "Envelopes");
            EarlierRequest::of(RequestId::of([number; 16]), NOW.minus_seconds(60), &other, Outcome::Live).unwrap()
        });
        Self {
            id: RequestId::of([9; 16]),
            agent: agent(),
            request: request(&case.payee, case.cents, PURPOSE),
            spend: spend.collect(),
            earlier: earlier.collect(),
            policy,
        }
    }

    pub(super) fn decide(&self) -> Decision {
        let facts = DecisionFacts {
            request_id: &self.id,
            request: &self.request,
            intent: &self.request.intent,
            rounds: 0,
            card_number: None,
            agent: AgentFacts { id: &self.agent, is_paused: false, assurance: Assurance::A1, anchors: &[] },
            key: KeyState::Active,
            consent: None,
            policy: Ok(&self.policy),
            payee: PayeeFacts { identity: PayeeStatus::Verified, payments_before: 3 },
            spend: &self.spend,
            earlier: &self.earlier,
            is_approved: false,
        };
        decide(&facts, NOW)
    }

    pub(super) fn decided(&self) -> String {
        self.decide().result.to_string()
    }

    /// The checks that found something against the payment, sorted.
    pub(super) fn found(&self) -> Vec<String> {
        let mut found: Vec<String> = self.decide().checks.into_iter().filter(|check| !check.ok).map(|check| check.name.into_owned()).collect();
        found.sort();
        found
    }
}

/// How many checks a decision is made of.
pub(super) fn checks() -> usize {
    Facts::of(&super::cases()[0]).decide().checks.len()
}
