//! `x402/exact/lnbtc/invoice-named`: the ATR names the invoice that the buyer pays; H is only echoed in the payment's legal
//! context, so an agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    json,
    pairing::{Buyer, Choice, Unsigned},
    x402::{
        Enveloped, Order, Scheme, Unserved, X402,
        document::{MAX_OPTIONS, Payment, echoed_hash_of_any_link},
        lnbtc::{self, Paying, invoice, serves},
    },
};

pub(crate) static PAIRING: X402<InvoiceNamed> = X402(InvoiceNamed);

pub(crate) struct InvoiceNamed;

const NOT_THIS_PAIRING: Refusal = Refusal::new("ln/not-this-pairing");
const INVOICE_NOT_NAMED: Refusal = Refusal::new("ln/invoice-not-named");
const NO_LEGAL_CONTEXT: Refusal = Refusal::new("ln/no-legal-context");

impl Scheme for InvoiceNamed {
    fn id(&self) -> &'static str {
        "x402/exact/lnbtc/invoice-named"
    }

    fn public_proof(&self) -> bool {
        false
    }

    /// An invoice with metadata is paid by `x402/exact/lnbtc`.
    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        serves(option, |invoice| if invoice.metadata.is_empty() { Ok(()) } else { Err(NOT_THIS_PAIRING) })
    }

    fn choose(&self, order: &Order<'_>, _account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        lnbtc::choose(order, buyer)
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let order = Order::of(self, chosen.choice)?;
        let option = order.option()?;
        if !invoice(option).is_some_and(|invoice| names(chosen.atr, invoice)) {
            return Err(INVOICE_NOT_NAMED);
        }
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Paying::of(option)?)))
    }

    /// Who pays an invoice has moved the money.
    fn moves(&self, _request: &Value) -> bool {
        true
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        echoed_hash_of_any_link(payment.whole).ok_or(NO_LEGAL_CONTEXT)
    }
}

/// Whether an ATR names an invoice: it is a JSON object of members that differ in name, which start with `atrVersion`, `id` and
/// `x402`, and the invoice is that of one of the options there.
fn names(atr: &[u8], invoice: &Value) -> bool {
    let Ok(members) = json::parse_members(atr, json::MAX_DEPTH) else { return false };
    let [(version, _), (id, _), (x402, slot), ..] = &members[..] else { return false };
    let mut names: Vec<_> = members.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    let ours = version == "atrVersion" && id == "id" && x402 == "x402" && names.is_sorted_by(|a, b| a < b);
    let options = slot.get("accepts").and_then(Value::as_array).unwrap_or_default().iter().take(MAX_OPTIONS);
    let mut invoices = options.filter_map(|option| option.get("extra")?.get("invoice"));
    ours && invoices.any(|named| named == invoice)
}
