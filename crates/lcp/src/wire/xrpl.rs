//! The XRP Ledger's addresses, transactions, and payment channels.
//!
//! The decoder stands here, not the published crate: that one brings a client of the ledger along, and gives JSON, without
//! the bytes of what it read.

mod address;
mod binary;
pub mod channel;
mod fields;
mod transaction;

use base64::HEXUPPER;
use sha2::{Digest, Sha512};

pub use address::{AccountId, account_id, is_address_form};
pub use binary::{Code, Content, Object};
pub use transaction::{MAX_BLOB, Transaction, hash};

/// Upper-case hex without a prefix, as the ledger's JSON writes bytes.
pub fn hex(bytes: &[u8]) -> String {
    HEXUPPER.encode(bytes)
}

/// The first half of the SHA-512 of a prefix and what follows it: the ledger's hash.
fn sha512_half(parts: &[&[u8]]) -> [u8; 32] {
    let digest = parts.iter().fold(Sha512::new(), Sha512::chain_update).finalize();
    let mut half = [0; 32];
    half.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    half
}
