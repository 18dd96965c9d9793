//! `card/seller-reference`: an ordinary card payment, in which nothing the buyer signs has a place for H; the agreement is
//! paid first.

use crate::{
    Hash, Object, Refusal, Value, card,
    pairing::{Advertised, Buyer, Choice, Pairing, Unsigned},
};

pub(crate) static PAIRING: SellerReference = SellerReference;

pub(crate) struct SellerReference;

impl Pairing for SellerReference {
    fn id(&self) -> &'static str {
        "card/seller-reference"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        card::advertised(document, document)
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        card::choose(advertised, buyer)
    }

    fn build(&self, _chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        Err(card::NO_SIGNED_PLACE)
    }

    fn bound(&self, _payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        Err(card::NO_SIGNED_PLACE)
    }
}
