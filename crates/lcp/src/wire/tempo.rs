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

/// Bytes that the public libraries made.
#[cfg(test)]
pub(crate) mod peers {
    use super::{Address, address_of};
    use crate::{Value, encoding, json, wire::evm::Word};

    /// The cases of a kind.
    pub(crate) fn cases(kind: &str) -> Vec<Value> {
        let cases = json::parse(include_str!("../../tests/peers/tempo/cases.json"), 8).unwrap();
        cases.get(kind).unwrap().as_array().unwrap().to_vec()
    }

    pub(crate) fn text<'a>(case: &'a Value, name: &str) -> &'a str {
        case.get(name).and_then(Value::as_str).unwrap()
    }

    pub(super) fn uint(case: &Value, name: &str) -> u64 {
        case.get(name).and_then(Value::as_safe_unsigned).unwrap()
    }

    pub(super) fn bytes(case: &Value, name: &str) -> Vec<u8> {
        encoding::from_hex(text(case, name)).unwrap()
    }

    pub(super) fn address(case: &Value, name: &str) -> Address {
        address_of(text(case, name)).unwrap()
    }

    pub(crate) fn word(case: &Value, name: &str) -> Word {
        bytes(case, name).try_into().unwrap()
    }
}

/// Transactions to test with, of the account that MPP's samples pay from.
#[cfg(test)]
pub(crate) mod sample {
    use k256::ecdsa::SigningKey;

    use super::Address;
    use crate::{
        Value, encoding,
        wire::{evm::keccak, rlp},
    };

    /// A signed transaction of some calls, in hex.
    pub(crate) fn signed(chain_id: u128, calls: &[(Address, Vec<u8>)]) -> Value {
        let uint = |value: u128| rlp::uint(value.into());
        let (bytes, list) = (rlp::string(b""), rlp::list(&[b""; 0]));
        let calls: Vec<_> = calls.iter().map(|(to, data)| rlp::list(&[rlp::string(to), uint(0), rlp::string(data)])).collect();
        let fees = [uint(chain_id), uint(1), uint(2), uint(200_000)];
        let valid = [uint(u128::MAX), uint(0), uint(1_790_000_060), uint(0)];
        let mut items = [&fees[..], &[rlp::list(&calls), list.clone()], &valid, &[bytes.clone(), bytes, list]].concat();
        let mut key = [0; 32];
        encoding::hex_into("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80", &mut key).unwrap();
        let digest = keccak(&[&[0x76], &*rlp::list(&items)].concat());
        let (signature, recovery) = SigningKey::from_slice(&key).unwrap().sign_prehash_recoverable(&digest);
        items.push(rlp::string(&[&*signature.to_bytes(), &[recovery.to_byte()]].concat()));
        encoding::hex(&[&[0x76], &*rlp::list(&items)].concat()).into()
    }
}
