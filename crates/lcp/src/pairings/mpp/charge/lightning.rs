//! `mpp/charge/lightning`: an invoice that the seller describes by H, which the buyer pays; it is no proof to the public, so
//! an agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value,
    lightning::{pay_request, preimage},
    mpp::{
        Method, Mpp, Offer,
        credential::{Credential, OneStep, Waiting},
        lightning::Asked,
    },
    pairing::{Buyer, Choice, Unsigned},
};

pub(crate) static PAIRING: Mpp<Lightning> = Mpp(Lightning);

pub(crate) struct Lightning;

fn asked<'a>(offer: &'a Offer<'_>) -> Result<Asked<'a>, Refusal> {
    Asked::of(offer, offer.details(), "invoice")
}

impl Method for Lightning {
    fn id(&self) -> &'static str {
        "mpp/charge/lightning"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        asked(offer).map(drop)
    }

    fn serves_account(&self, offer: &Offer<'_>, account: &str) -> bool {
        asked(offer).is_ok_and(|asked| asked.serves_account(account))
    }

    fn choose(&self, _offer: &Offer<'_>, _buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Ok(Object::new())
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let offer = Offer::kept(self, chosen)?;
        let asked = asked(&offer)?;
        asked.carried(&offer)?;
        offer.judge_h(chosen)?;
        let payload = |answer: &Value| Ok(Object::new().with("preimage", preimage(answer)?));
        Ok(Box::new(Waiting::new(&offer.challenge, None, OneStep { request: pay_request(asked.invoice), payload })))
    }

    /// Who pays an invoice has moved the money.
    fn moves(&self, _request: &Value) -> bool {
        true
    }

    fn bound(&self, offer: &Offer<'_>, _credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        asked(offer)?.carried(offer)
    }
}
