use std::fmt;

use crate::encoding;

/// A uint256, big-endian.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct U256([u8; 32]);

/// Most digits a decimal of a uint256 may have, leading zeros counted.
const MAX_DIGITS: usize = 78;

impl U256 {
    /// Reads 1 to 78 decimal digits that name a number below 2^256; leading zeros are allowed.
    ///
    /// ```
    /// use lcp::wire::evm::U256;
    /// assert_eq!(U256::from_decimal("0010").unwrap().to_string(), "10");
    /// assert!(U256::from_decimal("115792089237316195423570985008687907853269984665640564039457584007913129639936").is_none());
    /// ```
    pub fn from_decimal(text: &str) -> Option<Self> {
        if !encoding::is_decimal(text, MAX_DIGITS) {
            return None;
        }
        let mut bytes = [0; 32];
        for digit in text.bytes() {
            let mut carry = digit - b'0';
            for byte in bytes.iter_mut().rev() {
                [carry, *byte] = (u16::from(*byte) * 10 + u16::from(carry)).to_be_bytes();
            }
            if carry != 0 {
                return None;
            }
        }
        Some(Self(bytes))
    }

    /// The difference, unless it is below zero.
    pub fn checked_sub(mut self, other: Self) -> Option<Self> {
        let mut borrow = false;
        for (byte, taken) in self.0.iter_mut().zip(other.0).rev() {
            let (rest, below) = byte.overflowing_sub(taken);
            let (rest, again) = rest.overflowing_sub(borrow.into());
            (*byte, borrow) = (rest, below || again);
        }
        (!borrow).then_some(self)
    }

    /// The upper and the lower 128 bits.
    pub fn halves(&self) -> (u128, u128) {
        let [upper, lower] = [0, 16].map(|start| self.0[start..].iter().take(16).fold(0, |half, &byte| half << 8 | u128::from(byte)));
        (upper, lower)
    }

    /// The 32 bytes, big-endian.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for U256 {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl From<u128> for U256 {
    fn from(value: u128) -> Self {
        let mut bytes = [0; 32];
        bytes[16..].copy_from_slice(&value.to_be_bytes());
        Self(bytes)
    }
}

/// Decimal, without leading zeros.
impl fmt::Display for U256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Least digit first.
        let mut digits = vec![0];
        for byte in self.0 {
            let mut carry = u32::from(byte);
            for digit in &mut digits {
                carry += *digit * 256;
                *digit = carry % 10;
                carry /= 10;
            }
            while carry > 0 {
                digits.push(carry % 10);
                carry /= 10;
            }
        }
        let text: String = digits.iter().rev().filter_map(|&digit| char::from_digit(digit, 10)).collect();
        f.pad_integral(true, "", &text)
    }
}

impl fmt::Debug for U256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LARGEST: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

    #[test]
    fn edges() {
        assert_eq!(U256::from_decimal(LARGEST), Some(U256([0xFF; 32])));
        assert_eq!(U256([0xFF; 32]).to_string(), LARGEST);
        assert_eq!(U256([0; 32]).to_string(), "0");
        assert_eq!(U256::from_decimal(&format!("{:0>78}", 7)), Some(U256::from(7)));
        let past_78_digits = format!("{:0>79}", 7);
        for text in ["", "+1", "-1", "1e3", " 1", "\u{661}", &"9".repeat(78), &past_78_digits] {
            assert_eq!(U256::from_decimal(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn decimal_round_trip(bytes: [u8; 32], zeros in 0..32usize) {
            // Of every length, not only of full width.
            let mut bytes = bytes;
            bytes[..zeros].fill(0);
            prop_assert_eq!(U256::from_decimal(&U256(bytes).to_string()), Some(U256(bytes)));
        }

        #[test]
        fn agrees_with_u128(value: u128) {
            prop_assert_eq!(U256::from(value).to_string(), value.to_string());
            prop_assert_eq!(U256::from_decimal(&value.to_string()), Some(U256::from(value)));
        }

        #[test]
        fn halves(upper: u128, lower: u128) {
            let mut bytes = [0; 32];
            bytes[..16].copy_from_slice(&upper.to_be_bytes());
            bytes[16..].copy_from_slice(&lower.to_be_bytes());
            prop_assert_eq!(U256(bytes).halves(), (upper, lower));
        }

        #[test]
        fn subtracts_as_numbers(a: u128, b: u128) {
            prop_assert_eq!(U256::from(a).checked_sub(b.into()), a.checked_sub(b).map(U256::from));
        }

        #[test]
        fn orders_as_numbers(a: u128, b: u128) {
            prop_assert_eq!(U256::from(a).cmp(&U256::from(b)), a.cmp(&b));
        }
    }
}
