//! What the pairings on Hedera share, whichever protocol they speak.

use crate::{
    Object, Refusal, Text, Value,
    encoding::{self, is_decimal, uint64},
    inputs::{self, MAX_DECIMAL, Malformed},
    wire::hedera::{self, EntityId, Signature, TX_MALFORMED, TransactionId},
};

/// An option, a challenge or a choice has another form than it needs.
pub(crate) const OPTION_MALFORMED: Refusal = Refusal::new("hedera/option-malformed");

const NODE: &str = "node";
const VALID_START: &str = "validStart";
const SECONDS: &str = "seconds";
const NANOS: &str = "nanos";
const MAX_FEE: &str = "maxFee";

/// Whether the text is a network's CAIP-2 name.
pub(crate) fn is_network(text: &str) -> bool {
    matches!(text, "hedera:mainnet" | "hedera:testnet" | "hedera:previewnet" | "hedera:devnet")
}

/// A decimal below 2^63, without leading zeros.
pub(crate) fn amount(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|amount| amount.to_string() == text && *amount >= 0)
}

/// The buyer's own values for a transaction, as a choice keeps them.
pub(crate) struct Inputs<'a> {
    node: &'a Text,
    valid_start: &'a Object,
    max_fee: &'a str,
}

impl<'a> Inputs<'a> {
    /// Finds them; what `validStart` holds is not looked at.
    pub(crate) fn of(inputs: &'a Object) -> Result<Self, Malformed> {
        Ok(Self {
            node: filled(inputs, NODE)?.ok_or(Malformed)?,
            valid_start: inputs::member(inputs, VALID_START, Value::as_object)?.ok_or(Malformed)?,
            max_fee: inputs::decimal(inputs, MAX_FEE)?.ok_or(Malformed)?,
        })
    }

    /// The members of the choice.
    pub(crate) fn members(&self) -> Result<Object, Malformed> {
        let seconds = inputs::decimal(self.valid_start, SECONDS)?.ok_or(Malformed)?;
        let nanos = inputs::member(self.valid_start, NANOS, Value::as_safe_unsigned)?.ok_or(Malformed)?;
        let start = Object::new().with(SECONDS, seconds).with(NANOS, nanos);
        Ok(Object::new().with(NODE, self.node.clone()).with(VALID_START, start).with(MAX_FEE, self.max_fee))
    }
}

/// The member as a string that is not empty.
pub(crate) fn filled<'a>(object: &'a Object, name: &str) -> Result<Option<&'a Text>, Malformed> {
    inputs::member(object, name, |value| value.as_text().filter(|text| text.utf16_len() > 0))
}

/// Whether a choice's decimals have the form that [`Inputs::members`] keeps, which is judged before the rest of the choice.
pub(crate) fn judge_decimals(choice: &Object) -> Result<(), Malformed> {
    let is_decimal = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| is_decimal(text, MAX_DECIMAL));
    let seconds = choice.get(VALID_START).and_then(|start| start.get(SECONDS));
    if is_decimal(seconds) && is_decimal(choice.get(MAX_FEE)) { Ok(()) } else { Err(Malformed) }
}

/// What a choice says of a transaction, whatever it moves.
pub(crate) struct Sending {
    /// The transaction, were the payer to pay its fee.
    pub(crate) id: TransactionId,
    pub(crate) node: EntityId,
    pub(crate) max_fee: u64,
}

impl Sending {
    pub(crate) fn of(choice: &Object) -> Option<Self> {
        let start = choice.get(VALID_START)?;
        let seconds = start.get(SECONDS).and_then(Value::as_str).and_then(uint64)?;
        let nanos = start.get(NANOS).and_then(Value::as_safe_unsigned)?;
        Some(Self {
            id: TransactionId::new(EntityId::of(choice, "payer")?, seconds, nanos)?,
            node: EntityId::of(choice, NODE)?,
            max_fee: choice.get(MAX_FEE).and_then(Value::as_str).and_then(uint64)?,
        })
    }
}

/// What the wallet is asked to sign.
pub(crate) fn body_request(body: &[u8]) -> Object {
    Object::new().with("kind", "hedera-body").with("bodyBytes", encoding::hex(body))
}

/// The transaction, in base64, that the wallet's answer makes of a body; `form` is what an answer of another form is
/// refused with.
pub(crate) fn signed(body: &[u8], answer: &Value, form: Refusal) -> Result<String, Refusal> {
    let bytes = |name| answer.get(name).and_then(Value::as_str).and_then(encoding::from_hex);
    let (Some(key), Some(signature)) = (bytes("publicKey"), bytes("signature")) else { return Err(form) };
    let signature = signature.try_into().map_err(|_| TX_MALFORMED);
    let signature = match answer.get("type").and_then(Value::as_str) {
        Some("ed25519") => Signature::Ed25519(key.try_into().map_err(|_| TX_MALFORMED)?, signature?),
        Some("ecdsa-secp256k1") => Signature::Secp256k1(key.try_into().map_err(|_| TX_MALFORMED)?, signature?),
        _ => return Err(form),
    };
    Ok(encoding::base64(&hedera::signed(body, &signature)))
}

/// A payload's transaction in base64, as bytes.
pub(crate) fn transaction(payload: &Object) -> Result<Vec<u8>, Refusal> {
    payload.get("transaction").and_then(Value::as_str).and_then(encoding::from_base64).ok_or(TX_MALFORMED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_stop_at_63_bits() {
        assert_eq!(amount("9223372036854775807"), Some(i64::MAX));
        assert_eq!(amount("0"), Some(0));
        for text in ["", "9223372036854775808", "01", "+1", "-1", "1.0", " 1", "\u{661}"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }
}
