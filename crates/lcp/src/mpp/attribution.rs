//! The attribution memo: 32 bytes in a transfer that name the challenge it pays.
//!
//! A tag and a version, then fingerprints of the realm, of the client (or zeros) and of the challenge's id.

use super::challenge::Challenge;
use crate::{
    Text,
    wire::evm::{Word, keccak},
};

const VERSION: u8 = 1;

/// The memos of one challenge, which differ in the client that they name.
pub(crate) struct Attribution {
    /// Tag, version and realm.
    head: [u8; 15],
    /// The challenge's id.
    tail: [u8; 7],
}

impl Attribution {
    /// `None` if the challenge has no id, or its realm or id is no Unicode text.
    pub(crate) fn of(challenge: &Challenge<'_>) -> Option<Self> {
        let mut head = [0; 15];
        head[..4].copy_from_slice(&fingerprint::<4>("mpp"));
        head[4] = VERSION;
        head[5..].copy_from_slice(&fingerprint::<10>(challenge.realm.as_str()?));
        Some(Self { head, tail: fingerprint(challenge.id.and_then(Text::as_str)?) })
    }

    /// The memo of a client.
    pub(crate) fn memo(&self, client: Option<&str>) -> Word {
        let mut memo = [0; 32];
        memo[..15].copy_from_slice(&self.head);
        memo[15..25].copy_from_slice(&client.map(fingerprint::<10>).unwrap_or_default());
        memo[25..].copy_from_slice(&self.tail);
        memo
    }

    /// Whether a memo names the challenge, for any client.
    pub(crate) fn is_in(&self, memo: &Word) -> bool {
        memo.starts_with(&self.head) && memo.ends_with(&self.tail)
    }
}

/// The first bytes of a text's Keccak-256.
fn fingerprint<const N: usize>(text: &str) -> [u8; N] {
    let digest = keccak(text.as_bytes());
    std::array::from_fn(|index| digest[index])
}
