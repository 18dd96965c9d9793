//! Methods by which the buyer pays with something that was tokenized elsewhere: nothing the buyer signs has a place for H,
//! and the agreement is paid first.

use super::{Method, NO_SIGNED_PLACE, Offer, credential::Credential, judge_choice};
use crate::{
    Hash, Object, Refusal, Value,
    pairing::{Buyer, Choice, Unsigned},
};

/// A method in which the buyer signs nothing. The account is not looked at.
pub(crate) struct SignsNothing {
    pub(crate) id: &'static str,
    /// Whether the method pays an offer.
    pub(crate) pays: fn(&Offer<'_>) -> Result<(), Refusal>,
}

impl Method for SignsNothing {
    fn id(&self) -> &'static str {
        self.id
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        (self.pays)(offer)
    }

    fn serves_account(&self, _offer: &Offer<'_>, _account: &str) -> bool {
        true
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        Ok(Object::new().with("now", buyer.now))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        judge_choice(chosen.choice)?;
        Err(NO_SIGNED_PLACE)
    }

    fn bound(&self, _offer: &Offer<'_>, _credential: &Credential<'_>, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        Err(NO_SIGNED_PLACE)
    }
}
