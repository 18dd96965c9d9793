//! What the x402 pairings on EVM networks share.

use super::{
    Payload, Unserved,
    document::{NO_PAYABLE_OPTION, OPTION_MALFORMED, SIGNATURE_MALFORMED},
    option::{absent_or, amount, extra, filled, names, timeout},
};
use crate::{Object, Refusal, Value, account::Account, encoding, pairing::Buyer, wire::evm};

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

    /// The last second in which the option may be paid: `maxTimeoutSeconds` from now.
    pub(crate) fn deadline(&self, option: &Object) -> Result<u64, Refusal> {
        // Both are below 2^53.
        Ok(self.now + timeout(option).ok_or(OPTION_MALFORMED)?)
    }
}

/// Where an option's money moves.
pub(crate) struct Places<'a> {
    pub(crate) chain_id: u64,
    /// The token.
    pub(crate) asset: &'a str,
    pub(crate) pay_to: &'a str,
}

impl<'a> Places<'a> {
    pub(crate) fn of(option: &'a Object) -> Option<Self> {
        Some(Self { chain_id: chain_id(option)?, asset: evm::address(option, "asset")?, pay_to: evm::address(option, "payTo")? })
    }

    /// The places of an option that was served.
    pub(crate) fn served(option: &'a Object) -> Result<Self, Refusal> {
        Self::of(option).ok_or(OPTION_MALFORMED)
    }
}

/// The chain of the option's network.
pub(crate) fn chain_id(option: &Object) -> Option<u64> {
    option.get("network").and_then(Value::as_str).and_then(evm::chain_id)
}

/// Whether an option names a positive amount below 2^256, and a timeout.
pub(crate) fn is_payable(option: &Object) -> bool {
    amount(option).is_some_and(|amount| evm::is_amount(amount) && evm::U256::from_decimal(amount).is_some()) && timeout(option).is_some()
}

/// Serves the options of scheme `exact` whose asset moves by a named method.
pub(crate) fn serves_exact(method: &str, option: &Object) -> Result<(), Unserved> {
    let ours = names(option, "scheme", "exact")
        && Places::of(option).is_some()
        && extra(option)
            .is_some_and(|extra| names(extra, "assetTransferMethod", method) && absent_or(extra, "paymentFlow", &["authorization", "upfront"]));
    match (ours, is_payable(option)) {
        (false, _) => Err(Unserved::Other),
        (true, false) => Err(Unserved::Refused(OPTION_MALFORMED)),
        (true, true) => Ok(()),
    }
}

/// The token's EIP-712 domain, as a request holds it: the option's `extra` names it and its version.
pub(crate) fn token_domain(option: &Object) -> Result<Object, Refusal> {
    let places = Places::served(option)?;
    let text = |name| extra(option).and_then(|extra| filled(extra, name)).cloned().ok_or(OPTION_MALFORMED);
    Ok(Object::new()
        .with("name", text("name")?)
        .with("version", text("version")?)
        .with("chainId", places.chain_id)
        .with("verifyingContract", places.asset))
}

/// A payload whose one signature is over typed data.
pub(crate) struct Signed {
    pub(crate) request: Value,
    /// The payload's members beside `signature`.
    pub(crate) members: Object,
}

impl Payload for Signed {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Object, Refusal> {
        let payload = Object::new().with("signature", signature(Some(answer), 65)?);
        Ok(self.members.iter().fold(payload, |payload, (name, value)| payload.with(name.clone(), value)))
    }
}

/// A signature of `at_least` to 8,192 bytes in `0x` hex.
pub(crate) fn signature(value: Option<&Value>, at_least: usize) -> Result<&str, Refusal> {
    let text = value.and_then(Value::as_str).ok_or(SIGNATURE_MALFORMED)?;
    encoding::hex_len(text).filter(|len| (at_least..=8192).contains(len)).map(|_| text).ok_or(SIGNATURE_MALFORMED)
}
