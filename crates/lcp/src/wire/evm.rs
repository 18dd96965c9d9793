//! Ethereum's texts, words and hashes.

mod abi;
pub mod delegation;
pub mod eip3009;
pub mod payment_channel;
pub mod permit2;
pub mod transaction;
mod typed_data;
mod uint;

use sha3::{Digest, Keccak256};

use crate::{Object, Value};
pub use abi::{AbiReader, Word, address_word, call_data, uint_word};
pub use typed_data::{DOMAIN, Domain, Type, UNVERSIONED_DOMAIN, struct_hash, type_hash, typed_data, typed_data_digest, typed_data_request};
pub use uint::U256;

/// The address of twenty zero bytes.
pub const ZERO_ADDRESS: &str = "0x0000000000000000000000000000000000000000";

/// `eip155:` and a chain id of at most 16 digits without a leading zero, a safe integer.
pub fn chain_id(network: &str) -> Option<u64> {
    let digits = network.strip_prefix("eip155:")?;
    if digits.len() > 16 || digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&id| id <= 9_007_199_254_740_991)
}

/// Whether the text is `0x` and 40 hex digits of any case; no checksum is asked for.
pub fn is_address(text: &str) -> bool {
    text.len() == 42 && crate::encoding::hex_len(text).is_some()
}

/// The address in an object's member, as written.
pub fn address<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str).filter(|text| is_address(text))
}

/// Whether the text is a positive decimal without a leading zero, of any length.
pub fn is_amount(text: &str) -> bool {
    text.starts_with(|c: char| ('1'..='9').contains(&c)) && text.bytes().all(|b| b.is_ascii_digit())
}

/// Keccak-256.
pub fn keccak(bytes: &[u8]) -> Word {
    Keccak256::digest(bytes).into()
}
