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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mpp::sample::{challenge, h, object, parsed},
        wire::bolt11::tests::{field, hash_field, invoice},
    };

    const T: u64 = 1_790_000_000;
    const HASH: &str = "0101010101010101010101010101010101010101010101010101010101010101";

    fn p() -> Vec<u8> {
        hash_field(b'p', &[1; 32])
    }

    fn described() -> Vec<u8> {
        hash_field(b'h', h().bytes())
    }

    fn of(prefix: &str, fields: &[Vec<u8>]) -> Value {
        invoice(prefix, T, fields).into()
    }

    fn good() -> Value {
        of("lnbc1u", &[p(), described()])
    }

    /// What is read of a request whose details are given.
    fn read(request: &Object, expires: Option<i64>) -> Result<(Currency, Hash), String> {
        let whole = challenge(&h(), "charge", "lightning", Object::new()).into();
        let challenge = crate::mpp::challenge::Challenge::read(&whole).unwrap();
        let offer = Offer { challenge, h: h(), request: request.clone(), expires };
        let asked = Asked::of(&offer, offer.details(), "invoice").map_err(|refusal| refusal.code().to_owned())?;
        Ok((asked.currency, asked.description_hash))
    }

    fn request(details: &str) -> Object {
        Object::new().with("methodDetails", object(details).with("invoice", good()).with("paymentHash", HASH))
    }

    fn with_invoice(details: &str, invoice: &Value) -> Object {
        let details = request(details).get("methodDetails").unwrap().as_object().unwrap().clone();
        Object::new().with("methodDetails", details.with("invoice", invoice))
    }

    #[test]
    fn an_invoice_is_described_by_one_hash() {
        assert_eq!(read(&request("{}"), None), Ok((Currency::Bitcoin, h())));
        assert_eq!(read(&request("{'network':'mainnet'}"), None), Ok((Currency::Bitcoin, h())));
        let testnet = of("lntb", &[p(), described()]);
        assert_eq!(read(&with_invoice("{}", &testnet), None), Ok((Currency::Testnet, h())));
        let other = hash_field(b'h', &[7; 32]);
        let (d, x) = (field(b'd', &[]), field(b'x', &[0]));
        for (fields, code) in [
            (vec![p()], "mpp/carrier-not-challenge"),
            (vec![p(), described(), other.clone()], "mpp/carrier-not-challenge"),
            (vec![p(), d.clone()], "mpp/carrier-not-challenge"),
            (vec![p(), described(), d], "ln/description-inline"),
            (vec![described()], "ln/invoice-malformed"),
            (vec![hash_field(b'p', &[2; 32]), described()], "ln/payment-hash-mismatch"),
        ] {
            assert_eq!(read(&with_invoice("{}", &of("lnbc1u", &fields)), None).unwrap_err(), code);
        }
        // It must not expire before the challenge.
        let short = with_invoice("{}", &of("lnbc1u", &[p(), described(), x]));
        let at = i64::try_from(T).unwrap();
        for (request, expires, expired) in
            [(request("{}"), at + 3600, false), (request("{}"), at + 3601, true), (short.clone(), at, false), (short, at + 1, true)]
        {
            assert_eq!(read(&request, Some(expires)).err(), expired.then(|| "ln/expires-after-invoice".to_owned()), "{expires}");
        }
        assert!(read(&request("{}"), Some(-1)).is_ok());
        assert_eq!(read(&with_invoice("{}", &of("lnbc1u", &[p(), other])), None), Ok((Currency::Bitcoin, [7; 32].into())));
    }

    #[test]
    fn a_request_is_refused_for_its_first_fault() {
        let undescribed = of("lntb", &[hash_field(b'p', &[2; 32])]);
        let other_hash = of("lntb", &[hash_field(b'p', &[2; 32]), described()]);
        let testnet = of("lntb", &[p(), described()]);
        let mut details = object("{'network':'testnet','paymentHash':'x','invoice':5}");
        let code = |details: &Object, described: bool| {
            let request = Object::new().with("methodDetails", details.clone());
            read(&if described { request.with("description", Value::Null) } else { request }, Some(i64::MAX)).unwrap_err()
        };
        for (expected, name, value) in [
            ("ln/payment-hash-required", "paymentHash", Value::from(HASH)),
            ("mpp/request-malformed", "invoice", "x".into()),
            ("ln/invoice-malformed", "invoice", undescribed),
            ("mpp/carrier-not-challenge", "invoice", other_hash),
        ] {
            assert_eq!(code(&details, true), expected, "{name}");
            details.set(name, value);
        }
        assert_eq!(code(&details, true), "ln/description-present");
        for (expected, name, value) in [
            ("ln/payment-hash-mismatch", "invoice", testnet),
            ("ln/currency-network", "network", Value::from("signet")),
            ("ln/currency-network", "invoice", good()),
            ("ln/currency-network", "network", Value::Null),
            ("ln/currency-network", "network", "mainnet".into()),
        ] {
            assert_eq!(code(&details, false), expected, "{name}");
            details.set(name, value);
        }
        assert_eq!(code(&details, false), "ln/expires-after-invoice");
        assert_eq!(code(&details.without("invoice"), true), "ln/description-present");
        assert_eq!(code(&details.without("invoice").with("network", "x"), false), "ln/currency-network");
        assert_eq!(code(&details.without("invoice"), false), "ln/invoice-malformed");
        for hash in parsed(&format!("['{}','0x{HASH}','{}',null,5]", &HASH[1..], "AB".repeat(32))).as_array().unwrap() {
            assert_eq!(code(&details.clone().with("paymentHash", hash), false), "ln/payment-hash-required");
        }
    }
}
