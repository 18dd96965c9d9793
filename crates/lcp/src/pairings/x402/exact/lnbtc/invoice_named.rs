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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing,
        wire::bolt11::tests::{hash_field, invoice as written},
        x402::{
            lnbtc::sample::{ACCOUNT, PREIMAGE, inputs, option, request_hash},
            sample::{self, document, paid, parsed, with_option},
        },
    };

    fn named() -> String {
        written("lnbc1u", 1_790_000_000, &[hash_field(b'p', &[1; 32]), hash_field(b'h', &request_hash())])
    }

    /// An ATR whose third member is given.
    fn atr(slot: &str) -> String {
        format!("{{\"atrVersion\":\"1\",\"id\":\"i\",\"x402\":{slot}}}")
    }

    fn entry() -> String {
        format!("{{\"extra\":{{\"invoice\":\"{}\"}}}}", named())
    }

    fn naming() -> String {
        atr(&format!("{{\"accepts\":[{}]}}", entry()))
    }

    fn choice(atr: &str) -> Object {
        let document = document(atr.as_bytes(), &[option(&named())]).with("resource", parsed("{'url':'https://a.example/'}"));
        sample::choose(&PAIRING, ACCOUNT, &document.into(), &inputs()).unwrap()
    }

    fn built(atr: &str) -> bool {
        match sample::build(&PAIRING, atr.as_bytes(), &choice(atr)) {
            Ok(_) => true,
            Err(refusal) => {
                assert_eq!(refusal.code(), "ln/invoice-not-named");
                false
            }
        }
    }

    #[test]
    fn the_invoice_that_the_atr_names_is_paid() {
        let unsigned = sample::build(&PAIRING, naming().as_bytes(), &choice(&naming())).unwrap();
        assert!(PAIRING.moves(&sample::request(&*unsigned)));
        let payment = paid(&*unsigned, &PREIMAGE.into()).unwrap();
        assert_eq!(PAIRING.bound(&payment, None), Ok(Hash::of(naming().as_bytes())));
        assert_eq!(PAIRING.bound(&payment.as_object().unwrap().without("extensions").into(), None), Err(NO_LEGAL_CONTEXT));
        let metadata = written("lnbc1u", 1_790_000_000, &[hash_field(b'p', &[1; 32]), hash_field(b'm', &[1; 32])]);
        let of_metadata = with_option(&choice(&naming()), option(&metadata));
        assert_eq!(sample::build(&PAIRING, naming().as_bytes(), &of_metadata).err(), Some(NOT_THIS_PAIRING));
    }

    #[test]
    fn an_atr_starts_with_its_version_its_id_and_its_options() {
        let accepts = |entries: &str| atr(&format!("{{\"accepts\":{entries}}}"));
        let with = |more: &str| naming().replace("}]}}", &format!("}}]}},{more}}}"));
        let fill = |count: usize| format!("[{}{}]", "1,".repeat(count), entry());
        for atr in [
            naming(),
            format!(" {} \n", naming()),
            naming().replace("\"x402\"", "\"x40\\u0032\"").replace("lnbc1u", "\\u006cnbc1u"),
            with("\"1\":1,\"0\":{\"a\":1,\"a\":1}"),
            with("\"\\ud800\":1,\"\\ud801\":1e999"),
            accepts(&fill(31)),
            accepts(&format!("[null,\"x\",{{}},{{\"extra\":5}},{}]", entry())),
        ] {
            assert!(built(&atr), "{atr}");
        }
        for atr in [
            String::new(),
            "{}".to_owned(),
            format!("[{}]", naming()),
            format!("{}x", naming()),
            format!("\u{FEFF}{}", naming()),
            naming().replace("\"atrVersion\":\"1\",\"id\":\"i\"", "\"id\":\"i\",\"atrVersion\":\"1\""),
            naming().replace("\"id\":\"i\",", ""),
            naming().replace("\"x402\"", "\"a\":1,\"x402\""),
            with("\"x402\":1"),
            with("\"a\":1,\"\\u0061\":1"),
            with("\"\\ud800\":1,\"\\ud800\":1"),
            with(&format!("\"a\":{}{}", "[".repeat(64), "]".repeat(64))),
            naming().replace("lnbc1u", "lnbc2u"),
            naming().replace(&named(), &named().to_uppercase()),
            atr("null"),
            accepts("[]"),
            accepts(&format!("{{\"0\":{}}}", entry())),
            accepts(&fill(32)),
        ] {
            assert!(!built(&atr), "{atr}");
        }
    }
}
