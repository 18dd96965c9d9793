//! Tempo: transactions of several calls, accounts of several key types, and the contracts built into the chain.
//!
//! Our own: the chain's crates are heavy, and read other forms than are asked for here.

pub mod channel;
mod key_authorization;
mod signature;
pub mod tip20;
mod transaction;

use super::evm::{Word, address_word};
pub use key_authorization::{AccessKey, KeyAuthorization};
pub use transaction::{Call, Transaction};

/// An account's or a contract's address.
pub type Address = [u8; 20];

/// The address that a text of `0x` and 40 hex digits names.
pub fn address_of(text: &str) -> Option<Address> {
    address(&address_word(text)?)
}

/// Call data, without their selector, as whole words.
fn words(data: &[u8]) -> Option<&[Word]> {
    let (words, rest) = data.as_chunks();
    rest.is_empty().then_some(words)
}

/// The address in a word that has no bits above it.
fn address(word: &Word) -> Option<Address> {
    let (padding, address) = word.split_last_chunk()?;
    padding.iter().all(|&byte| byte == 0).then_some(*address)
}

fn word(address: &Address) -> Word {
    let mut word = [0; 32];
    word[12..].copy_from_slice(address);
    word
}
