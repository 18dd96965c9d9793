//! What the MPP methods on Lightning share: the invoice of a challenge, which describes itself by H.

use super::{CARRIER_NOT_CHALLENGE, Offer, REQUEST_MALFORMED};
use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding::hex_into,
    lightning::{self, CURRENCY_NETWORK},
    wire::bolt11::{Currency, Invoice},
};

const INVOICE_MALFORMED: Refusal = Refusal::new("ln/invoice-malformed");
const PAYMENT_HASH_REQUIRED: Refusal = Refusal::new("ln/payment-hash-required");
const PAYMENT_HASH_MISMATCH: Refusal = Refusal::new("ln/payment-hash-mismatch");
const DESCRIPTION_PRESENT: Refusal = Refusal::new("ln/description-present");
const DESCRIPTION_INLINE: Refusal = Refusal::new("ln/description-inline");
const EXPIRES_AFTER_INVOICE: Refusal = Refusal::new("ln/expires-after-invoice");

/// An invoice that a challenge asks to pay.
pub(crate) struct Asked<'a> {
    /// As the challenge writes it.
    pub(crate) invoice: &'a Value,
    currency: Currency,
    description_hash: Hash,
}

impl<'a> Asked<'a> {
    /// Finds the invoice in an object's member of that name, and `paymentHash` beside it.
    pub(crate) fn of(offer: &'a Offer<'_>, object: &'a Object, name: &str) -> Result<Self, Refusal> {
        let payment_hash = payment_hash(object)?;
        let written = object.get(name);
        let text = written.map(|invoice| invoice.as_text().ok_or(REQUEST_MALFORMED)).transpose()?;
        let invoice = text.map(Invoice::decode).transpose()?;
        let description_hash = invoice.as_ref().map(description_hash).transpose()?;
        if offer.request.has("description") {
            return Err(DESCRIPTION_PRESENT);
        }
        if invoice.as_ref().is_some_and(|invoice| invoice.payment_hash != payment_hash) {
            return Err(PAYMENT_HASH_MISMATCH);
        }
        if let Some(network) = offer.details().get("network") {
            let named = currency(network).ok_or(CURRENCY_NETWORK)?;
            if invoice.as_ref().is_some_and(|invoice| invoice.currency != named) {
                return Err(CURRENCY_NETWORK);
            }
        }
        let (Some(written), Some(invoice), Some(description_hash)) = (written, invoice, description_hash) else { return Err(INVOICE_MALFORMED) };
        let expires_after = |expires: i64| u64::try_from(expires).is_ok_and(|expires| expires > invoice.expires());
        if offer.expires.is_some_and(expires_after) {
            return Err(EXPIRES_AFTER_INVOICE);
        }
        Ok(Self { invoice: written, currency: invoice.currency, description_hash })
    }

    /// Whether the account's network is one of the invoice's currency.
    pub(crate) fn serves_account(&self, account: &str) -> bool {
        Account::parse(account).is_some_and(|account| lightning::currency(&account.network) == Some(self.currency))
    }

    /// H, which the invoice carries, if it is the one that the challenge carries.
    pub(crate) fn carried(&self, offer: &Offer<'_>) -> Result<Hash, Refusal> {
        if self.description_hash == offer.h { Ok(offer.h) } else { Err(CARRIER_NOT_CHALLENGE) }
    }
}

/// The bytes of `paymentHash`, which is written in small hex digits.
pub(crate) fn payment_hash(object: &Object) -> Result<[u8; 32], Refusal> {
    let text = object.get("paymentHash").and_then(Value::as_str).filter(|text| lightning::is_hex(text, 32));
    let mut bytes = [0; 32];
    text.and_then(|text| hex_into(text, &mut bytes)).ok_or(PAYMENT_HASH_REQUIRED)?;
    Ok(bytes)
}

/// The hash of the description of an invoice that is described in no other way.
fn description_hash(invoice: &Invoice) -> Result<Hash, Refusal> {
    let [hash] = invoice.description_hashes[..] else { return Err(CARRIER_NOT_CHALLENGE) };
    if invoice.has_description { Err(DESCRIPTION_INLINE) } else { Ok(hash.into()) }
}

/// The currency of a network's name in a challenge.
fn currency(network: &Value) -> Option<Currency> {
    match network.as_str()? {
        "mainnet" => Some(Currency::Bitcoin),
        "signet" => Some(Currency::Signet),
        "regtest" => Some(Currency::Regtest),
        _ => None,
    }
}
