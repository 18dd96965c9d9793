//! `card/mastercard-vi/immediate`: the buyer signs the checkout mandate itself, in the second layer of a Verifiable Intent; H
//! is in the checkout JWT it commits to.

use crate::{
    Hash, Refusal, Value,
    card::verifiable_intent::{Layer, VerifiableIntent, member},
};

pub(crate) static PAIRING: VerifiableIntent = VerifiableIntent { id: "card/mastercard-vi/immediate", layers: &["l2"], bound };

fn bound(payment: &Value) -> Result<Hash, Refusal> {
    Layer::read(member(payment, "l2")?, "kb-sd-jwt", false)?.hash()
}
