//! `mpp/charge/usdc/solana`: H is a memo of the transaction that moves the tokens.

use crate::{
    Hash, Object, Refusal, Value,
    mpp::{
        Method, Mpp, NOT_THIS_PAIRING, Offer,
        credential::{CREDENTIAL_TYPE, Credential},
        solana::{Charge, chosen},
        usdc::{self, Profile},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::solana::Transaction,
};

pub(crate) static PAIRING: Mpp<Usdc> = Mpp(Usdc);

pub(crate) struct Usdc;

fn charge<'a>(offer: &'a Offer<'_>) -> Result<Charge<'a>, Refusal> {
    match usdc::Charge::of(offer)?.profile {
        Profile::Solana(charge) => Ok(charge),
        _ => Err(NOT_THIS_PAIRING),
    }
}

impl Method for Usdc {
    fn id(&self) -> &'static str {
        "mpp/charge/usdc/solana"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        charge(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        charge(offer).ok()?.cluster.network().map(str::to_owned)
    }

    fn choose(&self, offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        charge(offer)?.choose(buyer, true)
    }

    fn build(&self, choice: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let offer = chosen(self, choice)?;
        charge(&offer)?.build(&offer, choice.choice)
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let payload = credential.payload;
        if payload.get("type").and_then(Value::as_str) != Some("transaction") {
            return Err(CREDENTIAL_TYPE);
        }
        charge(offer)?.carried(&Transaction::read(payload.get("transaction"))?, offer.h)
    }
}
