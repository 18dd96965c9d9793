//! The slots of an intent: what the person said the purchase may be.

use std::{collections::BTreeMap, sync::Arc};

use lcp::{Object, Value};

use crate::{
    Asset, Currency, Fault, Instant, Money,
    fault::codes,
    read::{Field, Members},
    time::has_shape,
};

codes! {
    /// A slot. Policies name them too.
    pub enum Slot {
        /// What kind of thing is bought.
        Category = "category",
        /// The things themselves.
        Items = "items",
        /// How many.
        Quantity = "quantity",
        /// The most that it may cost in total.
        MaxTotal = "max_total",
        /// The currency of the slots' amounts.
        Currency = "currency",
        /// Who is to be paid.
        Payee = "payee",
        /// When it must arrive.
        DeliverBy = "deliver_by",
        /// Whether something like it will do.
        SubstitutionsAllowed = "substitutions_allowed",
        /// Whether it comes back, and how often.
        Recurrence = "recurrence",
        /// Anything else.
        Notes = "notes",
    }
}

impl Slot {
    /// The question for a slot that no policy words.
    pub const fn question(self) -> &'static str {
        match self {
            Self::Category => "What kind of purchase is this?",
            Self::Items => "What exactly should be bought?",
            Self::Quantity => "How many should be bought?",
            Self::MaxTotal => "What is the most this may cost in total?",
            Self::Currency => "In which currency should this be paid?",
            Self::Payee => "Who should be paid?",
            Self::DeliverBy => "By which date must it arrive?",
            Self::SubstitutionsAllowed => "May something similar be bought instead?",
            Self::Recurrence => "Is this paid once, or again and again?",
            Self::Notes => "Is there anything else to know about this purchase?",
        }
    }
}

/// One thing to buy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntentItem {
    /// What it is.
    pub description: Option<String>,
    /// How many of it; 1 if absent.
    pub quantity: Option<u32>,
    /// The most that one may cost.
    pub unit_max: Option<Money>,
}

/// The value of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotValue {
    /// Free words, a category, a payee, or a date.
    Text(String),
    /// Things to buy.
    Items(Vec<IntentItem>),
    /// A number of things.
    Quantity(u32),
    /// An amount.
    Amount(Money),
    /// A currency.
    Currency(Currency),
    /// Yes or no.
    Flag(bool),
}

/// The slots that are filled.
pub type IntentSlots = BTreeMap<Slot, SlotValue>;

const MAX_QUANTITY: u32 = 1_000_000;
const MAX_ITEMS: usize = 100;

/// What amounts in slots may be in.
#[derive(Clone, Copy)]
pub(crate) struct Currencies<'a> {
    /// The currency of the payment, for slots that name none.
    pub(crate) payment: &'a Currency,
    /// The assets that the policy names.
    pub(crate) assets: &'a [Arc<Asset>],
}

/// Reads an object of slots.
pub(super) fn read_slots(field: &Field<'_>, currencies: Currencies<'_>) -> Result<IntentSlots, Fault> {
    let names: Vec<_> = Slot::ALL.iter().map(|slot| slot.as_str()).collect();
    let members = field.members(&names)?;
    let currency = members.read(Slot::Currency.as_str(), |field| field.currency(currencies.assets))?;
    let currencies = Currencies { payment: currency.as_ref().unwrap_or(currencies.payment), ..currencies };
    Slot::ALL
        .iter()
        .filter_map(|slot| Some((*slot, members.optional(slot.as_str())?)))
        .map(|(slot, field)| Ok((slot, read_slot(slot, &field, currencies)?)))
        .collect()
}

/// Reads the value of one slot.
pub(super) fn read_slot(slot: Slot, field: &Field<'_>, currencies: Currencies<'_>) -> Result<SlotValue, Fault> {
    let text = |max| field.text(max).map(str::to_owned).map(SlotValue::Text);
    match slot {
        Slot::Category | Slot::Payee | Slot::Recurrence => text(200),
        Slot::Notes => text(2000),
        Slot::DeliverBy => field
            .formed(|text| is_date(text).then(|| SlotValue::Text(text.to_owned())), "Give a date such as \"2026-12-24\", or an RFC 3339 date-time."),
        Slot::Items => field.list(MAX_ITEMS, |item| IntentItem::read(item, currencies.payment)).map(SlotValue::Items),
        Slot::Quantity => field.integer(1..=MAX_QUANTITY).map(SlotValue::Quantity),
        Slot::MaxTotal => field.money(currencies.payment).map(SlotValue::Amount),
        Slot::Currency => field.currency(currencies.assets).map(SlotValue::Currency),
        Slot::SubstitutionsAllowed => field.boolean().map(SlotValue::Flag),
    }
}

/// Reads a person's answer into a slot: the same values, as words. `None` if the answer is of another form.
pub(super) fn read_answer(slot: Slot, answer: &str, currencies: Currencies<'_>) -> Option<SlotValue> {
    let answer = answer.trim();
    let value: Value = match slot {
        Slot::Quantity => answer.parse::<u32>().ok().filter(|_| answer.bytes().all(|byte| byte.is_ascii_digit()))?.into(),
        Slot::SubstitutionsAllowed => match answer.to_ascii_lowercase().as_str() {
            "yes" | "true" => true.into(),
            "no" | "false" => false.into(),
            _ => return None,
        },
        Slot::Items => Value::from([Object::new().with("description", answer).into()]),
        // An amount may carry the code of the currency that it is in anyway.
        Slot::MaxTotal => answer.strip_suffix(currencies.payment.code()).unwrap_or(answer).trim_end().into(),
        Slot::Currency => answer.to_ascii_uppercase().into(),
        Slot::Category | Slot::Payee | Slot::DeliverBy | Slot::Recurrence | Slot::Notes => answer.into(),
    };
    read_slot(slot, &Field::root(&value), currencies).ok()
}

impl SlotValue {
    /// The currencies of its amounts, or the one that it is.
    pub(super) fn currencies(&self) -> Vec<&Currency> {
        match self {
            Self::Amount(money) => vec![money.currency()],
            Self::Currency(currency) => vec![currency],
            Self::Items(items) => items.iter().filter_map(|item| item.unit_max.as_ref().map(Money::currency)).collect(),
            Self::Text(_) | Self::Quantity(_) | Self::Flag(_) => Vec::new(),
        }
    }

    /// As the slot is written.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Items(items) => items.iter().map(|item| item.to_json().into()).collect::<Vec<Value>>().into(),
            Self::Quantity(quantity) => (*quantity).into(),
            Self::Amount(money) => money.decimal().into(),
            Self::Currency(currency) => currency.into(),
            Self::Flag(flag) => (*flag).into(),
        }
    }
}

impl IntentItem {
    fn read(field: &Field<'_>, currency: &Currency) -> Result<Self, Fault> {
        let members: Members<'_> = field.members(&["description", "quantity", "unit_max"])?;
        Ok(Self {
            description: members.read("description", |field| field.text(500).map(str::to_owned))?,
            quantity: members.read("quantity", |field| field.integer(1..=MAX_QUANTITY))?,
            unit_max: members.read("unit_max", |field| field.money(currency))?,
        })
    }

    fn to_json(&self) -> Object {
        Object::new()
            .with_some("description", self.description.as_deref())
            .with_some("quantity", self.quantity)
            .with_some("unit_max", self.unit_max.as_ref().map(Money::decimal))
    }

    /// The most that it may cost, if that is said.
    pub fn most(&self) -> Option<Money> {
        self.unit_max.as_ref()?.checked_mul(self.quantity.unwrap_or(1))
    }
}

/// A calendar date, or an instant.
fn is_date(text: &str) -> bool {
    Instant::parse(text).is_some() || (has_shape(text, "0000-00-00") && text.parse::<jiff::civil::Date>().is_ok())
}
