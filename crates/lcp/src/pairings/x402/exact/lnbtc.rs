//! `x402/exact/lnbtc`: H is the metadata of the invoice that the buyer pays. It is no proof to the public, so an agreement is
//! paid first.

pub(crate) mod invoice_named;

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    pairing::{Buyer, Choice, Unsigned},
    wire::bolt11::Invoice,
    x402::{
        Enveloped, Order, Scheme, Unserved, X402,
        document::Payment,
        lnbtc::{self, FIELD_REPEATED, Paying, served_invoice, serves},
    },
};

pub(crate) static PAIRING: X402<Lnbtc> = X402(Lnbtc);

pub(crate) struct Lnbtc;

const NO_METADATA: Refusal = Refusal::new("ln/no-metadata");
const FIELD_LENGTH: Refusal = Refusal::new("ln/field-length");

/// The hash that an invoice's metadata are.
fn metadata(invoice: &Invoice) -> Result<Hash, Refusal> {
    match invoice.metadata[..] {
        [] => Err(NO_METADATA),
        [metadata] => metadata.map(Hash::from).ok_or(FIELD_LENGTH),
        _ => Err(FIELD_REPEATED),
    }
}

impl Scheme for Lnbtc {
    fn id(&self) -> &'static str {
        "x402/exact/lnbtc"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves(option, |invoice| metadata(invoice).map(drop))
    }

    fn choose(&self, order: &Order<'_>, _account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        lnbtc::choose(order, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let order = Order::offered(chosen.choice)?;
        let option = order.option()?;
        serves(option, |invoice| if metadata(invoice)? == **chosen.h { Ok(()) } else { Err(NO_METADATA) })?;
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Paying::of(option)?)))
    }

    /// Who pays an invoice has moved the money.
    fn moves(&self, _request: &Value) -> bool {
        true
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        metadata(&served_invoice(payment.accepted)?)
    }
}
