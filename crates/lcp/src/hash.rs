//! H, the SHA-256 of an ATR's exact bytes.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::encoding;

/// A SHA-256 digest, written `0x` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; 32]);

/// H of ATR bytes that this process hashed itself: the only thing a payment is built over, so that an advertised hash
/// can never stand in for a computed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmedHash(Hash);

const LCP_PREFIX: &str = "lcp:sha256:";

impl Hash {
    /// Reads `0x` and 64 hex digits of either case; anything else is no hash.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        encoding::hex_into(text.strip_prefix("0x")?, &mut bytes)?;
        Some(Self(bytes))
    }

    /// The hash that an LCP string names: `lcp:sha256:` and the hash.
    pub fn from_lcp_string(text: &str) -> Option<Self> {
        Self::parse(text.strip_prefix(LCP_PREFIX)?)
    }

    /// `lcp:sha256:` and the hash in lower case, 77 characters.
    pub fn lcp_string(&self) -> String {
        format!("{LCP_PREFIX}{self}")
    }

    /// The digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Hash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl ConfirmedHash {
    /// The comparison: hashes the served bytes and confirms them only if the digest is the advertised one.
    pub fn compare(advertised: &Hash, atr: &[u8]) -> Option<Self> {
        Some(Self::rehash(atr)).filter(|computed| computed.0 == *advertised)
    }

    /// Hashes bytes that were confirmed before, to rebuild a payment that is read back before it is returned.
    pub fn rehash(atr: &[u8]) -> Self {
        Self(Hash::of(atr))
    }
}

impl std::ops::Deref for ConfirmedHash {
    type Target = Hash;

    fn deref(&self) -> &Hash {
        &self.0
    }
}

/// `0x` and 64 lower-case hex digits.
impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encoding::hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<&Hash> for crate::Value {
    fn from(hash: &Hash) -> Self {
        hash.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn of_abc() {
        assert_eq!(Hash::of(b"abc").to_string(), ABC);
        assert_eq!(Hash::parse(&ABC.to_uppercase().replace("0X", "0x")), Some(Hash::of(b"abc")));
        assert_eq!(Hash::from_lcp_string(&Hash::of(b"abc").lcp_string()), Some(Hash::of(b"abc")));
    }

    #[test]
    fn refuses_other_spellings() {
        for text in [&ABC[2..], &ABC[..65], &format!("{ABC}0"), &format!(" {ABC}"), &ABC.replace("0x", "0X"), &ABC.replace('b', "g"), "0x"] {
            assert_eq!(Hash::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_a_match_is_confirmed() {
        assert!(ConfirmedHash::compare(&Hash::of(b"abc"), b"abc").is_some());
        assert!(ConfirmedHash::compare(&Hash::of(b"abc"), b"abd").is_none());
    }
}
