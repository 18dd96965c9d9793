//! Addresses, and their texts: strkeys (SEP-23).

use std::fmt;

use base64::BASE32_NOPAD;

use super::{types::ADDRESS, xdr};
use crate::wire::bytes::Reader;

/// Who holds tokens in a contract's books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// An account, by its Ed25519 key: `G...`.
    Account([u8; 32]),
    /// A subaccount that the account tells apart by an id: `M...`.
    Muxed {
        /// The account's Ed25519 key.
        key: [u8; 32],
        /// The subaccount's id.
        id: u64,
    },
    /// A contract: `C...`.
    Contract([u8; 32]),
}

const ACCOUNT: u8 = 6 << 3;
const MUXED: u8 = 12 << 3;
const CONTRACT: u8 = 2 << 3;

/// Longest strkey of these kinds.
const MAX_TEXT: usize = 69;

impl Address {
    /// Reads a strkey: a version, the key or contract, and a checksum, in canonical base32.
    ///
    /// ```
    /// use lcp::wire::stellar::Address;
    /// let zero = Address::parse("GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF");
    /// assert_eq!(zero, Some(Address::Account([0; 32])));
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let bytes = BASE32_NOPAD.decode(text.as_bytes()).ok()?;
        let (versioned, checksum) = bytes.split_last_chunk()?;
        if crc16(versioned) != u16::from_le_bytes(*checksum) {
            return None;
        }
        match versioned.split_first()? {
            (&ACCOUNT, key) => Some(Self::Account(key.try_into().ok()?)),
            (&CONTRACT, contract) => Some(Self::Contract(contract.try_into().ok()?)),
            (&MUXED, muxed) => {
                let (key, id) = muxed.split_first_chunk()?;
                Some(Self::Muxed { key: *key, id: u64::from_be_bytes(id.try_into().ok()?) })
            }
            _ => None,
        }
    }

    /// Takes an address of one of these kinds.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Self::of(xdr::read(reader, &ADDRESS)?.bytes)
    }

    /// The address in XDR, if it is of one of these kinds.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        match xdr::uint32(&mut reader)? {
            0 => {
                xdr::uint32(&mut reader)?;
                reader.array().map(Self::Account)
            }
            1 => reader.array().map(Self::Contract),
            2 => {
                let id = reader.array().map(u64::from_be_bytes)?;
                Some(Self::Muxed { key: reader.array()?, id })
            }
            _ => None,
        }
    }
}

/// The strkey.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = match self {
            Self::Account(key) => [&[ACCOUNT], &key[..]].concat(),
            Self::Muxed { key, id } => [&[MUXED], &key[..], &id.to_be_bytes()].concat(),
            Self::Contract(contract) => [&[CONTRACT], &contract[..]].concat(),
        };
        bytes.extend(crc16(&bytes).to_le_bytes());
        f.write_str(&BASE32_NOPAD.encode(&bytes))
    }
}

/// CRC-16/XMODEM: polynomial 0x1021, from zero, most significant bit first.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 { shifted } else { shifted ^ 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn checksums_are_xmodem() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(crc16(b""), 0);
    }

    #[test]
    fn strkeys_are_canonical() {
        // The examples of SEP-23.
        let account = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ";
        let muxed = "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK";
        let Some(Address::Account(key)) = Address::parse(account) else { panic!("{account}") };
        let expected = Address::Muxed { key, id: 1 << 63 };
        assert_eq!(Address::parse(muxed), Some(expected));
        assert_eq!(expected.to_string(), muxed);
        for refused in [
            // A letter more or less, another letter, other letters, unused bits set, padding.
            "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSG",
            "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZA",
            "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGA",
            &account.to_lowercase(),
            "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLL",
            "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK===",
            "",
        ] {
            assert_eq!(Address::parse(refused), None, "{refused}");
        }
        // A key to sign transactions by, a secret, an account with the length of a subaccount, and the other way round.
        let strkey = |version: u8, payload: &[u8]| {
            let mut bytes = [&[version], payload].concat();
            bytes.extend(crc16(&bytes).to_le_bytes());
            BASE32_NOPAD.encode(&bytes)
        };
        for refused in [strkey(19 << 3, &key), strkey(18 << 3, &key), strkey(ACCOUNT, &[7; 40]), strkey(MUXED, &key)] {
            assert_eq!(Address::parse(&refused), None, "{refused}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(key: [u8; 32], id: u64) {
            for address in [Address::Account(key), Address::Contract(key), Address::Muxed { key, id }] {
                prop_assert_eq!(Address::parse(&address.to_string()), Some(address));
            }
        }

        /// A text that is read is the one text of its address.
        #[test]
        fn any_text(text in "[GMC][A-Z2-7]{54,70}|\\PC{0,80}") {
            prop_assert!(Address::parse(&text).is_none_or(|address| address.to_string() == text));
        }
    }
}
