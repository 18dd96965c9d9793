//! Facts that tests own and change.

use control::{
    Currency, Instant, Money,
    card_number::Hit,
    decision::{
        AgentFacts, ConsentFacts, Decision, DecisionFacts, EarlierRequest, KeyState, NoPolicy, Outcome, PayeeFacts, PayeeStatus, WindowSpend, decide,
    },
    ids::{AgentId, RequestId},
    intent::Intent,
    policy::{Anchor, Assurance, Policy},
    request::{Form, PaymentRequestCreate},
};
use lcp::{Value, json};

/// 2026-11-30T12:00:00Z, a Monday.
pub(crate) const NOW: Instant = Instant::from_millis(1_796_040_000_000);

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) policy: Result<Policy, NoPolicy>,
    pub(crate) request: PaymentRequestCreate,
    pub(crate) intent: Intent,
    pub(crate) rounds: u32,
    pub(crate) card_number: Option<Hit>,
    pub(crate) is_paused: bool,
    pub(crate) assurance: Assurance,
    pub(crate) anchors: Vec<Anchor>,
    pub(crate) key: KeyState,
    pub(crate) consent: Option<ConsentFacts>,
    pub(crate) payee: PayeeFacts,
    pub(crate) spend: Vec<WindowSpend>,
    pub(crate) earlier: Vec<EarlierRequest>,
    pub(crate) is_approved: bool,
}

pub(crate) fn usd(text: &str) -> Money {
    Money::parse(text, &Currency::iso("USD").unwrap()).unwrap()
}

pub(crate) fn agent() -> AgentId {
    AgentId::of([1; 16])
}

/// An object with the members of a second one set in it.
fn merged(base: &str, more: &str) -> Value {
    let mut whole = json::parse(base, 16).unwrap().as_object().unwrap().clone();
    json::parse(more, 16)
        .unwrap_or_else(|error| panic!("{error}: {more}"))
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| whole.set(name.clone(), value));
    whole.into()
}

/// A policy that allows a payment of up to 100 USD to shop.example, with these members.
pub(crate) fn policy(members: &str) -> Policy {
    let base = r#"{"currency":"USD","agents":"*","payees":{"allow":[{"domain":"shop.example"}]},"limits":{"per_payment":"100.00"}}"#;
    Policy::read(&merged(base, members)).unwrap_or_else(|fault| panic!("{fault}: {members}"))
}

/// A request for 40 USD to shop.example, with these members.
pub(crate) fn request(members: &str) -> PaymentRequestCreate {
    let base =
        r#"{"payee":{"domain":"shop.example"},"amount":{"value":"40.00","currency":"USD"},"purpose":"printer paper","intent":{"text":"buy paper"}}"#;
    PaymentRequestCreate::read(&merged(base, members), Form::Rest, &[]).unwrap_or_else(|fault| panic!("{fault}: {members}"))
}

impl Case {
    /// A case in which nothing stands against the payment, but for what these members bring.
    pub(crate) fn new(policy_members: &str, request_members: &str) -> Self {
        let request = request(request_members);
        let mut case = Self {
            policy: Ok(policy(policy_members)),
            intent: request.intent.clone(),
            request,
            rounds: 0,
            card_number: None,
            is_paused: false,
            assurance: Assurance::A1,
            anchors: Vec::new(),
            key: KeyState::Active,
            consent: None,
            payee: PayeeFacts { identity: PayeeStatus::Unchecked, payments_before: 1 },
            spend: Vec::new(),
            earlier: Vec::new(),
            is_approved: false,
        };
        case.spend_nothing();
        case
    }

    /// Counts nothing in each of the policy's windows.
    pub(crate) fn spend_nothing(&mut self) {
        let budgets = self.policy.as_ref().map(|policy| policy.budgets(NOW)).unwrap_or_default();
        self.spend = budgets
            .into_iter()
            .map(|budget| WindowSpend {
                kind: budget.kind,
                window: budget.window,
                counted: Money::zero(budget.max.currency().clone()),
                entries: Vec::new(),
            })
            .collect();
    }

    /// Counts an amount, spent at an instant, in the policy's window of that place.
    pub(crate) fn spend(&mut self, place: usize, amount: &str, at: Instant) {
        let spend = &mut self.spend[place];
        let amount = Money::parse(amount, spend.counted.currency()).unwrap();
        spend.counted = spend.counted.checked_add(&amount).unwrap();
        spend.entries.push((at, amount));
    }

    /// Puts an earlier request of the same facts before this one.
    pub(crate) fn asked_before(&mut self, seconds: u32, outcome: Outcome) -> &mut EarlierRequest {
        let id = RequestId::of([u8::try_from(self.earlier.len() + 100).unwrap(); 16]);
        self.earlier.push(EarlierRequest::of(id, NOW.minus_seconds(seconds), &self.request, outcome).unwrap());
        self.earlier.last_mut().unwrap()
    }

    pub(crate) fn decide(&self) -> Decision {
        self.decide_at(NOW)
    }

    pub(crate) fn decide_at(&self, now: Instant) -> Decision {
        let id = RequestId::of([9; 16]);
        let agent = agent();
        let facts = DecisionFacts {
            request_id: &id,
            request: &self.request,
            intent: &self.intent,
            rounds: self.rounds,
            card_number: self.card_number.as_ref(),
            agent: AgentFacts { id: &agent, is_paused: self.is_paused, assurance: self.assurance, anchors: &self.anchors },
            key: self.key,
            consent: self.consent,
            policy: self.policy.as_ref(),
            payee: self.payee,
            spend: &self.spend,
            earlier: &self.earlier,
            is_approved: self.is_approved,
        };
        decide(&facts, now)
    }
}

/// The result and the reasons as one text.
pub(crate) fn told(decision: &Decision) -> String {
    let reasons: Vec<_> = decision.reasons.iter().map(|reason| reason.as_str()).collect();
    format!("{} {}", decision.result, reasons.join(" ")).trim_end().to_owned()
}
