//! Sessions: what is shared by the channels that MPP pairings open, and by the payments inside them.

use super::{
    INPUT_MALFORMED, Method, NO_PAYABLE_OPTION, Offer, REQUEST_MALFORMED,
    challenge::{Challenge, LEGAL_CONTEXT_MALFORMED, MAX_CHALLENGES, OPAQUE_MALFORMED, decoded, intent_and_name, opaque_members},
    credential::{Answered, CREDENTIAL_MALFORMED, Credential, Payload, Waiting, least},
};
use crate::{
    DeclineCode, Declined, Hash, Object, Refusal, Value,
    encoding::{is_decimal, uint128},
    inputs::MAX_DECIMAL,
    pairing::{Channel, ChannelAct, ChannelRef, Within, WithinAsk, WithinBuild},
    wire::evm::{self, Domain, Type},
};

pub(crate) const NOT_AN_OPENING: Refusal = Refusal::new("mpp/not-an-opening");
pub(crate) const SESSION_ACTION: Refusal = Refusal::new("mpp/session-action");
pub(crate) const CHANNEL_NAMED: Refusal = Refusal::new("mpp/channel-named");
pub(crate) const CHANNEL_NOT_BOUND: Refusal = Refusal::new("mpp/channel-not-bound");
pub(crate) const NOT_BOUND_WITHIN: Refusal = Refusal::new("mpp/not-bound-within");
pub(crate) const WITHIN_ACTION_NOT_BUILT: Refusal = Refusal::new("mpp/within-action-not-built");

/// What sets one session apart inside its channels; [`Sessions`] makes a [`Channel`] of it.
pub(crate) trait Session: Method {
    /// Whether a payload opens a channel.
    fn opens(&self, payload: &Object) -> bool {
        action(payload) == Some("open")
    }

    /// The channel that a challenge's request names, if it names one. One that cannot be read is a refusal.
    fn named_channel(&self, request: &Object) -> Result<Option<ChannelRef>, Refusal>;

    /// The channel of a payment, from its challenge's request and its payload: an opening, or a payment inside.
    fn channel_of(&self, request: &Object, payload: &Object, landed: Option<&Value>) -> Result<ChannelRef, Refusal>;

    /// Judges the request of a payment inside a channel, and gives the number of bits that its whole amount may have, at
    /// most 128.
    fn amount_bits(&self, request: &Object) -> Result<u32, Refusal>;

    /// The next payment inside a channel: one request, and the payload that its answer makes.
    fn pay_inside(&self, next: &Next<'_>) -> Result<Box<dyn Payload>, Refusal>;

    /// Reads H from a payment inside a channel, from its challenge's request and its payload.
    fn bound_inside(&self, _request: &Object, _payload: &Object) -> Result<Hash, Refusal> {
        Err(NOT_BOUND_WITHIN)
    }
}

/// What is paid next inside a held channel.
pub(crate) struct Next<'a> {
    /// The new challenge's decoded request.
    pub(crate) request: &'a Object,
    pub(crate) held: &'a ChannelRef,
    pub(crate) action: &'static str,
    /// The whole amount that the seller may claim from now on.
    pub(crate) cumulative: u128,
    /// The decoded request of the opening's challenge.
    pub(crate) opening_request: &'a Object,
    /// The opening's payload.
    pub(crate) opening: &'a Object,
    /// The receipt of the opening's landing.
    pub(crate) landed: Option<&'a Value>,
}

impl Next<'_> {
    /// The members of a payload beside its signature, as most sessions name them.
    pub(crate) fn members(&self) -> Object {
        Object::new().with("action", self.action).with("channelId", self.held.channel.as_str()).with("cumulativeAmount", self.cumulative.to_string())
    }
}

/// A [`Session`] as a [`Channel`].
pub(crate) struct Sessions<S>(pub(crate) S);

impl<S: Session> Channel for Sessions<S> {
    fn kind(&self, payment: &Value) -> Result<ChannelAct, Refusal> {
        let payload = Credential::read(payment)?.payload;
        match action(payload) {
            _ if self.0.opens(payload) => Ok(ChannelAct::Open),
            Some("close") => Ok(ChannelAct::Close),
            Some(_) => Ok(ChannelAct::Within),
            None => Err(SESSION_ACTION),
        }
    }

    fn reference(&self, payment: &Value, landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        let credential = Credential::read(payment)?;
        self.0.channel_of(&credential.challenge.request()?, credential.payload, landed)
    }

    fn within(&self) -> Option<&dyn Within> {
        Some(self)
    }
}

/// What a session's payload does.
pub(crate) fn action(payload: &Object) -> Option<&str> {
    payload.get("action").and_then(Value::as_str)
}

impl<S: Session> Within for Sessions<S> {
    fn build(&self, ask: &WithinAsk<'_>) -> Result<WithinBuild, Declined> {
        if ask.refund.is_some_and(|refund| refund.has("amount")) {
            return Err(declined(&WITHIN_ACTION_NOT_BUILT));
        }
        let (challenge, request) = self.find(ask)?;
        judge_hash(challenge, ask.h)?;
        self.next(ask, challenge, &request).map_err(|refusal| declined(&refusal))
    }

    fn bound(&self, payment: &Value) -> Result<Hash, Refusal> {
        let credential = Credential::read(payment)?;
        self.0.bound_inside(&credential.challenge.request()?, credential.payload)
    }
}

impl<S: Session> Sessions<S> {
    /// The first challenge that is paid from the held channel, and its decoded request: one that names it, or one that
    /// names no channel and would open one of this pairing on its network. One that names another channel there ends the
    /// search.
    fn find<'a>(&self, ask: &WithinAsk<'a>) -> Result<(&'a Value, Object), Declined> {
        for value in ask.document.as_array().unwrap_or_default().iter().take(MAX_CHALLENGES) {
            let text = |name| value.get(name).and_then(Value::as_str);
            if ["intent", "method"].map(text) != intent_and_name(&self.0) {
                continue;
            }
            let Some(request) = value.get("request").and_then(Value::as_text).and_then(decoded) else { continue };
            match self.0.named_channel(&request) {
                Ok(None) if self.offers(value, ask) => return Ok((value, request)),
                Ok(Some(named)) if named == *ask.held => return Ok((value, request)),
                Ok(Some(named)) if named.network == ask.held.network => {
                    return Err(Declined::because(DeclineCode::NoPayableOption, "The challenge names another channel than the held one."));
                }
                _ => {}
            }
        }
        Err(Declined::refused(DeclineCode::NoPayableOption, &NO_PAYABLE_OPTION))
    }

    /// Whether a challenge would open a channel of this pairing on the held one's network.
    fn offers(&self, value: &Value, ask: &WithinAsk<'_>) -> bool {
        let offer = Challenge::read(value).and_then(|challenge| {
            challenge.judge_realm().ok()?;
            challenge.opaque().ok()?;
            Offer::over(&self.0, challenge, **ask.h).ok()
        });
        offer.is_some_and(|offer| self.0.network(&offer).as_ref() == Some(&ask.held.network))
    }

    /// The payment that a challenge asks for.
    fn next(&self, ask: &WithinAsk<'_>, challenge: &Value, request: &Object) -> Result<WithinBuild, Refusal> {
        let price = request.get("amount").and_then(Value::as_str).filter(|amount| is_decimal(amount, MAX_DECIMAL)).ok_or(REQUEST_MALFORMED)?;
        let (action, act, price) = match ask.refund {
            Some(_) => ("close", ChannelAct::Close, Some(0)),
            None => ("voucher", ChannelAct::Within, uint128(price)),
        };
        let challenge = least(Some(challenge))?;
        let bits = self.0.amount_bits(request)?;
        let cumulative = uint128(ask.charged).zip(price).and_then(|(charged, price)| charged.checked_add(price));
        let cumulative = cumulative.filter(|cumulative| cumulative.checked_shr(bits).unwrap_or(0) == 0).ok_or(INPUT_MALFORMED)?;
        let opening = Credential::read(ask.opening)?;
        let opening_request = opening.challenge.request()?;
        let next =
            Next { request, held: ask.held, action, cumulative, opening_request: &opening_request, opening: opening.payload, landed: ask.landed };
        let payload = Batch(self.0.pay_inside(&next)?);
        Ok(WithinBuild { unsigned: Box::new(Waiting::new(&challenge, None, payload)), signed_for: cumulative.to_string(), act })
    }
}

/// A challenge that names a hash must name that of the held ATR.
fn judge_hash(challenge: &Value, h: &Hash) -> Result<(), Declined> {
    let Some(opaque) = challenge.get("opaque") else { return Ok(()) };
    let opaque = opaque.as_text().ok_or(OPAQUE_MALFORMED).and_then(opaque_members).map_err(|refusal| declined(&refusal))?;
    let Some(named) = opaque.get("legalContext") else { return Ok(()) };
    let named = named.as_str().and_then(Hash::from_lcp_string).ok_or_else(|| declined(&LEGAL_CONTEXT_MALFORMED))?;
    if named == *h {
        Ok(())
    } else {
        Err(Declined::because(DeclineCode::HashMismatch, "The challenge names another ATR hash than the held channel."))
    }
}

/// A payload whose one request is asked as a batch.
struct Batch(Box<dyn Payload>);

impl Payload for Batch {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(Object::new().with("kind", "batch").with("requests", [self.0.request()?]).into())
    }

    fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
        let Some([answer]) = answer.as_array() else { return Err(CREDENTIAL_MALFORMED) };
        self.0.complete(answer)
    }
}

fn declined(refusal: &Refusal) -> Declined {
    let code = if *refusal == WITHIN_ACTION_NOT_BUILT { DeclineCode::PairingNotSupported } else { DeclineCode::OfferUnreadable };
    Declined::refused(code, refusal)
}

/// The voucher of a channel on an EVM network: typed data by which the channel's signer allows the whole amount.
pub(crate) struct Voucher<'a> {
    pub(crate) domain: Domain<'a>,
    /// The amount's type, such as `uint128`.
    pub(crate) amount: &'static str,
    pub(crate) channel: &'a str,
    pub(crate) cumulative: u128,
}

impl Voucher<'_> {
    pub(crate) fn request(&self) -> Value {
        Object::new().with("kind", "eip712").with("typedData", self.typed_data()).into()
    }

    pub(crate) fn typed_data(&self) -> Object {
        let members = [("channelId", "bytes32"), ("cumulativeAmount", self.amount)];
        let kind: Type<'_> = ("Voucher", &members);
        let message = Object::new().with("channelId", self.channel).with("cumulativeAmount", self.cumulative.to_string());
        evm::typed_data(self.domain.members(), &[kind], message)
    }
}
