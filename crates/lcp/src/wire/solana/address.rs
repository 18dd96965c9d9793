use std::fmt;

use curve25519_dalek::edwards::CompressedEdwardsY;
use sha2::{Digest, Sha256};

use super::base58;
use crate::{Object, Value};

/// A Solana address: a public key, or one that a program derived off the curve.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Address([u8; 32]);

impl Address {
    /// Reads base58 text of 32 bytes.
    ///
    /// ```
    /// use lcp::wire::solana::Address;
    /// assert!(Address::parse("11111111111111111111111111111111").is_some());
    /// assert!(Address::parse("1111111111111111111111111111111").is_none());
    /// ```
    pub const fn parse(text: &str) -> Option<Self> {
        match base58::decode(text) {
            Some(bytes) => Some(Self(bytes)),
            None => None,
        }
    }

    /// The address in an object's member.
    pub fn of(object: &Object, name: &str) -> Option<Self> {
        object.get(name).and_then(Value::as_str).and_then(Self::parse)
    }

    /// A fixed address; for constants only, where another text stops the compiler.
    pub(super) const fn constant(text: &str) -> Self {
        match Self::parse(text) {
            Some(address) => address,
            None => panic!("no address"),
        }
    }

    /// The 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether it is a point of the curve, so that a key may sign for it.
    pub fn is_on_curve(&self) -> bool {
        CompressedEdwardsY(self.0).decompress().is_some()
    }

    /// The address that a program derives from seeds: the first off the curve, counting the bump down from 255. `None` if
    /// there is none.
    pub fn derived(seeds: &[&[u8]], program: &Self) -> Option<Self> {
        let mut hasher = Sha256::new();
        for seed in seeds {
            hasher.update(seed);
        }
        (0..=u8::MAX).rev().find_map(|bump| {
            let hasher = hasher.clone().chain_update([bump]).chain_update(program.0).chain_update("ProgramDerivedAddress");
            Some(Self(hasher.finalize().into())).filter(|address| !address.is_on_curve())
        })
    }
}

impl From<[u8; 32]> for Address {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// Base58.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base58::encode(&self.0))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Address> for Value {
    fn from(address: Address) -> Self {
        address.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::solana::{payment_channels, token};

    /// A point by its y, below 2^255, and the sign of x.
    fn point(y: [u8; 2], negative: bool, prime: bool) -> Address {
        // 2^255 - 19 as little-endian bytes, or zero, plus a small y.
        let mut bytes = if prime { [0xFF; 32] } else { [0; 32] };
        if prime {
            bytes[0] = 0xED;
            bytes[31] = 0x7F;
        }
        let low = u16::from_le_bytes([bytes[0], bytes[1]]).wrapping_add(u16::from_le_bytes(y));
        bytes[..2].copy_from_slice(&low.to_le_bytes());
        bytes[31] |= u8::from(negative) << 7;
        Address(bytes)
    }

    /// The rule is the runtime's: a y past the prime, and a negative zero x, are points.
    #[test]
    fn points_of_the_curve() {
        for negative in [false, true] {
            for prime in [false, true] {
                for on in [[0, 0], [1, 0], [3, 0], [18, 0]] {
                    assert!(point(on, negative, prime).is_on_curve(), "{on:?} {negative} {prime}");
                }
                assert!(!point([2, 0], negative, prime).is_on_curve());
            }
            assert!(point([0xFF, 0xFF], negative, true).is_on_curve());
        }
    }

    /// As solders 0.29 derives them: the bumps are 249, 252 and 254.
    #[test]
    fn derived_addresses() {
        let text = |address: Option<Address>| address.unwrap().to_string();
        assert_eq!(text(Address::derived(&[b"event_authority"], &payment_channels::PROGRAM)), "75c2huVzDW1Eq4kD86by5392sjdJzuAT195XNgP2f2tX");
        let mint = Address::constant("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU");
        for (owner, account) in [
            ("H114TvVMTRoh9Aar3vdpfyxEVLdSDH4oi4xihVuWAgWN", "5KCBg64CGm9Q3n3vj9Byt7wgtVoSPDpuXXtqTs2FYraH"),
            ("54EzdPWCtV8DyB7PPnXHLdcZDoxFCkUA73XNMiYakdEE", "CAnDkpwdCQLUtoJV56Q8c7WCA6wUmBanLbhXWe6rLgHV"),
        ] {
            assert_eq!(text(token::associated_account(&Address::constant(owner), &mint, &token::PROGRAM)), account);
        }
    }
}
