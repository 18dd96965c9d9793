//! `mpp/charge/evm/authorization`: a signed transfer (EIP-3009) whose nonce is the challenge's hash; the challenge's id
//! is H.

use crate::{
    Hash, Object, Refusal, Value,
    mpp::{
        INPUT_MISSING, Method, Mpp, Offer,
        credential::Credential,
        evm::{
            Payer, Transfer, challenge_hash,
            charge::{Charge, Way},
            token_domain_input, transfer_nonce,
        },
    },
    pairing::{Buyer, Choice, Unsigned},
};

pub(crate) static PAIRING: Mpp<Authorization> = Mpp(Authorization);

pub(crate) struct Authorization;

const NONCE_NOT_CHALLENGE_HASH: Refusal = Refusal::new("mpp/nonce-not-challenge-hash");

impl Method for Authorization {
    fn id(&self) -> &'static str {
        "mpp/charge/evm/authorization"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::payable(offer, Way::Authorization).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::of(offer).ok().map(|charge| charge.network())
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let payer = Payer::members(buyer)?;
        Ok(payer.with("tokenDomain", token_domain_input(buyer.inputs)?.ok_or(INPUT_MISSING)?))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let charge = Charge::payable(&offer, Way::Authorization)?;
        let transfer = Transfer {
            chain_id: charge.chain_id,
            token: charge.currency,
            to: charge.recipient,
            amount: charge.amount,
            nonce: challenge_hash(&offer),
        };
        transfer.build(&offer, payer, chosen.choice)
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        if transfer_nonce(credential.payload)? == challenge_hash(offer) { Ok(offer.h) } else { Err(NONCE_NOT_CHALLENGE_HASH) }
    }
}
