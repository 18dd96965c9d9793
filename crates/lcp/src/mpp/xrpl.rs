//! What the MPP methods on the XRP Ledger share.

use crate::{Object, Refusal, Value, encoding::is_decimal, mpp::details};

const NETWORK_MISSING: Refusal = Refusal::new("xrpl/network-missing");
const NETWORK_MALFORMED: Refusal = Refusal::new("xrpl/network-malformed");

/// The id of the network that a request's details name.
pub(crate) fn network(request: &Object) -> Result<u32, Refusal> {
    match details(request).get("network").ok_or(NETWORK_MISSING)?.as_str() {
        Some("mainnet") => Ok(0),
        Some("testnet") => Ok(1),
        Some("devnet") => Ok(2),
        _ => Err(NETWORK_MALFORMED),
    }
}

/// The CAIP-2 name of a network.
pub(crate) fn network_name(id: u32) -> String {
    format!("xrpl:{id}")
}

/// The fee, in drops.
pub(crate) fn fee(object: &Object) -> Option<&str> {
    object.get("fee").and_then(Value::as_str).filter(|fee| is_plain(fee, 19))
}

/// Whether the text is a decimal of at most so many digits, without leading zeros.
pub(crate) fn is_plain(text: &str, max_digits: usize) -> bool {
    is_decimal(text, max_digits) && (text == "0" || !text.starts_with('0'))
}
