//! `card/mastercard-vi/autonomous`: the buyer's agent signs the checkout mandate, in the third layer of a Verifiable Intent,
//! under a key that the buyer's second layer delegates to; H is in the checkout JWT it commits to.
//!
//! The chain of keys is what the agent's authority rests on, so it is verified, from the agent up to the buyer's key in the
//! issuer's credential. Whether to trust the issuer is the network's affair.

use crate::{
    Hash, Object, Refusal, Text, Value,
    card::verifiable_intent::{Layer, VerifiableIntent, member, sd_jwt},
    jose::{P256Key, SdJwt},
};

const SD_HASH_MISMATCH: Refusal = Refusal::new("card/vi-sd-hash-mismatch");
const KEY_MALFORMED: Refusal = Refusal::new("card/vi-key-malformed");
const KID_MISMATCH: Refusal = Refusal::new("card/vi-kid-mismatch");
const SIGNATURE_INVALID: Refusal = Refusal::new("card/vi-signature-invalid");

pub(crate) static PAIRING: VerifiableIntent = VerifiableIntent { id: "card/mastercard-vi/autonomous", layers: &["l1", "l2", "l3b"], bound };

fn bound(payment: &Value) -> Result<Hash, Refusal> {
    let third = Layer::read(member(payment, "l3b")?, "kb-sd-jwt", true)?;
    let h = third.hash()?;

    let text = member(payment, "l2")?;
    judge_link(&third, text)?;
    let second = Layer::read(text, "kb-sd-jwt+kb", false)?;
    let mut open = second.mandates("mandate.checkout.open.1");
    let (Some(mandate), None) = (open.next(), open.next()) else { return Err(KEY_MALFORMED) };
    let agent = ConfirmationKey::of(mandate)?;
    let kid = agent.jwk.get("kid").filter(|kid| kid.as_text().is_some()).ok_or(KEY_MALFORMED)?;
    if third.token.header.get("kid") != Some(kid) {
        return Err(KID_MISMATCH);
    }
    agent.judge_signature(&third.token)?;

    let text = member(payment, "l1")?;
    judge_link(&second, text)?;
    ConfirmationKey::of(&sd_jwt(text)?.payload)?.judge_signature(&second.token)?;
    Ok(h)
}

fn judge_link(layer: &Layer<'_>, before: &Text) -> Result<(), Refusal> {
    if layer.follows(before) { Ok(()) } else { Err(SD_HASH_MISMATCH) }
}

/// The P-256 key in a `cnf` (RFC 7800), as a JWK.
struct ConfirmationKey<'a> {
    jwk: &'a Object,
    x: &'a str,
    y: &'a str,
}

impl<'a> ConfirmationKey<'a> {
    fn of(holder: &'a Object) -> Result<Self, Refusal> {
        let jwk = holder.get("cnf").and_then(|cnf| cnf.get("jwk")).and_then(Value::as_object).ok_or(KEY_MALFORMED)?;
        let text = |name| jwk.get(name).and_then(Value::as_str).ok_or(KEY_MALFORMED);
        if text("kty")? != "EC" || text("crv")? != "P-256" {
            return Err(KEY_MALFORMED);
        }
        Ok(Self { jwk, x: text("x")?, y: text("y")? })
    }

    fn judge_signature(&self, token: &SdJwt<'_>) -> Result<(), Refusal> {
        let key = P256Key::from_coordinates(self.x, self.y).ok_or(KEY_MALFORMED)?;
        if key.verifies(token.signing_input.as_bytes(), &token.signature) { Ok(()) } else { Err(SIGNATURE_INVALID) }
    }
}
