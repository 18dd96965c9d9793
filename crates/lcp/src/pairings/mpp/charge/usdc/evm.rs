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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mpp::sample::{self, RECIPIENT, TOKEN, challenge, h, object, paid, with_payload},
        pairing::Pairing,
    };

    #[test]
    fn the_nonce_derives_from_the_challenge() {
        let request = object(&format!(
            "{{'amount':'5','currency':'{TOKEN}','methodDetails':{{'evm':{{'chainId':84532}},'type':'evm'}},'recipient':'{RECIPIENT}'}}"
        ));
        let asked = challenge(&h(), "charge", "usdc", request);
        let inputs = "{'tokenDomain':{'name':'USDC','version':'2'}}";
        let choice = sample::choose(&PAIRING, "eip155:84532", asked.clone(), inputs).unwrap();
        let payment = paid(&*sample::build(&PAIRING, &choice).unwrap(), &"0x11".into()).unwrap();
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let code = |name: &str, value: &str| PAIRING.bound(&with_payload(&payment, name, value), None).unwrap_err().code().to_owned();
        assert_eq!(code("type", "transfer"), "mpp/credential-type");
        assert_eq!(code("nonce", "0x"), "mpp/credential-malformed");
        assert_eq!(code("nonce", &h().to_string()), "mpp/nonce-not-usdc-derivation");

        // Each of these changes what the nonce derives from.
        let credential = payment.as_object().unwrap();
        for other in [asked.clone().with("realm", "other"), asked.clone().with("id", asked.get("id").unwrap().as_str().unwrap().replace(".0", ".1"))]
        {
            let moved = credential.clone().with("challenge", other).into();
            assert_eq!(PAIRING.bound(&moved, None).unwrap_err(), NONCE_NOT_USDC_DERIVATION);
        }
        assert_eq!(sample::build(&PAIRING, &choice.with("challenge", asked.without("expires"))).err(), Some(crate::mpp::challenge::EXPIRES_REQUIRED));
    }
}
