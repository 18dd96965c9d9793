//! Hand-offs: a person pays on the merchant's page, and the agent reports the order.

use std::sync::Arc;

use lcp::{Object, Value};

use super::{Desk, EventKind, Payment, ReportedOrder, RequestState};
use crate::{
    Asset, Fault, Instant, Pointer, Refusal,
    decision::DecisionResult,
    mandate::{MandateState, Unissued, VoidReason},
    payee::HttpsUrl,
    rail::{RailError, RailReason},
    read::Field,
    stored::Stored,
};

use super::order::OrderReport;

/// A checkout in a person's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOff {
    /// When.
    pub at: Instant,
    /// The merchant's page, if it is known.
    pub continue_url: Option<HttpsUrl>,
    /// Whether the agent reported the page.
    pub is_reported: bool,
    /// The rail that issued no credential, where that is why.
    pub rail: Option<RailFailure>,
    /// The order, by the agent's word.
    pub order: Option<PlacedOrder>,
}

/// A rail that issued no credential.
pub type RailFailure = Unissued;

/// An order that the agent reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedOrder {
    /// What it says.
    pub report: OrderReport,
    /// When it was reported.
    pub reported_at: Instant,
    /// Whether it cost more than was asked for, or is in another currency.
    pub is_over_amount: bool,
    /// Whether the record was sealed before.
    pub is_late: bool,
}

/// What an agent reports of a hand-off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOffReport {
    /// The merchant's page, as it was given.
    pub continue_url: String,
    /// The order that the person placed.
    pub order: Option<ReportedOrder>,
}

/// What came of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Reported {
    /// The payment's own record tells of it, or nothing changed.
    InRecord,
    /// The payment's record was sealed before: append a record of kind `order` with these members that names it as its
    /// parent.
    Late(Object),
}

impl HandOffReport {
    /// The fields that hold amounts, for the card-number guard.
    pub const TYPED_FIELDS: &[&str] = &["/order/total/value"];

    /// Reads `{"continue_url", "order"?}`. The assets are those of the request.
    pub fn read(value: &Value, assets: &[Arc<Asset>]) -> Result<Self, Fault> {
        let members = Field::root(value).members(&["continue_url", "order"])?;
        let url = members.required("continue_url")?;
        url.parsed(HttpsUrl::parse)?;
        let order = members.nullable("order").as_ref().map(|field| ReportedOrder::read(field, assets)).transpose()?;
        Ok(Self { continue_url: url.string()?.to_owned(), order })
    }
}

impl Payment {
    /// The rail has no credential: a person may pay on the merchant's page.
    pub(super) fn hand_off_by_rail(&mut self, rail: Unissued, now: Instant) {
        let continue_url = self.request.checkout.as_ref().and_then(|checkout| checkout.url.clone());
        self.hand_off = Some(HandOff { at: now, continue_url, is_reported: false, rail: Some(rail), order: None });
        self.state = RequestState::HandedOff;
        self.note(now, EventKind::HandedOff);
    }

    /// The agent reports that it handed the checkout to a person, and later the order that the person placed. The mandate
    /// is void from the first report on. The same report again changes nothing.
    pub fn hand_off(&mut self, continue_url: &str, order: Option<ReportedOrder>, desk: &mut Desk<'_>) -> Result<Reported, Refusal> {
        let url = self.merchant_page(continue_url)?;
        let is_first = match &self.hand_off {
            Some(held) if held.is_reported && held.continue_url.as_ref() != Some(&url) => {
                return Err(Refusal::conflict("handoff_url_differs", "Report the page that was reported first; a hand-off is of one page."));
            }
            Some(held) => {
                if let (Some(held), Some(order)) = (&held.order, &order)
                    && held.report.id != order.report.id
                {
                    return Err(Refusal::conflict("handoff_order_differs", "Another order was reported for this payment; it stands."));
                }
                !held.is_reported
            }
            None => {
                self.may_be_handed_off(desk.now)?;
                self.void_mandate(VoidReason::HandedOff, desk.now);
                self.hand_off = Some(HandOff { at: desk.now, continue_url: None, is_reported: false, rail: None, order: None });
                self.state = RequestState::HandedOff;
                self.note(desk.now, EventKind::HandedOff);
                true
            }
        };
        // Once the record is sealed, only an order is news.
        let is_news = is_first && (order.is_some() || !self.has_ended());
        if let Some(held) = self.hand_off.as_mut().filter(|_| is_news) {
            held.continue_url = Some(url);
            held.is_reported = true;
        }
        let is_known = self.hand_off.as_ref().is_some_and(|held| held.order.is_some());
        match order {
            Some(order) if !is_known => Ok(self.place(order, desk.now)),
            _ => Ok(Reported::InRecord),
        }
    }

    fn place(&mut self, order: ReportedOrder, now: Instant) -> Reported {
        let is_late = self.has_ended();
        let is_over_amount = order.report.total.as_ref().is_some_and(|total| total.is_within(&self.request.amount) != Some(true));
        let placed = PlacedOrder { report: order.report, reported_at: now, is_over_amount, is_late };
        let members = Object::new()
            .with("request_id", &self.id)
            .with("agent_id", &self.agent)
            .with("continue_url", self.hand_off.as_ref().and_then(|held| held.continue_url.as_ref()).map_or(Value::Null, |url| url.as_str().into()))
            .with("order", placed.to_json());
        if let Some(held) = &mut self.hand_off {
            held.order = Some(placed);
        }
        self.state = RequestState::Completed;
        self.note(now, EventKind::OrderReported);
        if is_late {
            return Reported::Late(members);
        }
        self.end(now);
        Reported::InRecord
    }

    /// The page, on the payee's domain if the payee has one.
    fn merchant_page(&self, url: &str) -> Result<HttpsUrl, Refusal> {
        let at = Pointer::root().member("continue_url");
        let url = HttpsUrl::parse(url)
            .map_err(|code| Refusal::invalid(&at, code.as_str(), "Give the merchant's page as an absolute https URL of a domain."))?;
        match &self.request.payee.domain {
            Some(domain) if !url.host().is_on(domain) => {
                Err(Refusal::invalid(&at, "payee_mismatch", "Give a page on the payee's domain; another one may not take the payment."))
            }
            _ => Ok(url),
        }
    }

    fn may_be_handed_off(&self, now: Instant) -> Result<(), Refusal> {
        let not_payable = || Refusal::conflict("not_payable", "The payment is not allowed or is over; tell the person so, and hand nothing over.");
        match self.state {
            RequestState::AwaitingApproval | RequestState::AwaitingClarification => {
                Err(Refusal::conflict("not_allowed_yet", "Wait until the payment is allowed."))
            }
            _ if self.mandate_in(MandateState::Consumed).is_some() => {
                Err(Refusal::conflict("mandate_consumed", "The payee used the mandate already; nothing is left to pay."))
            }
            _ if self.is_usable(now) => Ok(()),
            _ => Err(not_payable()),
        }
    }

    /// Whether a rail, and not the agent, handed it off.
    pub(super) fn rail_failure(&self) -> Option<&RailFailure> {
        self.hand_off.as_ref()?.rail.as_ref()
    }

    /// Whether it was allowed by a policy that only watches.
    pub(super) fn is_observed(&self) -> bool {
        self.decision().is_some_and(|decision| decision.result == DecisionResult::Observe)
    }
}

impl HandOff {
    /// The hand-off in the client's shape.
    pub(super) fn to_json(&self) -> Object {
        let json = Object::new()
            .with("continue_url", self.continue_url.as_ref().map_or(Value::Null, |url| url.as_str().into()))
            .with("handed_off_at", self.at)
            .with("order", self.order.as_ref().map_or(Value::Null, |order| order.to_json().into()));
        match &self.rail {
            Some(Unissued { rail, error }) => json
                .with("rail", rail.as_str())
                .with("reason", error.reason.as_str())
                .with("message", error.message.as_str())
                .with("next_step", error.next_step.as_str()),
            None => json,
        }
    }

    pub(super) fn to_stored(&self) -> Object {
        let order = self.order.as_ref().map_or(Value::Null, |order| order.to_stored().into());
        self.to_json().with("order", order).with("is_reported", self.is_reported)
    }

    pub(super) fn from_stored(value: &Value, assets: &[Arc<Asset>]) -> Option<Self> {
        let stored = Stored::of(value)?;
        let failure = |rail: &Value| {
            Some(Unissued {
                rail: rail.as_str()?.to_owned(),
                error: RailError {
                    reason: stored.parsed("reason", RailReason::parse)?,
                    message: stored.text("message")?.to_owned(),
                    next_step: stored.text("next_step")?.to_owned(),
                },
            })
        };
        Some(Self {
            at: stored.instant("handed_off_at")?,
            continue_url: stored.optional_text("continue_url", |text| HttpsUrl::parse(text).ok())?,
            is_reported: stored.flag("is_reported")?,
            rail: stored.optional("rail", failure)?,
            order: stored.optional("order", |value| PlacedOrder::from_stored(value, assets))?,
        })
    }
}

impl PlacedOrder {
    /// The order in the client's shape.
    pub(super) fn to_json(&self) -> Object {
        let deviation = self.is_over_amount.then_some("over_amount");
        self.report.to_json().with("reported_at", self.reported_at).with_some("deviation", deviation)
    }

    fn to_stored(&self) -> Object {
        Object::new()
            .with("report", self.report.to_stored())
            .with("reported_at", self.reported_at)
            .with("is_over_amount", self.is_over_amount)
            .with("is_late", self.is_late)
    }

    fn from_stored(value: &Value, assets: &[Arc<Asset>]) -> Option<Self> {
        let stored = Stored::of(value)?;
        Some(Self {
            report: OrderReport::from_stored(stored.value("report")?, assets)?,
            reported_at: stored.instant("reported_at")?,
            is_over_amount: stored.flag("is_over_amount")?,
            is_late: stored.flag("is_late")?,
        })
    }
}
