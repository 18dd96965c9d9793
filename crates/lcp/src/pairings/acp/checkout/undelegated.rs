//! `acp/checkout/undelegated`: a checkout session in which the buyer signs nothing; the agreement is paid first.

use crate::{
    Hash, Object, Refusal, Value, acp,
    pairing::{Advertised, Buyer, Choice, Pairing, Unsigned},
};

const NOTHING_TO_SIGN: Refusal = Refusal::new("acp/nothing-to-sign");
const NOT_BUYER_SIGNED: Refusal = Refusal::new("acp/not-buyer-signed");

pub(crate) static PAIRING: Undelegated = Undelegated;

pub(crate) struct Undelegated;

impl Pairing for Undelegated {
    fn id(&self) -> &'static str {
        "acp/checkout/undelegated"
    }

    fn public_proof(&self) -> bool {
        false
    }

    fn read(&self, document: &Value) -> Result<Advertised, Refusal> {
        acp::advertised(document)
    }

    fn choose(&self, advertised: &Advertised, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        acp::choose(advertised, buyer)
    }

    fn build(&self, _chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        Err(NOTHING_TO_SIGN)
    }

    fn bound(&self, _payment: &Value, _landed: Option<&Value>) -> Result<Hash, Refusal> {
        Err(NOT_BUYER_SIGNED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConfirmedHash;

    #[test]
    fn the_buyer_signs_nothing() {
        let choice = Object::new();
        let chosen = Choice { choice: &choice, reference: &Value::Null, h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" };
        assert_eq!(PAIRING.build(&chosen).err(), Some(NOTHING_TO_SIGN));
        assert!(NOTHING_TO_SIGN.leaves_nothing_to_sign());
        assert_eq!(PAIRING.bound(&Value::Null, None), Err(NOT_BUYER_SIGNED));
    }
}
