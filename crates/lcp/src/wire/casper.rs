//! Casper's keys and signatures: hex without a prefix, the first byte a tag.

/// Most hex digits of a public key, its tag among them.
pub const MAX_PUBLIC_KEY: usize = 68;

/// Most hex digits of a signature, its tag among them.
pub const MAX_SIGNATURE: usize = 132;

/// Whether the text is a key of an account (tag 0) or of a package (tag 1): the tag and a hash of 32 bytes.
pub fn is_key(text: &str) -> bool {
    text.len() == 66 && is_hex(text) && matches!(text.get(..2), Some("00" | "01"))
}

/// Whether the text is a hash of 32 bytes.
pub fn is_hash(text: &str) -> bool {
    text.len() == 64 && is_hex(text)
}

/// The algorithm of a public key or signature: 1 is Ed25519, 2 is secp256k1. At least one byte follows the tag; what the
/// bytes are is not read.
///
/// ```
/// use lcp::wire::casper;
/// assert_eq!(casper::algorithm("02aB", casper::MAX_SIGNATURE), Some(2));
/// assert_eq!(casper::algorithm("03ab", casper::MAX_SIGNATURE), None);
/// ```
pub fn algorithm(text: &str, max_digits: usize) -> Option<u8> {
    if !(4..=max_digits).contains(&text.len()) || !text.len().is_multiple_of(2) || !is_hex(text) {
        return None;
    }
    match text.get(..2) {
        Some("01") => Some(1),
        Some("02") => Some(2),
        _ => None,
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_of_accounts_and_packages() {
        let hash = "aB".repeat(32);
        assert!(is_key(&format!("00{hash}")) && is_key(&format!("01{hash}")) && is_hash(&hash));
        for text in [format!("02{hash}"), format!("0x00{hash}"), format!("00{hash}0"), hash.clone(), hash.replace('a', "\u{e9}"), String::new()] {
            assert!(!is_key(&text), "{text}");
        }
        for text in [&hash[1..], &hash.replace('a', "g"), ""] {
            assert!(!is_hash(text), "{text}");
        }
    }

    /// What pycspr writes.
    #[test]
    fn keys_and_signatures_of_a_public_library() {
        for row in crate::json::lines(include_str!("../../tests/peers/casper/keys.jsonl")) {
            let text = |name| row.get(name).and_then(crate::Value::as_str).unwrap();
            let kind = row.get("algorithm").and_then(crate::Value::as_safe_unsigned).unwrap();
            assert!(is_key(text("account")));
            assert_eq!(algorithm(text("publicKey"), MAX_PUBLIC_KEY).map(u64::from), Some(kind));
            assert_eq!(algorithm(text("signature"), MAX_SIGNATURE).map(u64::from), Some(kind));
        }
    }

    #[test]
    fn algorithms_are_two() {
        assert_eq!(algorithm(&format!("01{}", "ab".repeat(33)), MAX_PUBLIC_KEY), Some(1));
        assert_eq!(algorithm(&format!("02{}", "ab".repeat(65)), MAX_SIGNATURE), Some(2));
        for text in ["", "01", "1ab", "01abc", "01zz", "0x01ab", "00ab", "01 ab", &format!("01{}", "ab".repeat(34))] {
            assert_eq!(algorithm(text, MAX_PUBLIC_KEY), None, "{text}");
        }
    }
}
