//! `mpp/charge/usdc/evm`: a signed transfer (EIP-3009) whose nonce derives from the challenge; the challenge's id is H.

use crate::{
    Hash, Object, Refusal, Value,
    mpp::{
        INPUT_MISSING, Method, Mpp, NOT_THIS_PAIRING, Offer,
        credential::Credential,
        evm::{Payer, Transfer, token_domain_input, transfer_nonce},
        usdc::{self, Profile, derivation},
    },
    pairing::{Buyer, Choice, Unsigned},
    wire::evm::Word,
};

pub(crate) static PAIRING: Mpp<Usdc> = Mpp(Usdc);

pub(crate) struct Usdc;

const NONCE_NOT_USDC_DERIVATION: Refusal = Refusal::new("mpp/nonce-not-usdc-derivation");

/// What a challenge charges.
struct Charge<'a> {
    chain_id: u64,
    currency: &'a str,
    recipient: &'a str,
    amount: &'a str,
    nonce: Word,
}

impl<'a> Charge<'a> {
    fn of(offer: &'a Offer<'_>) -> Result<Self, Refusal> {
        let usdc::Charge { profile: Profile::Evm { chain_id, currency, recipient }, amount, .. } = usdc::Charge::of(offer)? else {
            return Err(NOT_THIS_PAIRING);
        };
        Ok(Self { chain_id, currency, recipient, amount, nonce: derivation(offer, Object::new())? })
    }
}

impl Method for Usdc {
    fn id(&self) -> &'static str {
        "mpp/charge/usdc/evm"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Charge::of(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Charge::of(offer).ok().map(|charge| format!("eip155:{}", charge.chain_id))
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let payer = Payer::members(buyer)?;
        Ok(payer.with("tokenDomain", token_domain_input(buyer.inputs)?.ok_or(INPUT_MISSING)?))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let (offer, payer) = Payer::chosen(self, chosen)?;
        let Charge { chain_id, currency, recipient, amount, nonce } = Charge::of(&offer)?;
        Transfer { chain_id, token: currency, to: recipient, amount, nonce }.build(&offer, payer, chosen.choice)
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        let nonce = transfer_nonce(credential.payload)?;
        if nonce == Charge::of(offer)?.nonce { Ok(offer.h) } else { Err(NONCE_NOT_USDC_DERIVATION) }
    }
}
