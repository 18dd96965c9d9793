//! What the x402 pairings on Lightning share: an option with an invoice, which describes itself by the hash of the buyer's own
//! request.

mod request;

use super::{
    Order, Payload, Unserved,
    document::{INPUT_MISSING, OPTION_MALFORMED},
    option::{amount, extra, names, timeout},
};
use crate::{
    Object, Refusal, Value,
    encoding::bare_hex,
    inputs::MAX_DECIMAL,
    lightning::{self, CURRENCY_NETWORK, is_hex, pay_request, preimage},
    pairing::Buyer,
    wire::{
        bolt11::{Currency, Invoice},
        evm::is_amount,
    },
};

pub(crate) const FIELD_REPEATED: Refusal = Refusal::new("ln/field-repeated");
const NO_DESCRIPTION_HASH: Refusal = Refusal::new("ln/no-description-hash");
const REQUEST_HASH_MISMATCH: Refusal = Refusal::new("ln/request-hash-mismatch");

const INVOICE: &str = "invoice";
const REQUEST_HASH: &str = "requestHash";

/// Bytes of a node's key, to which an option pays.
const NODE_KEY: usize = 33;

/// Whether an option is of scheme `exact` on Lightning, and payable; `carrier` judges how its invoice carries H.
pub(crate) fn serves(option: &Object, carrier: impl FnOnce(&Invoice) -> Result<(), Refusal>) -> Result<(), Unserved> {
    let currency = option.get("network").and_then(Value::as_str).and_then(currency).ok_or(Unserved::Other)?;
    let written = names(option, "scheme", "exact").then(|| invoice(option)).flatten().and_then(Value::as_text).ok_or(Unserved::Other)?;
    let judge = || {
        let invoice = Invoice::decode(written)?;
        carrier(&invoice)?;
        judge_request_hash(option, &invoice)?;
        if invoice.currency != currency {
            return Err(CURRENCY_NETWORK);
        }
        if is_payable(option) { Ok(()) } else { Err(OPTION_MALFORMED) }
    };
    judge().map_err(Unserved::Refused)
}

/// The currency of a network that these pairings know, which are fewer than Lightning's.
fn currency(network: &str) -> Option<Currency> {
    let known = matches!(network, "lnbtc:000000000019d6689c085ae165831e93" | "lnbtc:000000000933ea01ad0ee984209779ba");
    known.then(|| lightning::currency(network))?
}

/// The option's invoice, as it is written.
pub(crate) fn invoice(option: &Object) -> Option<&Value> {
    extra(option)?.get(INVOICE)
}

/// The invoice of an option that was served.
pub(crate) fn served_invoice(option: &Object) -> Result<Invoice, Refusal> {
    invoice(option).and_then(Value::as_text).map(Invoice::decode).ok_or(OPTION_MALFORMED)?
}

fn judge_request_hash(option: &Object, invoice: &Invoice) -> Result<(), Refusal> {
    let hash = match invoice.description_hashes[..] {
        [] => return Err(NO_DESCRIPTION_HASH),
        [hash] => hash,
        _ => return Err(FIELD_REPEATED),
    };
    if extra(option).is_some_and(|extra| names(extra, REQUEST_HASH, &bare_hex(&hash))) { Ok(()) } else { Err(REQUEST_HASH_MISMATCH) }
}

fn is_payable(option: &Object) -> bool {
    extra(option).is_some_and(|extra| names(extra, "paymentFlow", "upfront"))
        && names(option, "asset", "BTC")
        && option.get("payTo").and_then(Value::as_str).is_some_and(|key| is_hex(key, NODE_KEY))
        && amount(option).is_some_and(|amount| is_amount(amount) && amount.len() <= MAX_DECIMAL)
        && timeout(option).is_some()
}

/// What a choice adds: nothing, if the option asks for the very request that the buyer is to make.
pub(crate) fn choose(order: &Order<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
    let request = buyer.inputs.get("request").ok_or(INPUT_MISSING)?;
    let extra = extra(order.option()?).ok_or(OPTION_MALFORMED)?;
    let resource = order.required.get("resource").and_then(|resource| resource.get("url"));
    let hash = request::hash(extra, request, resource)?;
    if names(extra, REQUEST_HASH, &hash) { Ok(Object::new()) } else { Err(REQUEST_HASH_MISMATCH) }
}

/// An invoice that the wallet pays.
pub(crate) struct Paying {
    request: Value,
}

impl Paying {
    /// Asks to pay the invoice of an option.
    pub(crate) fn of(option: &Object) -> Result<Self, Refusal> {
        invoice(option).map(|invoice| Self { request: pay_request(invoice) }).ok_or(OPTION_MALFORMED)
    }
}

impl Payload for Paying {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        Ok(Object::new().with("preimage", preimage(answer)?))
    }
}

/// An option to test with, and the request that it asks for.
#[cfg(test)]
pub(crate) mod sample {
    use super::*;
    use crate::x402::sample::object;

    pub(crate) const ACCOUNT: &str = "lnbtc:000000000019d6689c085ae165831e93:buyer";
    pub(crate) const PREIMAGE: &str = "abababababababababababababababababababababababababababababababab";

    const BINDING: &str = "{'paymentFlow':'upfront','requestBindingProfile':'http:1','requestBindingParams':{'headers':[]}}";

    pub(crate) fn inputs() -> Object {
        object("{'request':{'method':'GET','url':'https://a.example/'}}")
    }

    fn hash() -> String {
        request::hash(&object(BINDING), inputs().get("request").unwrap(), Some(&"https://a.example/".into())).unwrap()
    }

    /// The hash of that request.
    pub(crate) fn request_hash() -> [u8; 32] {
        let mut bytes = [0; 32];
        crate::encoding::hex_into(&hash(), &mut bytes).unwrap();
        bytes
    }

    pub(crate) fn option(invoice: &str) -> Object {
        let extra = object(BINDING).with(REQUEST_HASH, hash()).with(INVOICE, invoice);
        object("{'scheme':'exact','network':'lnbtc:000000000019d6689c085ae165831e93','amount':'5','asset':'BTC','maxTimeoutSeconds':60}")
            .with("payTo", "02".repeat(NODE_KEY))
            .with("extra", extra)
    }
}
