//! What the x402 pairings on EVM networks share.

use super::document::{NO_PAYABLE_OPTION, OPTION_MALFORMED};
use crate::{Object, Refusal, Text, Value, account::Account, pairing::Buyer, wire::evm};

/// The payer and the time of a choice: `from` and `now`.
pub(crate) struct Payer<'a> {
    pub(crate) from: &'a str,
    pub(crate) now: u64,
}

impl<'a> Payer<'a> {
    /// Reads `from` and `now` back from a choice.
    pub(crate) fn of(choice: &'a Object) -> Result<Self, Refusal> {
        let from = evm::address(choice, "from").ok_or(OPTION_MALFORMED)?;
        let now = choice.get("now").and_then(Value::as_safe_unsigned).ok_or(OPTION_MALFORMED)?;
        Ok(Self { from, now })
    }

    /// The members a choice keeps for [`Payer::of`].
    pub(crate) fn members(account: &Account, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        if !evm::is_address(&account.address) {
            return Err(NO_PAYABLE_OPTION);
        }
        Ok(Object::new().with("from", account.address.as_str()).with("now", buyer.now))
    }
}

/// The option's `maxTimeoutSeconds`: a safe integer of at least 1.
pub(crate) fn timeout(option: &Object) -> Option<u64> {
    option.get("maxTimeoutSeconds").and_then(Value::as_safe_unsigned).filter(|&seconds| seconds >= 1)
}

/// A string member that is not empty.
pub(crate) fn filled<'a>(object: &'a Object, name: &str) -> Option<&'a Text> {
    object.get(name).and_then(Value::as_text).filter(|text| text.utf16_len() > 0)
}
