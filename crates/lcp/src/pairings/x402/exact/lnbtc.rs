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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Pairing,
        wire::bolt11::tests::{field, hash_field, invoice},
        x402::{
            lnbtc::sample::{ACCOUNT, PREIMAGE, inputs, option, request_hash},
            sample::{self, ATR, document, h, paid, parsed, request, with_option},
        },
    };

    fn p() -> Vec<u8> {
        hash_field(b'p', &[1; 32])
    }

    fn described() -> Vec<u8> {
        hash_field(b'h', &request_hash())
    }

    fn with_metadata() -> Vec<u8> {
        hash_field(b'm', h().bytes())
    }

    fn of(prefix: &str, fields: &[Vec<u8>]) -> Object {
        option(&invoice(prefix, 1_790_000_000, fields))
    }

    fn good() -> Object {
        of("lnbc1u", &[p(), described(), with_metadata()])
    }

    fn choice() -> Object {
        sample::choose(&PAIRING, ACCOUNT, &document(ATR, &[good()]).with("resource", parsed("{'url':'https://a.example/'}")).into(), &inputs())
            .unwrap()
    }

    fn refused(option: Object) -> String {
        let choice = with_option(&choice(), option);
        sample::build(&PAIRING, ATR, &choice).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
    }

    #[test]
    fn the_invoice_is_paid() {
        assert_eq!(choice().without("required").without("accepted"), Object::new());
        let unsigned = sample::build(&PAIRING, ATR, &choice()).unwrap();
        let asked = Object::new().with("kind", "bolt11-pay").with("invoice", good().get("extra").unwrap().get("invoice").unwrap());
        assert_eq!(request(&*unsigned), asked.into());
        assert!(PAIRING.moves(&request(&*unsigned)));
        let payment = paid(&*unsigned, &PREIMAGE.into()).unwrap();
        assert_eq!(payment.get("payload"), Some(&parsed(&format!("{{'preimage':'{PREIMAGE}'}}"))));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        assert_eq!(paid(&*unsigned, &PREIMAGE.to_uppercase().into()).unwrap_err().code(), "ln/preimage-malformed");
        // The payload says nothing of H.
        assert_eq!(PAIRING.bound(&payment.as_object().unwrap().without("payload").into(), None), Ok(h()));
    }

    #[test]
    fn an_invoice_is_refused_for_its_first_fault() {
        let (other_m, other_h) = (hash_field(b'm', &[7; 32]), hash_field(b'h', &[7; 32]));
        for (fields, code) in [
            (vec![p()], "ln/no-metadata"),
            (vec![p(), field(b'm', &[0; 51])], "ln/field-length"),
            (vec![p(), field(b'm', &[]), with_metadata()], "ln/field-repeated"),
            (vec![p(), other_m.clone()], "ln/no-metadata"),
            (vec![p(), other_m, described()], "ln/no-metadata"),
            (vec![p(), with_metadata()], "ln/no-description-hash"),
            (vec![p(), with_metadata(), described(), described()], "ln/field-repeated"),
            (vec![p(), with_metadata(), other_h], "ln/request-hash-mismatch"),
            (vec![p(), with_metadata(), described()], ""),
            (vec![with_metadata(), described()], "ln/invoice-malformed"),
        ] {
            assert_eq!(refused(of("lnbc1u", &fields)), code, "{fields:?}");
        }
        assert_eq!(refused(of("lntb1u", &[p(), with_metadata(), described()]).with("amount", "0")), "ln/currency-network");
    }

    #[test]
    fn options_are_payable() {
        for (name, value, code) in [
            ("scheme", "'upto'", "x402/option-not-this-pairing"),
            ("network", "'lnbtc:00000008819873e925422c1ff0f99f7c'", "x402/option-not-this-pairing"),
            ("network", "'lnbtc:000000000933ea01ad0ee984209779ba'", "ln/currency-network"),
            ("extra", "{}", "x402/option-not-this-pairing"),
            ("extra", "{'invoice':5}", "x402/option-not-this-pairing"),
            ("extra", "{'invoice':''}", "ln/invoice-malformed"),
            ("asset", "'sat'", "x402/option-malformed"),
            ("payTo", "'02ab'", "x402/option-malformed"),
            ("amount", "'0'", "x402/option-malformed"),
            ("maxTimeoutSeconds", "0", "x402/option-malformed"),
        ] {
            assert_eq!(refused(good().with(name, parsed(value))), code, "{name}: {value}");
        }
        let amount = |digits: usize| refused(good().with("amount", "9".repeat(digits)));
        assert_eq!((amount(78), amount(79)), (String::new(), "x402/option-malformed".to_owned()));
        let flow = good().get("extra").unwrap().as_object().unwrap().clone().with("paymentFlow", "authorization");
        assert_eq!(refused(good().with("extra", flow)), "x402/option-malformed");
    }

    #[test]
    fn the_request_is_the_one_that_is_paid_for() {
        let choose = |resource: &str, inputs: &Object| {
            let document = document(ATR, &[good()]).with("resource", parsed(resource)).into();
            sample::choose(&PAIRING, ACCOUNT, &document, inputs).err().map_or_else(String::new, |refusal| refusal.code().to_owned())
        };
        let url = "{'url':'https://a.example/'}";
        let request = inputs().get("request").unwrap().as_object().unwrap().clone();
        assert_eq!(choose(url, &inputs()), "");
        assert_eq!(choose(url, &Object::new()), "x402/input-missing");
        assert_eq!(choose(url, &Object::new().with("request", Value::Null)), "ln/request-binding-malformed");
        assert_eq!(choose("{}", &inputs()), "ln/request-resource-mismatch");
        assert_eq!(choose(url, &Object::new().with("request", request.with("method", "POST"))), "ln/request-hash-mismatch");
    }
}
