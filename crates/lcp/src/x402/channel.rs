//! Batch channels on any rail: the next payment inside a held one.

use super::{
    Enveloped, Order, Payload,
    document::{NO_PAYABLE_OPTION, OPTION_MALFORMED},
};
use crate::{
    DeclineCode, Declined, Object, Refusal, Value,
    encoding::{self, uint128},
    inputs::MAX_DECIMAL,
    pairing::{Channel, ChannelAct, ChannelRef, Pairing, WithinAsk, WithinBuild},
};

pub(crate) const NOT_AN_OPENING: Refusal = Refusal::new("x402/not-an-opening");
pub(crate) const CHANNEL_KIND_UNKNOWN: Refusal = Refusal::new("x402/channel-kind-unknown");
pub(crate) const CHANNEL_ID_MISMATCH: Refusal = Refusal::new("x402/channel-id-mismatch");

/// What is paid next inside a held channel.
pub(crate) struct Next<'a> {
    ask: &'a WithinAsk<'a>,
    accepted: Value,
    /// The whole amount that the seller may claim from now on; `None` from 2^128.
    pub(crate) max_claimable: Option<u128>,
}

impl<'a> Next<'a> {
    /// Reads the seller's new document: it must offer the held H, on the channel's network.
    pub(crate) fn of(pairing: &dyn Pairing, ask: &'a WithinAsk<'a>) -> Result<Self, Declined> {
        let advertised = pairing.read(ask.document).map_err(|refusal| unreadable(&refusal))?;
        if advertised.h != **ask.h {
            return Err(Declined::because(DeclineCode::HashMismatch, "The document names another ATR hash than the held channel."));
        }
        let on_network = |option: &Value| option.get("network").and_then(Value::as_str) == Some(&ask.held.network);
        let accepted =
            advertised.options.into_iter().find(on_network).ok_or_else(|| Declined::refused(DeclineCode::NoPayableOption, &NO_PAYABLE_OPTION))?;
        let price = accepted.get("amount").and_then(Value::as_str).filter(|amount| encoding::is_decimal(amount, MAX_DECIMAL));
        let price = price.ok_or_else(|| unreadable(&OPTION_MALFORMED))?;
        let charged = uint128(ask.charged);
        let max_claimable = match ask.refund {
            Some(_) => charged,
            None => charged.zip(uint128(price)).and_then(|(charged, price)| charged.checked_add(price)),
        };
        Ok(Self { ask, accepted, max_claimable })
    }

    /// The option that is paid.
    pub(crate) fn order(&self) -> Order<'_> {
        Order { required: self.ask.document, accepted: &self.accepted }
    }

    /// The `channelConfig` of the opening.
    pub(crate) fn config(&self) -> Option<&Object> {
        self.ask.opening.get("payload")?.get("channelConfig")?.as_object()
    }

    /// The buyer's own values.
    pub(crate) fn inputs(&self) -> &Object {
        self.ask.inputs
    }

    /// The refund that is asked for instead of a payment.
    pub(crate) fn refund(&self) -> Option<&Object> {
        self.ask.refund
    }

    /// The payment. It is completed with signatures of zeros first, to see before anything is signed that it pays into
    /// the held channel.
    pub(crate) fn payment(&self, channel: &dyn Channel, payload: impl Payload + 'static) -> Result<WithinBuild, Declined> {
        if self.reference(channel, &payload).map_err(|refusal| unreadable(&refusal))? != *self.ask.held {
            return Err(Declined::because(
                DeclineCode::NoPayableOption,
                "The payment the document asks for names another channel than the held one.",
            ));
        }
        let signed_for = self.max_claimable.ok_or_else(|| unreadable(&OPTION_MALFORMED))?.to_string();
        let act = if self.refund().is_some_and(|refund| !refund.has("amount")) { ChannelAct::Close } else { ChannelAct::Within };
        Ok(WithinBuild { unsigned: Box::new(Enveloped::new(&self.order(), self.ask.reference, payload)), signed_for, act })
    }

    fn reference(&self, channel: &dyn Channel, payload: &impl Payload) -> Result<ChannelRef, Refusal> {
        let request = payload.request()?;
        let requests = request.get("requests").and_then(Value::as_array).unwrap_or_default();
        let payload = payload.complete(&requests.iter().map(zero_signature).collect::<Vec<_>>().into())?;
        let payment = Object::new().with("x402Version", 2u32).with("accepted", &self.accepted).with("payload", payload);
        channel.reference(&payment.into(), None)
    }
}

/// A signature of zeros in the form that a request's kind asks for.
fn zero_signature(request: &Value) -> Value {
    match request.get("kind").and_then(Value::as_str) {
        Some("eip712") => encoding::hex(&[0; 65]).into(),
        // 64 zero bytes in base58.
        _ => "1".repeat(64).into(),
    }
}

/// Declines a document, or what is built from it.
pub(crate) fn unreadable(refusal: &Refusal) -> Declined {
    Declined::refused(DeclineCode::OfferUnreadable, refusal)
}
