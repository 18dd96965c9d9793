//! What the agents of the simulation want, and what their policies say: drawn so that rules meet often.

use control::ids::{AgentId, PolicyId};
use lcp::{Object, Value};

use super::chance::Chance;

/// Payees as requests name them: a domain, or a merchant id. The last ones are never allowed.
const DOMAINS: [&str; 6] = ["shop.example", "books.example", "paper.example", "tools.example", "casino.example", "sanctioned.example"];
const MERCHANTS: [&str; 2] = ["acct_1", "acct_2"];
/// Payees that every policy denies.
pub(super) const DENIED: &str = "casino.example";
const SCREENED: &str = "sanctioned.example";
const PURPOSES: [&str; 4] = ["printer paper", "a book for Ada", "ten pencils", "the April subscription"];
const CATEGORIES: [&str; 3] = ["office_supplies", "books", "gift_cards"];
const ZONES: [&str; 6] = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Santiago"];
const CURRENCIES: [(&str, u32); 3] = [("USD", 2), ("EUR", 2), ("JPY", 0)];

/// Card numbers that are planted in requests; no view and no record may hold one.
pub(super) const PLANTED: [&str; 3] = ["4242424242424242", "4111 1111 1111 1111", "3782-822463-10005"];

/// Units as the decimal text of a currency with that many digits behind the point.
pub(super) fn decimal(units: u32, digits: u32) -> String {
    if digits == 0 {
        return units.to_string();
    }
    let scale = 10u32.pow(digits);
    format!("{}.{:0width$}", units / scale, units % scale, width = digits as usize)
}

/// What a policy's amounts are in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tender {
    pub(super) currency: &'static str,
    pub(super) digits: u32,
}

impl Tender {
    pub(super) fn draw(chance: &mut Chance) -> Self {
        let (currency, digits) = CURRENCIES[chance.index(CURRENCIES.len())];
        Self { currency, digits }
    }

    fn text(self, units: u32) -> String {
        decimal(units, self.digits)
    }
}

/// The most that one payment may be, in units.
pub(super) const PER_PAYMENT: u32 = 10_000;
/// Above which a person is asked, in units.
const THRESHOLD: u32 = 3_000;

/// A policy document.
pub(super) fn policy(id: &PolicyId, version: u32, agents: &[AgentId], tender: Tender, chance: &mut Chance) -> Object {
    let mut document = Object::new()
        .with("id", id)
        .with("version", version)
        .with("currency", tender.currency)
        .with("agents", if chance.one_in(2) { "*".into() } else { Value::from(agents.iter().map(Value::from).collect::<Vec<_>>()) })
        .with("payees", payees(chance))
        .with("limits", Object::new().with("per_payment", tender.text(PER_PAYMENT)).with("windows", windows(tender, chance)))
        .with("window", Object::new().with("zone", ZONES[chance.index(ZONES.len())]))
        .with("duplicate_window_seconds", [0u32, 600, 7200][chance.index(3)]);
    let mut maybe = |name: &str, times: u32, value: &mut dyn FnMut(&mut Chance) -> Value| {
        if chance.one_in(times) {
            document.set(name, value(chance));
        }
    };
    maybe("approval", 2, &mut |chance| {
        Object::new().with("threshold", tender.text(THRESHOLD)).with("expires_in_seconds", chance.between(600, 40_000)).into()
    });
    maybe("shadow", 6, &mut |_| true.into());
    maybe("require_consent", 4, &mut |_| true.into());
    maybe("refill_policy", 2, &mut |chance| ["never", "on_void_only", "on_settled_refund", "on_any_reversal"][chance.index(4)].into());
    maybe("duplicate", 3, &mut |_| "deny".into());
    maybe("retry_policy", 3, &mut |chance| {
        Object::new()
            .with("max_attempts", chance.between(1, 4))
            .with("window_seconds", chance.between(600, 40_000))
            .with("same_amount_only", chance.one_in(2))
            .into()
    });
    maybe("intent", 3, &mut |chance| {
        let required: Vec<Value> = if chance.one_in(2) { vec!["category".into()] } else { vec!["category".into(), "max_total".into()] };
        Object::new().with("required", required).with("max_rounds", chance.between(1, 3)).into()
    });
    maybe("categories", 4, &mut |_| Object::new().with("deny", ["gift_cards".into()]).into());
    maybe("visibility_scope", 3, &mut |_| {
        Object::new().with("merchant", ["mode".into()]).with("issuer_only", ["policy".into(), "budget".into()]).into()
    });
    maybe("mode", 3, &mut |_| "bounded_stepup".into());
    document.with("screening", Object::new().with("domains", [SCREENED.into()]))
}

fn payees(chance: &mut Chance) -> Object {
    let named = |domain: &str| Value::from(Object::new().with("domain", domain));
    Object::new()
        .with("allow", ["shop.example", "books.example"].map(named))
        .with("deny", [named(DENIED)])
        .with("unknown", ["allow", "allow", "allow", "step_up", "deny"][chance.index(5)])
}

/// Budgets that a few days of payments fill.
fn windows(tender: Tender, chance: &mut Chance) -> Vec<Value> {
    let mut windows = Vec::new();
    let mut add = |kind: &str, seconds: Option<u32>, units: u32| {
        windows.push(Object::new().with("kind", kind).with_some("seconds", seconds).with("max", tender.text(units)).into());
    };
    for (kind, units) in [("day", 6_000), ("week", 20_000), ("month", 60_000)] {
        if chance.one_in(2) {
            add(kind, None, units + chance.below(units));
        }
    }
    if chance.one_in(2) {
        add("rolling", Some(chance.between(3600, 200_000)), chance.between(4_000, 15_000));
    }
    windows
}

/// What an agent asks for, as a REST body without `agent_id`; of so many units, if that is said.
pub(super) fn request(tender: Tender, units: Option<u32>, chance: &mut Chance) -> Object {
    let payee = match chance.below(8) {
        0 => Object::new().with("merchant_id", MERCHANTS[chance.index(MERCHANTS.len())]),
        // The first are asked for most.
        _ => Object::new().with("domain", DOMAINS[chance.index(DOMAINS.len()).min(chance.index(DOMAINS.len()))]),
    };
    let tender = if chance.one_in(40) { Tender::draw(chance) } else { tender };
    let units = units.unwrap_or_else(|| match chance.below(8) {
        0 => [PER_PAYMENT, PER_PAYMENT + 1, THRESHOLD, THRESHOLD + 1][chance.index(4)],
        1 => 1,
        _ => chance.between(1, 11) * 500,
    });
    let mut purpose = PURPOSES[chance.index(PURPOSES.len())].to_owned();
    if chance.one_in(80) {
        purpose = format!("{purpose}, card {}", PLANTED[chance.index(PLANTED.len())]);
    }
    let domain = payee.get("domain").and_then(Value::as_str).unwrap_or("shop.example").to_owned();
    Object::new()
        .with("payee", payee)
        .with("amount", Object::new().with("value", tender.text(units)).with("currency", tender.currency))
        .with("purpose", purpose)
        .with_some("checkout", checkout(&domain, chance))
        .with_some("intent", intent(tender, chance))
        .with_some("complete_checkout", chance.one_in(30).then_some(true))
}

fn checkout(domain: &str, chance: &mut Chance) -> Option<Object> {
    let (protocol, reference) = match chance.below(12) {
        0 => ("ucp", format!("chk_{}", chance.below(5))),
        1 => ("acp", format!("cs_{}", chance.below(5))),
        2 => ("card", format!("order {}", chance.below(5))),
        3 => ("x402", format!("https://{domain}/paid/{}", chance.below(3))),
        4 => ("bill", format!("invoice {}", chance.below(5))),
        _ => return None,
    };
    Some(Object::new().with("protocol", protocol).with("reference", reference))
}

fn intent(tender: Tender, chance: &mut Chance) -> Option<Object> {
    if chance.one_in(3) {
        return None;
    }
    let mut slots = Object::new();
    if !chance.one_in(3) {
        slots.set("category", CATEGORIES[chance.index(CATEGORIES.len())]);
    }
    if chance.one_in(2) {
        slots.set("max_total", tender.text(chance.between(1, 24) * 500));
    }
    Some(Object::new().with("text", "what the person said").with("slots", slots))
}

/// An answer to the question for a slot; now and then it is none.
pub(super) fn answer(slot: &str, tender: Tender, chance: &mut Chance) -> String {
    match slot {
        _ if chance.one_in(8) => "I do not know".to_owned(),
        "max_total" => tender.text(chance.between(1, 24) * 500),
        _ => CATEGORIES[chance.index(CATEGORIES.len())].to_owned(),
    }
}
