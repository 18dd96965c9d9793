//! `x402/exact/xrpl`: the payment's `InvoiceID` is the SHA-256 of the text that names H.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding::is_decimal,
    pairing::{Buyer, Choice, Unsigned},
    wire::xrpl::{account_id, is_address_form},
    x402::{
        Enveloped, Order, Payload, Scheme, Unserved, X402,
        document::{INPUT_MISSING, NO_PAYABLE_OPTION, OPTION_MALFORMED, Payment, SIGNATURE_MALFORMED},
        judge_order,
        option::{absent_or, exact_on, extra, number, timeout},
    },
    xrpl::{self, CARRIER_MISMATCH, Number, Submission},
};

pub(crate) static PAIRING: X402<Xrpl> = X402(Xrpl);

pub(crate) struct Xrpl;

const CARRIER_NOT_LCP: Refusal = Refusal::new("xrpl/carrier-not-lcp");

/// The greatest number of drops that an option or a fee may be, and one.
const DROPS_END: u128 = 100_000_000_000_000_000;

/// Most digits of a value of an issued token.
const MAX_DIGITS: usize = 16;

/// The id of no account, and the one that stands for no account as issuer.
const ZERO: [u8; 20] = [0; 20];
const ONE: [u8; 20] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

/// What an option asks for.
struct Offer<'a> {
    option: &'a Object,
    extra: &'a Object,
    network: u32,
    amount: Value,
}

impl<'a> Offer<'a> {
    fn of(option: &'a Object) -> Result<Self, Unserved> {
        let ours = || {
            let reference = exact_on(option, "xrpl")?;
            let network: u32 = reference.parse().ok().filter(|network: &u32| network.to_string() == reference)?;
            let extra = extra(option)?;
            let served = extra.get("areFeesSponsored") == Some(&Value::Bool(false))
                && absent_or(extra, "assetTransferMethod", &["sequence", "ticketSequence"])
                && extra.get("invoiceId").is_none_or(|id| id.as_text().is_some());
            served.then_some((network, extra))
        };
        let (network, extra) = ours().ok_or(Unserved::Other)?;
        let amount = amount(option, extra).filter(|_| timeout(option).is_some()).ok_or(OPTION_MALFORMED)?;
        Ok(Self { option, extra, network, amount })
    }

    /// The text that names H.
    fn carrier(&self) -> Option<&'a str> {
        self.extra.get("invoiceId").and_then(Value::as_str)
    }

    fn takes_tickets(&self) -> bool {
        self.extra.get("assetTransferMethod").and_then(Value::as_str) == Some("ticketSequence")
    }
}

/// The amount to pay: drops, or tokens of an issuer.
fn amount(option: &Object, extra: &Object) -> Option<Value> {
    let account = |object: &Object, name| object.get(name).and_then(Value::as_str).and_then(account_id).filter(|id| *id != ZERO);
    let asset = option.get("asset")?;
    let amount = option.get("amount")?;
    let payee = account(option, "payTo")?;
    if asset.as_text()? == "XRP" {
        drops(option, "amount")?;
        return Some(amount.clone());
    }
    let issuer = account(extra, "issuer")?;
    let payable = payee != ONE && issuer != ONE && amount.as_str().is_some_and(is_issued_value);
    payable.then(|| Object::new().with("currency", asset).with_some("issuer", extra.get("issuer")).with("value", amount).into())
}

/// A member that is a positive number of drops.
fn drops<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    number(object, name).filter(|drops| (1..DROPS_END).contains(drops))?;
    object.get(name).and_then(Value::as_str)
}

/// Whether the ledger holds a value of issued tokens exactly, written without zeros to spare: 16 digits of any from the 81st
/// decimal place up to 2^63.
fn is_issued_value(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let plain = is_decimal(whole, 19) && (whole == "0" || !whole.starts_with('0')) && whole.parse::<i64>().is_ok();
    let plain_fraction = fraction.is_none_or(|fraction| is_decimal(fraction, 80 + MAX_DIGITS) && !fraction.ends_with('0'));
    let digits = [whole, fraction.unwrap_or_default()].concat();
    let significant = digits.trim_start_matches('0');
    // The zeros before the first digit, the one of the whole part among them.
    let zeros = digits.len() - significant.len();
    let significant = significant.trim_end_matches('0');
    plain && plain_fraction && zeros <= 81 && (1..=MAX_DIGITS).contains(&significant.len())
}

impl Scheme for Xrpl {
    fn id(&self) -> &'static str {
        "x402/exact/xrpl"
    }

    fn serves(&self, option: &Object) -> Result<(), Unserved> {
        Offer::of(option).map(|_| ())
    }

    fn choose(&self, order: &Order<'_>, account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        if !is_address_form(&account.address) {
            return Err(NO_PAYABLE_OPTION);
        }
        let offer = Offer::of(order.option()?)?;
        let number = if offer.takes_tickets() { "ticketSequence" } else { "sequence" };
        let chosen = xrpl::submission_inputs(buyer.inputs, &[number, "lastLedgerSequence"]).ok_or(INPUT_MISSING)?;
        Ok(chosen.with("account", account.address.as_str()))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_order(choice)?;
        let account = choice.get("account").filter(|account| account.as_text().is_some()).ok_or(OPTION_MALFORMED)?;
        let fee = drops(choice, "fee").ok_or(OPTION_MALFORMED)?;
        let order = Order::of(self, choice)?;
        let offer = Offer::of(order.option()?)?;
        let carrier = chosen.h.lcp_string();
        if offer.carrier() != Some(&carrier) {
            return Err(CARRIER_MISMATCH);
        }
        let number = if offer.takes_tickets() {
            xrpl::uint32(choice, "ticketSequence").map(Number::Ticket)
        } else {
            xrpl::uint32(choice, "sequence").map(Number::Sequence)
        };
        let submission = Submission {
            fee,
            number: number.ok_or(OPTION_MALFORMED)?,
            last_ledger: xrpl::uint32(choice, "lastLedgerSequence").ok_or(OPTION_MALFORMED)?,
            network: offer.network,
        };
        let pay_to = offer.option.get("payTo").ok_or(OPTION_MALFORMED)?;
        let payment = xrpl::payment(account, pay_to, &offer.amount, Hash::of(carrier.as_bytes()).bytes())
            .with_some("DestinationTag", offer.extra.get("destinationTag"));
        let payload = Signed { request: xrpl::request(submission.write(payment)), network: offer.network };
        Ok(Box::new(Enveloped::new(&order, chosen.reference, payload)))
    }

    fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        let offer = Offer::of(payment.accepted)?;
        let h = offer.carrier().and_then(Hash::from_lcp_string).ok_or(CARRIER_NOT_LCP)?;
        let blob = xrpl::blob(payload.get("signedTxBlob"))?;
        let invoice_id = xrpl::invoice_id(&xrpl::transaction(&blob, offer.network)?)?;
        if invoice_id == *Hash::of(h.lcp_string().as_bytes()).bytes() { Ok(h) } else { Err(CARRIER_MISMATCH) }
    }
}

/// A payload that is the transaction, signed by the wallet.
struct Signed {
    request: Value,
    network: u32,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        answer.as_text().ok_or(SIGNATURE_MALFORMED)?;
        xrpl::transaction(&xrpl::blob(Some(answer))?, self.network)?;
        Ok(Object::new().with("signedTxBlob", answer))
    }
}
