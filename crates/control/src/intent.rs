//! Intents: what the person wants, in words and in slots, and what is still to be asked.

mod slots;

use std::collections::{BTreeMap, BTreeSet};

use lcp::{Hash, Object, Value};

pub(crate) use slots::Currencies;
pub use slots::{IntentItem, IntentSlots, Slot, SlotValue};

use crate::{
    Fault, FaultCode, Money,
    fault::codes,
    ids::{QuestionId, RequestId},
    policy::IntentRule,
    read::Field,
};

/// Most constraints or mappings of the 0.2 form.
const MAX_CONSTRAINTS: usize = 64;
/// Longest constraint that no slot is for, in bytes of its canonical text.
const MAX_OTHER: usize = 2000;

codes! {
    /// Where the value of a slot comes from.
    pub enum Source {
        /// The agent's slots.
        Slots = "slots",
        /// The agent's constraints, the 0.2 form of slots.
        Constraints = "constraints",
        /// The person's answer.
        User = "user",
        /// The agent's answer.
        Agent = "agent",
    }
}

/// An intent as it is known: what the request said, and what was answered since.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intent {
    /// The person's words.
    pub text: Option<String>,
    /// What is known.
    pub slots: IntentSlots,
    /// From where; a slot is covered if it has a source.
    pub coverage: BTreeMap<Slot, Vec<Source>>,
    /// Slots that two sources fill with different values.
    pub conflicts: BTreeSet<Slot>,
    /// The constraints that were read as slots, by their names.
    pub mapping: BTreeMap<String, Slot>,
    /// The constraints that no slot is for, as RFC 8785 texts; they are kept and decide nothing.
    pub others: BTreeMap<String, String>,
}

/// A slot that must be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The same for one request and slot, whenever it is asked.
    pub id: QuestionId,
    /// The slot.
    pub slot: Slot,
    /// The words, the policy's or ours.
    pub question: String,
}

impl Intent {
    /// Reads the 0.3 form (`text`, `slots`) and the 0.2 form (`intent_text`, `constraints`, `intent_mapping`), which may
    /// stand side by side. A constraint fills the slot of its name, or the one that `intent_mapping` gives for it.
    pub(crate) fn read(field: &Field<'_>, currencies: Currencies<'_>) -> Result<Self, Fault> {
        let members = field.members(&["text", "slots", "intent_text", "constraints", "intent_mapping"])?;
        let text = members.read("text", |field| field.text(2000).map(str::to_owned))?;
        let older_text = members.read("intent_text", |field| field.text(2000).map(str::to_owned))?;
        let slots = members.read("slots", |field| slots::read_slots(field, currencies))?.unwrap_or_default();
        let mut intent = Self { text: text.or(older_text), ..Self::default() };
        for (slot, value) in slots {
            intent.fill(slot, value, Source::Slots);
        }
        let mapped = members.read("intent_mapping", |field| field.entries(MAX_CONSTRAINTS))?.unwrap_or_default();
        let slot_of = |name: &str| {
            Slot::parse(name).or_else(|| mapped.iter().find(|(from, _)| *from == name).and_then(|(_, to)| Slot::parse(to.value().as_str()?)))
        };
        let constraints = members.read("constraints", |field| field.entries(MAX_CONSTRAINTS))?.unwrap_or_default();
        // The currency first, for the amounts beside it are in it.
        let (currency, rest): (Vec<_>, Vec<_>) = constraints.into_iter().partition(|(name, _)| slot_of(name) == Some(Slot::Currency));
        for (name, value) in currency.into_iter().chain(rest) {
            let Some(slot) = slot_of(name) else {
                intent.others.insert(name.to_owned(), read_other(&value)?);
                continue;
            };
            let read = slots::read_slot(slot, &value, Currencies { payment: intent.currency().unwrap_or(currencies.payment), ..currencies })?;
            intent.mapping.insert(name.to_owned(), slot);
            intent.fill(slot, read, Source::Constraints);
        }
        Ok(intent)
    }

    fn fill(&mut self, slot: Slot, value: SlotValue, source: Source) {
        match self.slots.get(&slot) {
            Some(held) if *held != value => {
                self.conflicts.insert(slot);
            }
            Some(_) => {}
            None => {
                self.slots.insert(slot, value);
            }
        }
        self.coverage.entry(slot).or_default().push(source);
    }

    /// Takes an answer: it replaces what the slot held, and settles a conflict. `false` if the answer is not of the slot's
    /// form; then nothing changes, and the question stands.
    pub fn answer(&mut self, slot: Slot, answer: &str, by: Source, payment: &Money) -> bool {
        let currencies = Currencies { payment: self.currency().filter(|_| slot != Slot::Currency).unwrap_or(payment.currency()), assets: &[] };
        let Some(value) = slots::read_answer(slot, answer, currencies) else { return false };
        self.slots.insert(slot, value);
        self.conflicts.remove(&slot);
        self.coverage.insert(slot, vec![by]);
        true
    }

    fn currency(&self) -> Option<&crate::Currency> {
        match self.slots.get(&Slot::Currency) {
            Some(SlotValue::Currency(currency)) => Some(currency),
            _ => None,
        }
    }

    /// Every currency that a slot is in, or is.
    pub(crate) fn currencies(&self) -> impl Iterator<Item = &crate::Currency> {
        self.slots.values().flat_map(SlotValue::currencies)
    }

    /// The category, if it is known.
    pub fn category(&self) -> Option<&str> {
        match self.slots.get(&Slot::Category) {
            Some(SlotValue::Text(category)) => Some(category),
            _ => None,
        }
    }

    /// The most that the person said it may cost: the total, or what the items may cost together, whichever is less.
    pub fn named_amount(&self) -> Option<Money> {
        let total = match self.slots.get(&Slot::MaxTotal) {
            Some(SlotValue::Amount(total)) => Some(total.clone()),
            _ => None,
        };
        match (total, self.items_amount()) {
            (Some(total), Some(items)) => Some(if items.compare(&total).is_some_and(std::cmp::Ordering::is_lt) { items } else { total }),
            (total, items) => total.or(items),
        }
    }

    /// What the items may cost together, if each says so.
    fn items_amount(&self) -> Option<Money> {
        let Some(SlotValue::Items(items)) = self.slots.get(&Slot::Items) else { return None };
        let mut costs = items.iter().map(IntentItem::most);
        let first = costs.next()??;
        costs.try_fold(first, |sum, cost| sum.checked_add(&cost?))
    }

    /// Slots that contradict each other or the payment: two sources that differ, a currency or total in another currency than
    /// the payment's, a quantity that is not the sum of the items', and items that may cost less than is to be paid.
    pub fn contradictions(&self, payment: &Money) -> BTreeSet<Slot> {
        let mut found = self.conflicts.clone();
        if self.currency().is_some_and(|currency| currency != payment.currency()) {
            found.insert(Slot::Currency);
        }
        if let Some(SlotValue::Amount(total)) = self.slots.get(&Slot::MaxTotal)
            && total.currency() != payment.currency()
        {
            found.insert(Slot::MaxTotal);
        }
        if let (Some(SlotValue::Quantity(quantity)), Some(SlotValue::Items(items))) = (self.slots.get(&Slot::Quantity), self.slots.get(&Slot::Items))
        {
            let counted: Option<Vec<u64>> = items.iter().map(|item| item.quantity.map(u64::from)).collect();
            if counted.is_some_and(|counted| !counted.is_empty() && counted.iter().sum::<u64>() != u64::from(*quantity)) {
                found.insert(Slot::Quantity);
            }
        }
        if self.items_amount().is_some_and(|items| items.compare(payment).is_some_and(std::cmp::Ordering::is_lt)) {
            found.insert(Slot::Items);
        }
        found
    }

    /// Whether a slot is known, from a source that counts.
    pub fn covers(&self, slot: Slot, rule: &IntentRule) -> bool {
        let sources = self.coverage.get(&slot).map_or(&[][..], Vec::as_slice);
        if rule.answered_by_user.contains(&slot) { sources.contains(&Source::User) } else { !sources.is_empty() }
    }

    /// The intent as a request shows it, without its clarifications.
    pub fn to_json(&self) -> Object {
        let texts = |sources: &[Source]| sources.iter().map(|source| source.as_str().into()).collect::<Vec<Value>>();
        let slots = self.slots.iter().fold(Object::new(), |object, (slot, value)| object.with(slot.as_str(), value.to_json()));
        let coverage = self.coverage.iter().fold(Object::new(), |object, (slot, sources)| object.with(slot.as_str(), texts(sources)));
        let mapping = self.mapping.iter().fold(Object::new(), |object, (name, slot)| object.with(name.as_str(), slot.as_str()));
        let others = self.others.iter().fold(Object::new(), |object, (name, text)| object.with(name.as_str(), text.as_str()));
        Object::new()
            .with("text", self.text.as_deref().map_or(Value::Null, Value::from))
            .with("slots", slots)
            .with("coverage", coverage)
            .with("mapping", if self.mapping.is_empty() { Value::Null } else { mapping.into() })
            .with_some("other_constraints", (!self.others.is_empty()).then_some(others))
    }
}

/// A constraint that no slot is for: any JSON of a canonical text of at most 2000 bytes.
fn read_other(field: &Field<'_>) -> Result<String, Fault> {
    match lcp::json::canonical(field.value()) {
        Some(text) if text.len() <= MAX_OTHER => Ok(text),
        Some(_) => Err(field.fault(FaultCode::TooLong, "Give a shorter constraint.")),
        None => Err(field.fault(FaultCode::Malformed, "Give a constraint of finite numbers and well-formed Unicode.")),
    }
}

impl Question {
    /// The question about a slot of a request.
    pub fn new(request: &RequestId, slot: Slot, rule: &IntentRule) -> Self {
        Self { id: question_id(request, slot), slot, question: rule.question(slot).to_owned() }
    }

    /// `{"id", "slot", "question"}`
    pub fn to_json(&self) -> Object {
        Object::new().with("id", &self.id).with("slot", self.slot.as_str()).with("question", self.question.as_str())
    }
}

/// The id of the question about a slot: the start of the SHA-256 of the request's id, a line feed and the slot.
pub fn question_id(request: &RequestId, slot: Slot) -> QuestionId {
    let hash = Hash::of(format!("{request}\n{slot}").as_bytes());
    let mut start = [0; 16];
    start.iter_mut().zip(hash.bytes()).for_each(|(to, from)| *to = *from);
    QuestionId::of(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Currency;

    fn usd(text: &str) -> Money {
        Money::parse(text, &Currency::iso("USD").unwrap()).unwrap()
    }

    fn read(source: &str) -> Result<Intent, String> {
        let value = lcp::json::parse(source, 8).unwrap();
        let payment = Currency::iso("USD").unwrap();
        Intent::read(&Field::root(&value), Currencies { payment: &payment, assets: &[] }).map_err(|fault| format!("{} {}", fault.pointer, fault.code))
    }

    fn written(intent: &Intent) -> String {
        lcp::json::write(&intent.to_json().into())
    }

    #[test]
    fn the_newer_form() {
        let intent = read(
            r#"{"text":"paper","slots":{"category":"office_supplies","items":[{"description":"A4","quantity":2,"unit_max":"5"}],"quantity":2,
                "max_total":"12.5","currency":"USD","payee":"Ream","deliver_by":"2026-12-24","substitutions_allowed":false,"recurrence":"none","notes":"-"}}"#,
        );
        let intent = intent.unwrap();
        assert_eq!(intent.slots.len(), Slot::ALL.len());
        assert_eq!(intent.named_amount(), Some(usd("10")));
        assert!(intent.contradictions(&usd("10")).is_empty());
        assert!(written(&intent).contains(r#""items":[{"description":"A4","quantity":2,"unit_max":"5.00"}]"#));
        assert!(written(&intent).contains(r#""max_total":"12.50""#));
    }

    #[test]
    fn the_older_form_is_mapped() {
        let intent = read(
            r#"{"intent_text":"paper","constraints":{"max_price":"20.00","category":"books","colour":"red"},
                "intent_mapping":{"max_price":"max_total","colour":7}}"#,
        );
        assert_eq!(
            written(&intent.unwrap()),
            r#"{"text":"paper","slots":{"category":"books","max_total":"20.00"},"coverage":{"category":["constraints"],"max_total":["constraints"]},"mapping":{"category":"category","max_price":"max_total"},"other_constraints":{"colour":"\"red\""}}"#
        );
        let both = read(r#"{"text":"new","intent_text":"old","slots":{"category":"a"},"constraints":{"category":"b"}}"#).unwrap();
        assert_eq!(both.text.as_deref(), Some("new"));
        assert_eq!(both.category(), Some("a"));
        assert_eq!(both.contradictions(&usd("1")), BTreeSet::from([Slot::Category]));
    }

    #[test]
    fn amounts_are_in_the_currency_named_beside_them() {
        let intent = read(r#"{"slots":{"max_total":"5000","currency":"JPY"}}"#).unwrap();
        assert_eq!(intent.named_amount().unwrap().to_string(), "5000 JPY");
        assert_eq!(intent.contradictions(&usd("1")), BTreeSet::from([Slot::Currency, Slot::MaxTotal]));
        assert_eq!(read(r#"{"slots":{"max_total":"5.5","currency":"JPY"}}"#).unwrap_err(), "/slots/max_total amount_precision");
        assert_eq!(read(r#"{"constraints":{"max_total":"5.5","currency":"JPY"}}"#).unwrap_err(), "/constraints/max_total amount_precision");
    }

    #[test]
    fn faults_say_where() {
        for (source, fault) in [
            (r#"{"words":"x"}"#, "/words unknown_member"),
            (r#"{"slots":{"colour":"red"}}"#, "/slots/colour unknown_member"),
            (r#"{"slots":{"quantity":"2"}}"#, "/slots/quantity wrong_type"),
            (r#"{"slots":{"quantity":0}}"#, "/slots/quantity out_of_range"),
            (r#"{"slots":{"max_total":12}}"#, "/slots/max_total wrong_type"),
            (r#"{"slots":{"max_total":"-1"}}"#, "/slots/max_total amount_malformed"),
            (r#"{"slots":{"deliver_by":"2026-02-30"}}"#, "/slots/deliver_by malformed"),
            (r#"{"slots":{"currency":"usd"}}"#, "/slots/currency unknown_currency"),
            (r#"{"slots":{"items":[{"price":"1"}]}}"#, "/slots/items/0/price unknown_member"),
            (r#"{"constraints":{"a":"5"},"intent_mapping":{"a":"quantity"}}"#, "/constraints/a wrong_type"),
            (r#"{"slots":null}"#, "/slots wrong_type"),
            (r#"{"constraints":{"a":[1e400]}}"#, "/constraints/a malformed"),
            (r#"{"constraints":{"a":{"b":"\ud800"}}}"#, "/constraints/a malformed"),
        ] {
            assert_eq!(read(source).unwrap_err(), fault, "{source}");
        }
    }

    #[test]
    fn contradictions() {
        let of = |source, amount| read(source).unwrap().contradictions(&usd(amount));
        let items = r#"{"slots":{"items":[{"quantity":2,"unit_max":"5.00"},{"quantity":1,"unit_max":"1.00"}],"quantity":3}}"#;
        assert!(of(items, "11.00").is_empty());
        assert_eq!(of(items, "11.01"), BTreeSet::from([Slot::Items]));
        assert_eq!(of(r#"{"slots":{"items":[{"quantity":2}],"quantity":3}}"#, "1"), BTreeSet::from([Slot::Quantity]));
        assert!(of(r#"{"slots":{"items":[{"description":"x"}],"quantity":3}}"#, "1").is_empty());
    }

    #[test]
    fn answers_fill_slots_by_their_type() {
        let mut intent = read(r#"{"slots":{"category":"a"},"constraints":{"category":"b"}}"#).unwrap();
        let mut answer = |slot, text| intent.answer(slot, text, Source::User, &usd("5"));
        for (slot, text, is_taken) in [
            (Slot::MaxTotal, "about 50", false),
            (Slot::MaxTotal, "50.005", false),
            (Slot::MaxTotal, "50 USD", true),
            (Slot::Quantity, "+3", false),
            (Slot::Quantity, "3", true),
            (Slot::SubstitutionsAllowed, "maybe", false),
            (Slot::SubstitutionsAllowed, "Yes", true),
            (Slot::DeliverBy, "Friday", false),
            (Slot::DeliverBy, "2026-12-24", true),
            (Slot::Currency, "dollars", false),
            (Slot::Currency, "usd", true),
            (Slot::Items, "Ten reams of paper", true),
            (Slot::Category, " books ", true),
            (Slot::Notes, "", false),
        ] {
            assert_eq!(answer(slot, text), is_taken, "{slot} {text}");
        }
        assert!(intent.contradictions(&usd("5")).is_empty());
        assert_eq!(intent.category(), Some("books"));
        assert_eq!(intent.named_amount(), Some(usd("50")));
        assert_eq!(intent.coverage.get(&Slot::Category), Some(&vec![Source::User]));
    }

    #[test]
    fn some_slots_only_the_person_fills() {
        let mut intent = read(r#"{"slots":{"max_total":"5"}}"#).unwrap();
        let rule = IntentRule { answered_by_user: vec![Slot::MaxTotal], ..IntentRule::default() };
        assert!(intent.covers(Slot::MaxTotal, &IntentRule::default()));
        assert!(!intent.covers(Slot::MaxTotal, &rule));
        assert!(intent.answer(Slot::MaxTotal, "6", Source::Agent, &usd("5")));
        assert!(!intent.covers(Slot::MaxTotal, &rule));
        assert!(intent.answer(Slot::MaxTotal, "6", Source::User, &usd("5")));
        assert!(intent.covers(Slot::MaxTotal, &rule));
    }

    #[test]
    fn question_ids_stay() {
        let (a, b) = (RequestId::of([1; 16]), RequestId::of([2; 16]));
        assert_eq!(question_id(&a, Slot::Category), question_id(&a, Slot::Category));
        assert_ne!(question_id(&a, Slot::Category), question_id(&a, Slot::Payee));
        assert_ne!(question_id(&a, Slot::Category), question_id(&b, Slot::Category));
        let rule = IntentRule { questions: vec![(Slot::Category, "Which?".into())], ..IntentRule::default() };
        assert_eq!(Question::new(&a, Slot::Category, &rule).question, "Which?");
        assert_eq!(Question::new(&a, Slot::Payee, &rule).question, Slot::Payee.question());
    }
}
