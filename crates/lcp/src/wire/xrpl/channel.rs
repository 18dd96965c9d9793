//! Payment channels, and the claims by which they pay.

use super::{AccountId, sha512_half};

/// The id of the channel that an account opens to a payee by the transaction of that sequence number, or by that ticket.
pub fn id(account: &AccountId, payee: &AccountId, number: u32) -> [u8; 32] {
    sha512_half(&[b"\0x", account, payee, &number.to_be_bytes()])
}

/// What the channel's key signs to let the payee have so many drops in all.
pub fn claim(channel: &[u8; 32], drops: u64) -> Vec<u8> {
    [b"CLM\0", &channel[..], &drops.to_be_bytes()].concat()
}
