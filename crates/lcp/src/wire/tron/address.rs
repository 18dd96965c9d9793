use sha2::{Digest, Sha256};

use crate::{Object, Value, wire::base58};

/// A TRON address: `0x41` and 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address([u8; 21]);

impl Address {
    /// Reads base58 of the 21 bytes and their checksum, 34 letters from `T`.
    ///
    /// ```
    /// use lcp::wire::tron::Address;
    /// assert!(Address::parse("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t").is_some());
    /// assert!(Address::parse("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let decoded: [u8; 25] = base58::decode(text)?;
        let (bytes, checksum) = decoded.split_first_chunk::<21>()?;
        let valid = bytes[0] == 0x41 && Sha256::digest(Sha256::digest(bytes)).starts_with(checksum);
        valid.then_some(Self(*bytes))
    }

    /// The address in an object's member.
    pub fn of(object: &Object, name: &str) -> Option<Self> {
        object.get(name).and_then(Value::as_str).and_then(Self::parse)
    }

    /// The 21 bytes.
    pub fn bytes(&self) -> &[u8; 21] {
        &self.0
    }

    /// As a word of a contract call: the 20 bytes behind 12 zeros.
    pub(super) fn word(&self) -> [u8; 32] {
        let mut word = [0; 32];
        word[12..].copy_from_slice(&self.0[1..]);
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::base58;

    #[test]
    fn an_address_is_21_bytes_and_their_checksum() {
        let usdt = Address::parse("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t").unwrap();
        assert_eq!(crate::encoding::hex(usdt.bytes()), "0x41a614f803b6fd780986a42c78ec9c7f77e6ded13c");
        assert_eq!(crate::encoding::hex(&usdt.word()), format!("0x{:0>64}", "a614f803b6fd780986a42c78ec9c7f77e6ded13c"));
        let other_network = {
            let body = [&[0x42][..], &[7; 20]].concat();
            let checksum = Sha256::digest(Sha256::digest(&body));
            base58::encode(&[&body[..], &checksum[..4]].concat())
        };
        for text in ["TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6", "tr7nhqjekqxgtci8q8zy4pl8otszgjlj6t", &other_network, "", "T"] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }
}
