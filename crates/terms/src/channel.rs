//! Held channels: one opening that carries H, then payments inside it.

use std::cmp::Ordering;

use lcp::{
    ConfirmedHash, DeclineCode, Declined, Object, Pairing, Refusal, Value,
    encoding::{self, plain_decimal},
    inputs::MAX_DECIMAL,
    json,
    pairing::{Channel, ChannelAct, Completed, WithinAsk},
    refusal::namespace,
};

use crate::{
    Decline, Env, Fetch, Gate, MAX_ATR, Signer,
    check::held_beside,
    finish::{NOT_BOUND, at_most_1_mib},
    inputs_of,
};

/// One payment inside a channel, signed, and the hold after it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelPayment {
    /// The payment to send.
    pub signed: Value,
    /// The hold, in its JSON form.
    pub hold: Object,
}

/// Keeps a channel that was opened. The hold is JSON: `{pairing, network, channel, h, atr, opening[, landed], charged,
/// signedMax}`, amounts as decimals.
pub fn open_channel(pairing: &dyn Pairing, atr: &[u8], opening: &Value, landed: Option<&Value>) -> Result<Object, Decline> {
    let channel = channel_of(pairing)?;
    let landed = held_beside(opening, landed)?;
    at_most_1_mib(atr)?;
    let h = ConfirmedHash::rehash(atr);
    if channel.kind(opening) != Ok(ChannelAct::Open) {
        return Err(not_bound("The payment does not open a channel."));
    }
    if pairing.bound(opening, landed) != Ok(*h) {
        return Err(not_bound(NOT_BOUND));
    }
    let named = channel.reference(opening, landed).map_err(|refusal| Declined::refused(DeclineCode::SignedNotBound, &refusal))?;
    if !opening.nests_within(json::MAX_DEPTH) || landed.is_some_and(|landed| !landed.nests_within(json::MAX_DEPTH)) {
        return Err(not_bound("The opening nests too deep to be held."));
    }
    let voucher = opening.get("payload").and_then(|payload| payload.get("voucher")?.get("maxClaimableAmount")?.as_str());
    Ok(Object::new()
        .with("pairing", pairing.id())
        .with("network", named.network)
        .with("channel", named.channel)
        .with("h", &*h)
        .with("atr", encoding::base64(atr))
        .with("opening", opening)
        .with_some("landed", landed)
        .with("charged", "0")
        .with("signedMax", voucher.filter(|amount| encoding::is_decimal(amount, MAX_DECIMAL)).unwrap_or("0")))
}

/// Records the seller's cumulative charge, a decimal that never falls and never passes what was signed for.
pub fn record_charge(hold: &Value, charged: &Value) -> Result<Object, Decline> {
    let held = Hold::read(hold)?;
    let refused = |sentence: &str| Decline::because(DeclineCode::OfferUnreadable, sentence);
    let charged = charged
        .as_str()
        .filter(|text| encoding::is_decimal(text, MAX_DECIMAL))
        .ok_or_else(|| refused("The charge is not a decimal of 1 to 78 digits."))?;
    if compare(charged, held.charged) == Ordering::Less {
        return Err(refused("The charge is below what was charged before."));
    }
    if compare(charged, held.signed_max) == Ordering::Greater {
        return Err(refused("The charge is above what was signed for."));
    }
    Ok(held.whole.clone().with("charged", plain_decimal(charged)))
}

impl<F: Fetch, E: Env> Gate<F, E> {
    /// Signs one later payment in a held channel, or a refund: `{}` closes it. The amount is the document's; no limit is
    /// applied to it.
    pub async fn within(
        &self,
        pairing: &dyn Pairing,
        hold: &Value,
        document: &Value,
        signer: &impl Signer,
        refund: Option<&Value>,
        inputs: Option<&Value>,
    ) -> Result<ChannelPayment, Decline> {
        let channel = channel_of(pairing)?;
        let within = channel
            .within()
            .ok_or_else(|| Declined::because(DeclineCode::PairingNotSupported, "This gate builds no payment inside this pairing's channels."))?;
        let held = Hold::read(hold)?;
        if held.pairing != pairing.id() {
            return Err(Decline::because(DeclineCode::PairingNotSupported, "The hold is of another pairing."));
        }
        let namespace = namespace(pairing.id());
        let refund = refund_of(refund, namespace)?;
        let inputs = inputs_of(inputs, namespace)?;
        let atr = encoding::from_base64(held.atr)
            .filter(|atr| atr.len() <= MAX_ATR)
            .ok_or_else(|| not_bound("The hold's ATR is not base64 of at most 1048576 bytes."))?;
        let h = lcp::Hash::parse(held.h)
            .and_then(|h| ConfirmedHash::compare(&h, &atr))
            .ok_or_else(|| Declined::because(DeclineCode::HashMismatch, "The hold's ATR does not hash to the hold's hash."))?;
        if pairing.bound(held.opening, held.landed) != Ok(*h) {
            return Err(not_bound(NOT_BOUND));
        }
        let named = channel.reference(held.opening, held.landed).ok();
        let named = named.filter(|named| named.network == held.network && named.channel == held.channel);
        let named = named.ok_or_else(|| not_bound("The hold's opening opens another channel."))?;

        let reference = self.draw_reference();
        let build = within.build(&WithinAsk {
            document,
            h: &h,
            held: &named,
            opening: held.opening,
            landed: held.landed,
            charged: held.charged,
            refund,
            inputs: &inputs,
            reference: &reference,
        })?;
        let refused = |code, refusal: &Refusal| Decline::from(Declined::refused(code, refusal));
        let request = build.unsigned.request().map_err(|refusal| refused(DeclineCode::OfferUnreadable, &refusal))?.unwrap_or(Value::Null);
        let asked = request.get("requests").and_then(Value::as_array).map_or(0, <[Value]>::len);
        let answer = signer.sign(&request).await.map_err(|_| Declined::because(DeclineCode::SignerFailed, "The signer gave no signature."))?;
        if !answer.as_array().is_some_and(|answers| answers.len() == asked && answers.iter().all(|answer| answer.as_text().is_some())) {
            return Err(not_bound("The signer's answer is not one string for each request."));
        }
        let signed = match build.unsigned.complete(&answer) {
            Ok(Completed::Payment { signed, .. }) => signed,
            Ok(Completed::Next(_)) => return Err(not_bound("A payment inside a channel is signed in one step.")),
            Err(refusal) => return Err(refused(DeclineCode::SignedNotBound, &refusal)),
        };
        if channel.kind(&signed) != Ok(build.act) {
            return Err(not_bound("The payment does something else to the channel."));
        }
        match within.bound(&signed) {
            Ok(read) if read == *h => {}
            Err(refusal) if refusal.word() == "not-bound-within" => {}
            _ => return Err(not_bound(NOT_BOUND)),
        }
        if channel.reference(&signed, None).ok() != Some(named) {
            return Err(not_bound("The payment names another channel."));
        }
        let signed_max = std::cmp::max_by(held.signed_max, build.signed_for.as_str(), |a, b| compare(a, b));
        let hold = held.whole.clone().with("signedMax", plain_decimal(signed_max));
        Ok(ChannelPayment { signed, hold })
    }
}

/// A hold of the right form.
struct Hold<'a> {
    whole: &'a Object,
    pairing: &'a str,
    network: &'a str,
    channel: &'a str,
    h: &'a str,
    atr: &'a str,
    opening: &'a Value,
    landed: Option<&'a Value>,
    charged: &'a str,
    signed_max: &'a str,
}

impl<'a> Hold<'a> {
    fn read(hold: &'a Value) -> Result<Self, Decline> {
        let read = || {
            let whole = hold.as_object()?;
            let text = |name| whole.get(name).and_then(Value::as_str);
            let decimal = |name| text(name).filter(|amount| encoding::is_decimal(amount, MAX_DECIMAL));
            let object = |value: &&Value| value.as_object().is_some();
            Some(Self {
                whole,
                pairing: text("pairing")?,
                network: text("network")?,
                channel: text("channel")?,
                h: text("h")?,
                atr: text("atr")?,
                opening: whole.get("opening").filter(object)?,
                landed: match whole.get("landed") {
                    None => None,
                    Some(landed) => Some(Some(landed).filter(object)?),
                },
                charged: decimal("charged")?,
                signed_max: decimal("signedMax")?,
            })
        };
        read().ok_or_else(|| not_bound("The channel hold is not of its form."))
    }
}

fn channel_of(pairing: &dyn Pairing) -> Result<&dyn Channel, Declined> {
    pairing.channel().ok_or_else(|| Declined::because(DeclineCode::PairingNotSupported, "This pairing has no channel."))
}

/// A refund: absent and null are none; an amount is a decimal.
fn refund_of<'a>(refund: Option<&'a Value>, namespace: &str) -> Result<Option<&'a Object>, Declined> {
    let missing = || Declined::refused(DeclineCode::NoPayableOption, &Refusal::of(namespace, "input-missing"));
    let Some(refund) = refund.filter(|refund| !refund.is_null()) else { return Ok(None) };
    let refund = refund.as_object().ok_or_else(missing)?;
    let amount_is_decimal = |amount: &Value| amount.as_str().is_some_and(|text| encoding::is_decimal(text, MAX_DECIMAL));
    if refund.get("amount").is_some_and(|amount| !amount_is_decimal(amount)) {
        return Err(missing());
    }
    Ok(Some(refund))
}

/// Compares two decimals by value.
fn compare(a: &str, b: &str) -> Ordering {
    let (a, b) = (plain_decimal(a), plain_decimal(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

fn not_bound(sentence: &str) -> Decline {
    Decline::because(DeclineCode::SignedNotBound, sentence)
}
