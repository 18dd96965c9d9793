//! Permit2 transfers through x402's own proxies: H is the permit's nonce.

use super::{
    Enveloped, Order, Scheme,
    document::{OPTION_MALFORMED, PAYLOAD_MALFORMED, Payment},
    eip155::{Payer, Places, Signed, signature},
    option::{amount, short},
};
use crate::{
    Hash, Object, Refusal, Value,
    pairing::{Choice, Unsigned},
    wire::evm::{Type, U256, permit2},
};

const SPENDER_NOT_PROXY: Refusal = Refusal::new("x402/spender-not-proxy");
const NONCE_MALFORMED: Refusal = Refusal::new("x402/nonce-malformed");

/// How a payload writes the nonce.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NonceForm {
    Decimal,
    Hex,
}

/// A proxy, which moves the money where its witness says.
pub(crate) struct Proxy {
    pub(crate) address: &'static str,
    pub(crate) witness: Type<'static>,
    pub(crate) nonce: NonceForm,
}

impl Proxy {
    /// The unsigned payment; `witness` gives the witness's members for the option.
    pub(crate) fn build(
        &self,
        scheme: &dyn Scheme,
        chosen: &Choice<'_>,
        witness: impl FnOnce(&Object) -> Result<Object, Refusal>,
    ) -> Result<Box<dyn Unsigned>, Refusal> {
        let payer = Payer::of(chosen.choice)?;
        let order = Order::of(scheme, chosen.choice)?;
        let option = order.option()?;
        let places = Places::served(option)?;
        let witness = witness(option)?;
        let permit = permit2::Permit {
            token: places.asset,
            amount: amount(option).ok_or(OPTION_MALFORMED)?.to_owned(),
            spender: self.address,
            nonce: U256::from(*chosen.h.bytes()),
            deadline: payer.deadline(option)?,
        };
        let nonce = match self.nonce {
            NonceForm::Decimal => permit.nonce.to_string(),
            NonceForm::Hex => chosen.h.to_string(),
        };
        let authorization = authorization(&permit, payer.from, &nonce).with("witness", witness.clone());
        let request = permit.request(places.chain_id, Some((self.witness, witness)));
        let members = Object::new().with("permit2Authorization", authorization);
        Ok(Box::new(Enveloped::new(&order, chosen.reference, Signed { request, members })))
    }

    /// H, read from the nonce of a payment to this proxy.
    pub(crate) fn bound(&self, payment: &Payment<'_>) -> Result<Hash, Refusal> {
        let payload = payment.payload()?;
        signature(payload.get("signature"), 1)?;
        let authorization = payload.get("permit2Authorization").and_then(Value::as_object).ok_or(PAYLOAD_MALFORMED)?;
        let inner = |name| authorization.get(name).and_then(Value::as_object).ok_or(PAYLOAD_MALFORMED);
        let (permitted, witness) = (inner("permitted")?, inner("witness")?);
        let addresses = self.witness.1.iter().filter(|(_, kind)| *kind == "address").map(|(name, _)| (witness, *name));
        let texts = ["from", "spender", "nonce", "deadline"].map(|name| (authorization, name));
        let permitted = ["token", "amount"].map(|name| (permitted, name));
        if texts.into_iter().chain(permitted).chain(addresses).any(|(object, name)| short(object, name).is_none()) {
            return Err(PAYLOAD_MALFORMED);
        }
        let text = |name| authorization.get(name).and_then(Value::as_str);
        if !text("spender").is_some_and(|spender| spender.eq_ignore_ascii_case(self.address)) {
            return Err(SPENDER_NOT_PROXY);
        }
        text("nonce").and_then(nonce).ok_or(NONCE_MALFORMED)
    }
}

/// The members a payload names a permit with, beside its witness and its signature.
pub(crate) fn authorization(permit: &permit2::Permit<'_>, from: &str, nonce: &str) -> Object {
    Object::new()
        .with("permitted", permit.permitted())
        .with("from", from)
        .with("spender", permit.spender)
        .with("nonce", nonce)
        .with("deadline", permit.deadline.to_string())
}

/// A nonce in either of its forms, decimal or `0x` and 64 hex digits, as a hash.
pub(crate) fn nonce(text: &str) -> Option<Hash> {
    Hash::parse(text).or_else(|| U256::from_decimal(text).map(|nonce| (*nonce.bytes()).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonce_in_either_form() {
        let one = Hash::from(*U256::from(1).bytes());
        assert_eq!(nonce("1"), Some(one));
        assert_eq!(nonce(&format!("{:0>78}", 1)), Some(one));
        assert_eq!(nonce(&one.to_string()), Some(one));
        for text in ["", "0x1", "-1", "1e0", &format!("{:0>79}", 1), &"9".repeat(78)] {
            assert_eq!(nonce(text), None, "{text}");
        }
    }
}
