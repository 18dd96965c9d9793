//! `mpp/charge/xrpl`: H is the payment's `InvoiceID`.

use crate::{
    Hash, Object, Refusal, Value,
    account::Account,
    encoding::{is_decimal, uint64},
    mpp::{
        CARRIER_NOT_CHALLENGE, INPUT_MALFORMED, INPUT_MISSING, Method, Mpp, NO_PAYABLE_OPTION, Offer, REQUEST_MALFORMED,
        challenge::EXPIRES_REQUIRED,
        credential::{CREDENTIAL_MALFORMED, CREDENTIAL_TYPE, Credential, OneStep, Waiting},
        judge_choice,
        xrpl::{fee, is_plain, network, network_name},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::xrpl::is_address_form,
    xrpl::{self, CARRIER_MISMATCH, Number, Submission},
};

pub(crate) static PAIRING: Mpp<Xrpl> = Mpp(Xrpl);

pub(crate) struct Xrpl;

const MEMOS_NOT_CARRIED: Refusal = Refusal::new("xrpl/memos-not-carried");
const READ_FIRST: Refusal = Refusal::new("xrpl/read-first");

/// Most digits on either side of the point of a value.
const MAX_DIGITS: usize = 40;

/// What a challenge asks for.
struct Terms<'a> {
    network: u32,
    recipient: &'a Value,
    amount: Value,
    invoice_id: Option<[u8; 32]>,
    destination_tag: Option<u32>,
    source_tag: Option<u32>,
}

impl<'a> Terms<'a> {
    fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        let network = network(&offer.request)?;
        let details = offer.details();
        let tag = |name| if details.has(name) { xrpl::uint32(details, name).map(Some) } else { Some(None) };
        let read = || {
            Some(Self {
                network,
                recipient: offer.request.get("recipient").filter(|recipient| recipient.as_str().is_some_and(is_address_form))?,
                amount: amount(&offer.request)?,
                invoice_id: match details.get("invoiceId") {
                    None => None,
                    Some(id) => Some(xrpl::bare_hex(id.as_str()?)?.try_into().ok()?),
                },
                destination_tag: tag("destinationTag")?,
                source_tag: tag("sourceTag")?,
            })
        };
        let terms = read().ok_or(REQUEST_MALFORMED)?;
        if details.has("memos") {
            return Err(MEMOS_NOT_CARRIED);
        }
        offer.expires.map(|_| terms).ok_or(EXPIRES_REQUIRED)
    }
}

/// The amount to pay: drops, tokens of an issuer, or of an issuance.
fn amount(request: &Object) -> Option<Value> {
    let amount = request.get("amount")?;
    let value = amount.as_str()?;
    match request.get("currency")? {
        Value::String(currency) if currency == "XRP" => {
            let drops = uint64(value).filter(|_| is_plain(value, 20)).filter(|&drops| drops > 0);
            drops.map(|_| amount.clone())
        }
        Value::Object(token) => {
            let text = |name| token.get(name).and_then(Value::as_str);
            let named = match token.len() {
                1 => text("mpt_issuance_id").is_some_and(|id| is_bytes(id, 24)),
                2 => text("currency").is_some_and(is_currency) && text("issuer").is_some_and(is_address_form),
                _ => false,
            };
            (named && is_value(value)).then(|| (**token).clone().with("value", amount).into())
        }
        _ => None,
    }
}

/// Whether the text is a positive decimal.
fn is_value(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    is_plain(whole, MAX_DIGITS)
        && fraction.is_none_or(|fraction| is_decimal(fraction, MAX_DIGITS))
        && text.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// Whether the text is a currency's code: three letters, digits or signs, or 20 bytes in hex.
fn is_currency(text: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"?!@#$%^&*<>(){}[]|".contains(&letter);
    match text.len() {
        3 => text != "XRP" && text.bytes().all(is_letter),
        40 => is_bytes(text, 20),
        _ => false,
    }
}

/// Whether the text is so many bytes in hex.
fn is_bytes(text: &str, count: usize) -> bool {
    xrpl::bare_hex(text).is_some_and(|bytes| bytes.len() == count)
}

impl Method for Xrpl {
    fn id(&self) -> &'static str {
        "mpp/charge/xrpl"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Terms::of(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        network(&offer.request).ok().map(network_name)
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let account = Account::parse(buyer.account).filter(|account| is_address_form(&account.address)).ok_or(NO_PAYABLE_OPTION)?;
        let chosen = xrpl::submission_inputs(buyer.inputs, &["sequence", "lastLedgerSequence"]).ok_or(INPUT_MISSING)?;
        Ok(chosen.with("account", account.address))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        judge_choice(choice)?;
        let offer = Offer::chosen(self, chosen)?;
        let terms = Terms::of(&offer)?;
        if terms.invoice_id != Some(*offer.h.bytes()) {
            return Err(CARRIER_MISMATCH);
        }
        let network = terms.network;
        let account = choice.get("account").filter(|account| account.as_text().is_some()).ok_or(INPUT_MALFORMED)?;
        let submission = Submission {
            fee: fee(choice).ok_or(INPUT_MALFORMED)?,
            number: xrpl::uint32(choice, "sequence").map(Number::Sequence).ok_or(INPUT_MALFORMED)?,
            last_ledger: xrpl::uint32(choice, "lastLedgerSequence").ok_or(INPUT_MALFORMED)?,
            network,
        };
        let payment = xrpl::payment(account, terms.recipient, &terms.amount, offer.h.bytes())
            .with_some("DestinationTag", terms.destination_tag)
            .with_some("SourceTag", terms.source_tag);
        let request = xrpl::request(submission.write(payment));
        let payload = move |answer: &Value| {
            answer.as_text().ok_or(CREDENTIAL_MALFORMED)?;
            xrpl::transaction(&xrpl::blob(Some(answer))?, network)?;
            Ok(Object::new().with("type", "transaction").with("blob", answer))
        };
        Ok(Box::new(Waiting::new(&offer.challenge, None, OneStep { request, payload })))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal> {
        let terms = Terms::of(offer)?;
        let payload = credential.payload;
        let blob = match payload.get("type").and_then(Value::as_str) {
            Some("transaction") => xrpl::blob(payload.get("blob"))?,
            Some("hash") => {
                let landed = landed.and_then(|landed| landed.get("blob")).filter(|blob| blob.as_text().is_some());
                xrpl::blob(Some(landed.ok_or(READ_FIRST)?))?
            }
            _ => return Err(CREDENTIAL_TYPE),
        };
        let invoice_id = xrpl::invoice_id(&xrpl::transaction(&blob, terms.network)?)?;
        if terms.invoice_id != Some(invoice_id) {
            return Err(CARRIER_MISMATCH);
        }
        if invoice_id == *offer.h.bytes() { Ok(offer.h) } else { Err(CARRIER_NOT_CHALLENGE) }
    }
}
