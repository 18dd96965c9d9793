//! Digests that a request quotes: of evidence, a trace, a catalogue, a policy.

use std::fmt;

use lcp::{Hash, encoding};

/// A SHA-256 digest as it was given: 64 hex digits, alone or behind `sha256:` or `0x`.
#[derive(Clone, Debug)]
pub struct Digest {
    given: Box<str>,
    bytes: [u8; 32],
}

impl Digest {
    /// Reads one of the spellings.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:").or_else(|| text.strip_prefix("0x")).unwrap_or(text);
        let mut bytes = [0; 32];
        lcp::encoding::hex_into(digits, &mut bytes)?;
        Some(Self { given: text.into(), bytes })
    }

    /// As it was given.
    pub fn as_str(&self) -> &str {
        &self.given
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }
}

/// Two spellings of one digest are equal.
impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Digest {}

/// `sha256:` and 64 lower-case hex digits: how every digest of ours is written.
pub(crate) fn digest_text(hash: &Hash) -> String {
    format!("sha256:{}", encoding::bare_hex(hash.bytes()))
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let plain = Digest::parse(hex).unwrap();
        for text in [format!("sha256:{hex}"), format!("0x{hex}"), hex.to_uppercase()] {
            assert_eq!(Digest::parse(&text).as_ref(), Some(&plain));
            assert_eq!(Digest::parse(&text).unwrap().as_str(), text);
        }
        for text in ["", "sha256:", &hex[1..], &format!("{hex}0"), &format!("sha512:{hex}"), &format!("sha256:0x{hex}"), &hex.replace('b', "g")] {
            assert_eq!(Digest::parse(text), None, "{text}");
        }
    }
}
