//! An organization in memory: one agent, one policy, one rail, and the payments made so far.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, Ordering},
};

use control::{
    Currency, Ids, Instant, Money, Refusal,
    decision::{AgentFacts, ConsentFacts, EarlierRequest, KeyState, PayeeFacts, PayeeStatus, WindowSpend},
    ids::{AgentId, ConsentId, KeyId, MandateId, OrgId, QuestionId, RecordId, RequestId, UserId},
    intent::Source,
    mandate::VoidReason,
    payment::{Asked, Desk, HandOffReport, Links, Payment, Reported, SellerOrder, Standing},
    policy::{Assurance, Policy},
    rail::{Credential, Rail, RailError, RailReason},
    request::{Form, PaymentRequestCreate, Protocol},
};
use lcp::{
    Object, Value,
    jose::{Ed25519Key, SigningKey},
    json,
};

/// 2026-11-30T12:00:00Z, a Monday.
pub(crate) const NOW: Instant = Instant::from_millis(1_796_040_000_000);
pub(crate) const ISSUER: &str = "https://chancery.example";
pub(crate) const LINKS: Links<'_> = Links { base: ISSUER };

/// Ids that count up.
#[derive(Debug, Default)]
pub(crate) struct Counter(u128);

impl Ids for Counter {
    fn draw(&mut self) -> [u8; 16] {
        self.0 += 1;
        self.0.to_be_bytes()
    }
}

/// A rail for cards, or one that fails.
#[derive(Debug, Default)]
pub(crate) struct CardRail {
    pub(crate) fails: AtomicBool,
}

impl Rail for CardRail {
    fn name(&self) -> &'static str {
        "test_card"
    }

    fn serves(&self, protocol: Protocol) -> bool {
        matches!(protocol, Protocol::Card | Protocol::Ucp | Protocol::Acp)
    }

    fn issue(&self, mandate: &MandateId, _: &Money, _: Instant, _: &mut dyn Ids) -> Result<Credential, RailError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(RailError { reason: RailReason::RailError, message: "The rail is down.".into(), next_step: "Ask again later.".into() });
        }
        let token = format!("tok_secret_{}", mandate.as_str());
        Ok(Credential { handler_id: "test_card_handler".into(), token, display: vec![("brand".into(), "test".into())] })
    }
}

pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) ids: Counter,
    pub(crate) key: Ed25519Key,
    pub(crate) rail: CardRail,
    pub(crate) policy: Policy,
    pub(crate) is_paused: Cell<bool>,
    pub(crate) consent: Option<(ConsentId, ConsentFacts)>,
    pub(crate) payments: Vec<Payment>,
}

pub(crate) fn agent() -> AgentId {
    AgentId::of([1; 16])
}

pub(crate) fn org() -> OrgId {
    OrgId::of([2; 16])
}

pub(crate) fn person(number: u8) -> UserId {
    UserId::of([number; 16])
}

pub(crate) fn usd(text: &str) -> Money {
    Money::parse(text, &Currency::iso("USD").unwrap()).unwrap()
}

pub(crate) fn value(source: &str) -> Value {
    json::parse(source, json::MAX_DEPTH).unwrap_or_else(|error| panic!("{error}: {source}"))
}

fn merged(base: &str, more: &str) -> Value {
    let mut whole = value(base).as_object().unwrap().clone();
    value(more).as_object().unwrap().iter().for_each(|(name, value)| whole.set(name.clone(), value));
    whole.into()
}

/// A signed policy that allows up to 100 USD at shop.example, with these members.
pub(crate) fn policy(members: &str) -> Policy {
    let base = r#"{"id":"pol_01jdqz4d4n9v8h2k6m3p5r7t9w","version":3,"currency":"USD","agents":"*","principal":"Ada",
        "payees":{"allow":[{"domain":"shop.example"}]},"limits":{"per_payment":"100.00"},"duplicate_window_seconds":0}"#;
    Policy::read(&merged(base, members)).unwrap_or_else(|fault| panic!("{fault}: {members}"))
}

/// A request for 40 USD to shop.example, with these members.
pub(crate) fn body(members: &str) -> Value {
    let base =
        r#"{"payee":{"domain":"shop.example"},"amount":{"value":"40.00","currency":"USD"},"purpose":"printer paper","intent":{"text":"buy paper"}}"#;
    merged(base, members)
}

/// Runs one command of the payment at a place, with all it may need.
macro_rules! run {
    ($world:expr, $place:expr, |$payment:ident, $standing:ident, $desk:ident| $command:expr) => {{
        let world = &mut *$world;
        let mut $payment = world.payments[$place].clone();
        let facts = world.facts($payment.request(), Some($payment.id()));
        let agent = agent();
        let $standing = Standing {
            agent: AgentFacts { id: &agent, is_paused: world.is_paused.get(), assurance: Assurance::A1, anchors: &[] },
            key: KeyState::Active,
            consent: world.consent.clone(),
            policy: Ok(&world.policy),
            payee: facts.payee,
            spend: &facts.spend,
            earlier: &facts.earlier,
        };
        let rails: [&dyn Rail; 1] = [&world.rail];
        let mut desk = Desk { now: world.now, ids: &mut world.ids, issuer: ISSUER, key: &world.key, rails: &rails };
        let $desk = &mut desk;
        let result = $command;
        if result.is_err() {
            assert_eq!($payment, world.payments[$place], "a refusal changes nothing");
        }
        world.payments[$place] = $payment;
        result
    }};
}

struct Facts {
    payee: PayeeFacts,
    spend: Vec<WindowSpend>,
    earlier: Vec<EarlierRequest>,
}

impl World {
    pub(crate) fn new(policy_members: &str) -> Self {
        Self {
            now: NOW,
            ids: Counter::default(),
            key: Ed25519Key::from_seed(&[1; 32]),
            rail: CardRail::default(),
            policy: policy(policy_members),
            is_paused: Cell::new(false),
            consent: None,
            payments: Vec::new(),
        }
    }

    /// What is known of the world when a request is decided, without the payment itself.
    fn facts(&self, request: &PaymentRequestCreate, own: Option<&RequestId>) -> Facts {
        let others = || self.payments.iter().filter(move |payment| own != Some(payment.id()));
        let paid = others().filter(|payment| payment.is_paid() && payment.request().payee.key() == request.payee.key()).count();
        let spend = self.policy.budgets(self.now).into_iter().map(|budget| WindowSpend {
            kind: budget.kind,
            window: budget.window,
            counted: self.counted_in(budget.window, budget.max.currency()),
            entries: Vec::new(),
        });
        Facts {
            payee: PayeeFacts { identity: PayeeStatus::Unchecked, payments_before: u32::try_from(paid).unwrap() },
            spend: spend.collect(),
            earlier: others().filter_map(Payment::earlier).collect(),
        }
    }

    /// What counts in a window now.
    pub(crate) fn counted_in(&self, window: control::window::Window, currency: &Currency) -> Money {
        let counted = self.payments.iter().filter_map(Payment::counted);
        let inside = counted.filter(|counted| window.start <= counted.at && counted.at < window.end && counted.amount.currency() == currency);
        inside.fold(Money::zero(currency.clone()), |sum, counted| sum.checked_add(&counted.amount).unwrap())
    }

    /// Asks, and gives the place of the payment.
    pub(crate) fn ask(&mut self, members: &str) -> usize {
        self.ask_with(members, &Ed25519Key::from_seed(&[1; 32]))
    }

    /// The same with another key to sign with.
    pub(crate) fn ask_with(&mut self, members: &str, key: &dyn SigningKey) -> usize {
        let source = body(members);
        let request = PaymentRequestCreate::read(&source, Form::Rest, &self.policy.assets()).unwrap_or_else(|fault| panic!("{fault}: {members}"));
        let asked = Asked {
            id: RequestId::fresh(&mut self.ids),
            record_id: RecordId::fresh(&mut self.ids),
            org: org(),
            agent: agent(),
            key: KeyId::of([3; 16]),
            source,
            form: Form::Rest,
            request,
        };
        let facts = self.facts(&asked.request, None);
        let agent = agent();
        let standing = Standing {
            agent: AgentFacts { id: &agent, is_paused: self.is_paused.get(), assurance: Assurance::A1, anchors: &[] },
            key: KeyState::Active,
            consent: self.consent.clone(),
            policy: Ok(&self.policy),
            payee: facts.payee,
            spend: &facts.spend,
            earlier: &facts.earlier,
        };
        let rails: [&dyn Rail; 1] = [&self.rail];
        let mut desk = Desk { now: self.now, ids: &mut self.ids, issuer: ISSUER, key, rails: &rails };
        let payment = Payment::ask(asked, &standing, &mut desk);
        self.payments.push(payment);
        self.payments.len() - 1
    }

    /// Lets time pass, and everything that is due happen.
    pub(crate) fn wait(&mut self, seconds: u32) {
        self.now = self.now.plus_seconds(seconds);
        let now = self.now;
        for payment in &mut self.payments {
            while payment.tick(now) {}
        }
    }

    /// The digest that the page of a payment's approval holds.
    pub(crate) fn digest(&self, place: usize) -> String {
        self.payments[place].approval().unwrap().digest.clone()
    }

    pub(crate) fn approve(&mut self, place: usize, by: &UserId, digest: &str) -> Result<(), Refusal> {
        run!(self, place, |payment, standing, desk| payment.approve(by, digest, &standing, desk))
    }

    pub(crate) fn decline(&mut self, place: usize, by: &UserId, digest: &str) -> Result<(), Refusal> {
        run!(self, place, |payment, standing, desk| payment.decline(by, digest, &standing, desk))
    }

    /// Answers the questions about these slots.
    pub(crate) fn answer(&mut self, place: usize, answers: &[(&str, &str)]) -> Result<(), Refusal> {
        let id = |slot: &str| control::intent::question_id(self.payments[place].id(), control::intent::Slot::parse(slot).unwrap());
        let answers: Vec<(QuestionId, String)> = answers.iter().map(|(slot, text)| (id(slot), (*text).to_owned())).collect();
        run!(self, place, |payment, standing, desk| payment.answer(&answers, Source::User, &standing, desk))
    }

    pub(crate) fn hand_off(&mut self, place: usize, report: &str) -> Result<Reported, Refusal> {
        let report = HandOffReport::read(&value(report), &[])?;
        run!(self, place, |payment, _standing, desk| payment.hand_off(&report.continue_url, report.order, desk))
    }

    pub(crate) fn consume(&mut self, place: usize, order: &str) -> Result<(), Refusal> {
        let order = SellerOrder::read(&value(order), &[])?;
        run!(self, place, |payment, _standing, desk| payment.consume(order, desk))
    }

    pub(crate) fn void(&mut self, place: usize, why: VoidReason) {
        let done: Result<(), Refusal> = run!(self, place, |payment, _standing, desk| {
            payment.void(why, desk);
            Ok(())
        });
        done.unwrap();
    }

    pub(crate) fn view(&self, place: usize) -> Object {
        self.payments[place].view(LINKS, true)
    }

    /// State and last decision as one text.
    pub(crate) fn told(&self, place: usize) -> String {
        let payment = &self.payments[place];
        let decision = payment.decision().unwrap();
        let reasons: Vec<_> = decision.reasons.iter().map(|reason| reason.as_str()).collect();
        format!("{} {} {}", payment.state(), decision.result, reasons.join(" ")).trim_end().to_owned()
    }
}

/// A member of a view, by its path.
pub(crate) fn at<'a>(object: &'a Object, path: &str) -> &'a Value {
    let mut names = path.split('/');
    let first = object.get(names.next().unwrap()).unwrap_or(&Value::Null);
    names.fold(first, |value, name| value.get(name).unwrap_or(&Value::Null))
}

/// The text of a member, or its JSON.
pub(crate) fn text(object: &Object, path: &str) -> String {
    let value = at(object, path);
    value.as_str().map_or_else(|| json::write(value), str::to_owned)
}
