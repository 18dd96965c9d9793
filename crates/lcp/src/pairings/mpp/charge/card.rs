//! `mpp/charge/card`: a card network's token, in which nothing the buyer signs has a place for H; the agreement is paid
//! first.

use crate::{
    Hash, Object, Refusal, Value,
    mpp::{CHOICE_MALFORMED, Method, Mpp, NO_SIGNED_PLACE, Offer, REQUEST_MALFORMED},
    pairing::{Buyer, Choice, Unsigned},
};

pub(crate) static PAIRING: Mpp<Card> = Mpp(Card);

pub(crate) struct Card;

impl Method for Card {
    fn id(&self) -> &'static str {
        "mpp/charge/card"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        let external_id_is_text = offer.request.get("externalId").is_none_or(|id| id.as_text().is_some());
        if external_id_is_text { Ok(()) } else { Err(REQUEST_MALFORMED) }
    }

    /// The card pays; the account is not looked at.
    fn serves_account(&self, _offer: &Offer<'_>, _account: &str) -> bool {
        true
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Ok(Object::new().with("now", buyer.now))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let challenge = chosen.choice.get("challenge").and_then(Value::as_object);
        Err(if challenge.is_some() { NO_SIGNED_PLACE } else { CHOICE_MALFORMED })
    }

    fn bound(&self, _offer: &Offer<'_>, _payload: &Object, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        Err(NO_SIGNED_PLACE)
    }
}
