//! `reversal`: how reversals are decided.

use crate::{Currency, Fault, Money, fault::codes, read::Field};

codes! {
    /// A way to undo a payment.
    pub enum ReversalKind {
        /// Before it is captured.
        Void = "void",
        /// Before the order is fulfilled.
        Cancel = "cancel",
        /// After it is settled.
        Refund = "refund",
        /// Against the goods.
        Return = "return",
        /// As store credit.
        Credit = "credit",
        /// A part, without a return.
        PriceAdjustment = "price_adjustment",
        /// Forced by the issuer.
        ChargebackCredit = "chargeback_credit",
    }
}

/// The reversal block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReversalRule {
    /// Kinds that an agent may ask for without a person.
    pub allow: Vec<ReversalKind>,
    /// Above this a person is asked.
    pub threshold: Option<Money>,
    /// For how many days after the payment.
    pub within_days: Option<u32>,
}

impl ReversalRule {
    pub(super) fn read(field: &Field<'_>, currency: &Currency) -> Result<Self, Fault> {
        let members = field.members(&["allow", "threshold", "within_days"])?;
        Ok(Self {
            allow: members.set("allow", ReversalKind::ALL.len(), |item| item.known(ReversalKind::parse, "Give a kind of reversal."))?,
            threshold: members.read("threshold", |field| field.money(currency))?,
            within_days: members.read("within_days", |field| field.integer(1..=3650))?,
        })
    }
}
