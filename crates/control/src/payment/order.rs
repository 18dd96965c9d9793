//! Orders: by the agent's word after a hand-off, and by the payee's, which uses the mandate up.

use std::sync::Arc;

use lcp::{Object, Value};

use super::{Desk, EventKind, Payment, RequestState};
use crate::{
    Asset, Fault, Instant, Money, Refusal,
    mandate::MandateState,
    payee::HttpsUrl,
    read::{Field, Members},
    request::Checkout,
    stored::{Stored, money, stored_money},
};

/// What both kinds of orders say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderReport {
    /// The payee's id of it, a line of at most 200 characters.
    pub id: String,
    /// Its status in the payee's words.
    pub status: String,
    /// Where it can be seen.
    pub permalink_url: Option<HttpsUrl>,
    /// What it cost.
    pub total: Option<Money>,
}

/// An order that the agent says a person placed: nobody else confirms it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedOrder {
    /// What it says.
    pub report: OrderReport,
}

/// An order that the payee says it took with the mandate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerOrder {
    /// What it says.
    pub report: OrderReport,
    /// The payee's id of the checkout.
    pub checkout_id: Option<String>,
    /// When it was completed; the time of the report if the payee does not say.
    pub completed_at: Option<Instant>,
}

const MEMBERS: [&str; 4] = ["id", "status", "permalink_url", "total"];

impl OrderReport {
    fn read(members: &Members<'_>, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        let total = |field: &Field<'_>| {
            let members = field.members(&["value", "currency"])?;
            let currency = members.required("currency")?.currency(assets)?;
            members.required("value")?.money(&currency)
        };
        Ok(Self {
            id: members.required("id")?.text(200)?.to_owned(),
            status: members.read("status", |field| field.text(64).map(str::to_owned))?.unwrap_or_else(|| "reported".to_owned()),
            permalink_url: members.nullable("permalink_url").map(|field| field.parsed(HttpsUrl::parse)).transpose()?,
            total: members.nullable("total").as_ref().map(total).transpose()?,
        })
    }

    pub(super) fn to_json(&self) -> Object {
        Object::new()
            .with("id", self.id.as_str())
            .with("status", self.status.as_str())
            .with_some("permalink_url", self.permalink_url.as_ref().map(HttpsUrl::as_str))
            .with_some("total", self.total.as_ref().map(Money::to_json))
    }

    pub(super) fn to_stored(&self) -> Object {
        self.to_json().with_some("total", self.total.as_ref().map(stored_money))
    }

    pub(super) fn from_stored(value: &Value, assets: &[Arc<Asset>]) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            id: stored.text("id")?.to_owned(),
            status: stored.text("status")?.to_owned(),
            permalink_url: stored.optional_text("permalink_url", |text| HttpsUrl::parse(text).ok())?,
            total: stored.optional("total", |value| money(value, assets))?,
        })
    }
}

impl ReportedOrder {
    /// Reads `{"id", "status"?, "permalink_url"?, "total"?}`. The assets are those of the request.
    pub(crate) fn read(field: &Field<'_>, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        Ok(Self { report: OrderReport::read(&field.members(&MEMBERS)?, assets)? })
    }
}

impl SellerOrder {
    /// Reads `{"id", "status"?, "checkout_id"?, "completed_at"?, "permalink_url"?, "total"?}`. The assets are those of the
    /// request ([`crate::request::PaymentRequestCreate::assets`]).
    pub fn read(value: &Value, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        Self::read_field(&Field::root(value), assets)
    }

    pub(crate) fn read_field(field: &Field<'_>, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        let members = field.members(&[&MEMBERS[..], &["checkout_id", "completed_at"]].concat())?;
        let checkout_id = members.nullable("checkout_id");
        Ok(Self {
            report: OrderReport::read(&members, assets)?,
            checkout_id: checkout_id.map(|field| field.text(2048).map(str::to_owned)).transpose()?,
            completed_at: members.nullable("completed_at").map(|field| field.formed(Instant::parse, "Give an RFC 3339 date-time.")).transpose()?,
        })
    }

    /// Whether it names another checkout. A checkout that is a URL has an id that is not known here.
    fn is_of_another(&self, checkout: &Checkout) -> bool {
        checkout.url.is_none() && self.checkout_id.as_ref().is_some_and(|id| *id != checkout.reference)
    }

    /// The order in the client's shape.
    pub(super) fn to_json(&self) -> Object {
        let report = self.report.to_json();
        let checkout_id = self.checkout_id.as_deref().map_or(Value::Null, Value::from);
        report.with("checkout_id", checkout_id).with("completed_at", self.completed_at.map_or(Value::Null, Value::from))
    }

    pub(super) fn to_stored(&self) -> Object {
        self.to_json().with_some("total", self.report.total.as_ref().map(stored_money))
    }

    pub(super) fn from_stored(value: &Value, assets: &[Arc<Asset>]) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            report: OrderReport::from_stored(value, assets)?,
            checkout_id: stored.optional_text("checkout_id", |text| Some(text.to_owned()))?,
            completed_at: stored.optional_text("completed_at", Instant::parse)?,
        })
    }
}

impl Payment {
    /// The payee took an order with the mandate: it is used up. The same order again changes nothing. That the caller
    /// speaks for the payee is the caller's to check.
    pub fn consume(&mut self, order: SellerOrder, desk: &mut Desk<'_>) -> Result<(), Refusal> {
        let Some(mandate) = &self.mandate else {
            return Err(Refusal::conflict("mandate_void", "There is no mandate for this payment."));
        };
        match mandate.state {
            MandateState::Consumed if self.order.as_ref().is_some_and(|held| held.report.id == order.report.id) => return Ok(()),
            MandateState::Consumed => {
                return Err(Refusal::conflict("mandate_consumed", "The mandate was used for another order; ask the buyer for a new one."));
            }
            MandateState::Void => return Err(Refusal::conflict("mandate_void", "The mandate was withdrawn; take no payment by it.")),
            MandateState::Expired => return Err(expired()),
            MandateState::Issued if desk.now >= mandate.expires_at => return Err(expired()),
            MandateState::Issued => {}
        }
        match order.report.total.as_ref().map(|total| total.is_within(&mandate.amount)) {
            None | Some(Some(true)) => {}
            Some(Some(false)) => return Err(Refusal::conflict("over_mandate", "The order's total is more than the mandate allows.")),
            Some(None) => return Err(Refusal::conflict("currency_mismatch", "The order's total is in another currency than the mandate.")),
        }
        if self.request.checkout.as_ref().is_some_and(|checkout| order.is_of_another(checkout)) {
            return Err(Refusal::conflict("checkout_mismatch", "The order is of another checkout than the mandate."));
        }
        self.end_mandate(MandateState::Consumed, desk.now);
        if let Some(mandate) = &mut self.mandate {
            mandate.spent = Some(order.report.total.clone().unwrap_or_else(|| mandate.amount.clone()));
        }
        self.order = Some(SellerOrder { completed_at: order.completed_at.or(Some(desk.now)), ..order });
        self.state = RequestState::Completed;
        self.note(desk.now, EventKind::MandateConsumed);
        self.end(desk.now);
        Ok(())
    }
}

fn expired() -> Refusal {
    Refusal::conflict("mandate_expired", "The mandate's time is over; ask the buyer for a new one.")
}
