use std::fmt;

use crate::{Object, Value, encoding};

/// A field element: a number below 2^251 + 17 * 2^192 + 1, big-endian.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Felt([u8; 32]);

/// The field's prime.
const PRIME: [u8; 32] = {
    let mut prime = [0; 32];
    prime[0] = 8;
    prime[7] = 17;
    prime[31] = 1;
    prime
};

impl Felt {
    /// Zero.
    pub const ZERO: Self = Self([0; 32]);

    /// Reads `0x` and 1 to 64 hex digits of either case.
    ///
    /// ```
    /// use lcp::wire::starknet::Felt;
    /// assert_eq!(Felt::parse("0x00Ab").unwrap().to_string(), "0xab");
    /// assert!(Felt::parse("0x800000000000011000000000000000000000000000000000000000000000001").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("0x").filter(|digits| (1..=64).contains(&digits.len()))?;
        let mut bytes = [0; 32];
        encoding::hex_into(&format!("{digits:0>64}"), &mut bytes)?;
        Self::from_bytes(bytes)
    }

    /// The element in an object's member.
    pub fn of(object: &Object, name: &str) -> Option<Self> {
        object.get(name).and_then(Value::as_str).and_then(Self::parse)
    }

    /// The element of big-endian bytes, if they are below the prime.
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        (bytes < PRIME).then_some(Self(bytes))
    }

    /// The low 250 bits of big-endian bytes, as Starknet shortens hashes.
    pub fn from_low_bits(mut bytes: [u8; 32]) -> Self {
        bytes[0] &= 3;
        Self(bytes)
    }

    /// The element of a short string: its 1 to 31 ASCII characters as bytes.
    pub fn from_short_string(text: &str) -> Option<Self> {
        if text.is_empty() || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; 32];
        bytes.get_mut(1..)?.get_mut(31usize.checked_sub(text.len())?..)?.copy_from_slice(text.as_bytes());
        Some(Self(bytes))
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<u128> for Felt {
    fn from(value: u128) -> Self {
        let mut bytes = [0; 32];
        bytes[16..].copy_from_slice(&value.to_be_bytes());
        Self(bytes)
    }
}

/// `0x` and lower-case hex without leading zeros.
impl fmt::Display for Felt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = encoding::bare_hex(&self.0);
        match digits.trim_start_matches('0') {
            "" => f.write_str("0x0"),
            digits => write!(f, "0x{digits}"),
        }
    }
}

impl fmt::Debug for Felt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Felt> for Value {
    fn from(felt: Felt) -> Self {
        felt.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_element_is_below_the_prime() {
        let largest = "0x800000000000011000000000000000000000000000000000000000000000000";
        assert_eq!(Felt::parse(largest).unwrap().to_string(), largest);
        let prime = format!("{}1", &largest[..largest.len() - 1]);
        let long = format!("0x0{}", "0".repeat(64));
        for text in [prime.as_str(), &format!("0x{}", "f".repeat(64)), &long, "0x", "0X1", "1", "0xg", "0x-1", "0x+1", " 0x1", ""] {
            assert_eq!(Felt::parse(text), None, "{text}");
        }
        assert_eq!(Felt::parse(&format!("0x{}", "0".repeat(64))), Some(Felt::ZERO));
        assert_eq!(Felt::ZERO.to_string(), "0x0");
    }

    #[test]
    fn short_strings() {
        assert_eq!(Felt::from_short_string("SN_SEPOLIA").unwrap().to_string(), "0x534e5f5345504f4c4941");
        assert!(Felt::from_short_string(&"S".repeat(31)).is_some());
        for text in ["", &"S".repeat(32), "é"] {
            assert_eq!(Felt::from_short_string(text), None);
        }
    }

    proptest! {
        #[test]
        fn round_trip(bytes: [u8; 32]) {
            let felt = Felt::from_low_bits(bytes);
            prop_assert_eq!(Felt::parse(&felt.to_string()), Some(felt));
            prop_assert_eq!(Felt::from_bytes(*felt.bytes()), Some(felt));
        }

        /// A text differs from its element's only in case and leading zeros.
        #[test]
        fn any_text(text in "(0x)?[0-9a-fA-F]{0,66}|\\PC{0,9}") {
            if let Some(felt) = Felt::parse(&text) {
                let digits = |text: &str| text[2..].trim_start_matches('0').to_lowercase();
                prop_assert_eq!(digits(&felt.to_string()), digits(&text));
            }
        }
    }
}
