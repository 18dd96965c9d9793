//! Hex, base64 and decimal texts in the one canonical form each that the protocols accept.

use base64::{BASE64, BASE64URL_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE};

use crate::Text;

/// `0x` and lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    format!("0x{}", bare_hex(bytes))
}

/// Lower-case hex without a prefix.
pub fn bare_hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// The bytes of `0x` and an even number of hex digits of either case.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.strip_prefix("0x")?.as_bytes()).ok()
}

/// How many bytes `0x` hex text holds, or `None` if it is not such text.
pub fn hex_len(text: &str) -> Option<usize> {
    let digits = text.strip_prefix("0x")?;
    (digits.len() % 2 == 0 && digits.bytes().all(|b| b.is_ascii_hexdigit())).then_some(digits.len() / 2)
}

/// Fills `bytes` from exactly that many pairs of hex digits, without a prefix.
pub fn hex_into(digits: &str, bytes: &mut [u8]) -> Option<()> {
    if digits.len() != bytes.len() * 2 {
        return None;
    }
    HEXLOWER_PERMISSIVE.decode_mut(digits.as_bytes(), bytes).ok().map(|_| ())
}

/// The bytes of lower-case hex without a prefix.
pub fn from_bare_hex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER.decode(text.as_bytes()).ok()
}

/// Padded standard base64.
pub fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// The bytes of padded standard base64 in its canonical form (RFC 4648 section 3.5): no white space, no URL-safe
/// letters, unused bits zero.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    // The decoder also takes padded texts in a row.
    if text.trim_end_matches('=').contains('=') {
        return None;
    }
    BASE64.decode(text.as_bytes()).ok()
}

/// How many bytes a text of this length and padding holds as base64, whatever its letters; `None` for a length that no
/// base64 has. By it a text is refused as too large before its letters are judged.
pub fn base64_size(text: &Text) -> Option<usize> {
    let len = text.utf16_len();
    let pad = u16::from(b'=');
    let last: Vec<u16> = text.code_units().skip(len.saturating_sub(2)).collect();
    let padding = match last[..] {
        [first, second] if first == pad && second == pad => 2,
        [_, second] if second == pad => 1,
        _ => 0,
    };
    len.is_multiple_of(4).then(|| len / 4 * 3 - padding)
}

/// Unpadded base64url.
pub fn base64url(bytes: &[u8]) -> String {
    BASE64URL_NOPAD.encode(bytes)
}

/// The bytes of unpadded base64url in its canonical form.
pub fn from_base64url(text: &str) -> Option<Vec<u8>> {
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()
}

/// Whether the text is 1 to `max_digits` decimal digits.
pub fn is_decimal(text: &str, max_digits: usize) -> bool {
    (1..=max_digits).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// A decimal without leading zeros.
pub fn plain_decimal(digits: &str) -> &str {
    match digits.trim_start_matches('0') {
        "" => "0",
        significant => significant,
    }
}

/// The number that 1 to 78 decimal digits name, if it is below 2^64; leading zeros are allowed.
pub fn uint64(text: &str) -> Option<u64> {
    is_decimal(text, 78).then(|| text.parse().ok())?
}

/// The number that 1 to 78 decimal digits name, if it is below 2^128; leading zeros are allowed.
pub fn uint128(text: &str) -> Option<u128> {
    is_decimal(text, 78).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_canonical() {
        assert_eq!(from_base64("/w=="), Some(vec![0xFF]));
        assert_eq!(from_base64(""), Some(vec![]));
        for text in ["/x==", "/w", "_w==", "/w==\n", " /w==", "/w=", "=", "/w==/w==", "wIA=wIA="] {
            assert_eq!(from_base64(text), None, "{text:?}");
        }
    }

    #[test]
    fn base64_size_goes_by_length_and_padding() {
        for (text, size) in [
            ("", Some(0)),
            ("AAAA", Some(3)),
            ("!!!=", Some(2)),
            ("====", Some(1)),
            ("A=A=", Some(2)),
            ("AA=A", Some(3)),
            ("AAA", None),
            ("AAAAA", None),
        ] {
            assert_eq!(base64_size(&text.into()), size, "{text}");
        }
        // Lengths are of UTF-16.
        assert_eq!(base64_size(&"\u{1F600}\u{1F600}".into()), Some(3));
    }

    #[test]
    fn hex_takes_pairs_after_a_small_x() {
        assert_eq!(from_hex("0xAbcD"), Some(vec![0xAB, 0xCD]));
        assert_eq!(hex_len("0x"), Some(0));
        for text in ["0XAB", "AB", "0xA", "0xAG", "0x A"] {
            assert_eq!(from_hex(text), None, "{text}");
            assert_eq!(hex_len(text), None, "{text}");
        }
    }

    #[test]
    fn bare_hex_is_lower_case() {
        assert_eq!(from_bare_hex("00ab"), Some(vec![0, 0xAB]));
        assert_eq!(bare_hex(&[0, 0xAB]), "00ab");
        for text in ["00AB", "0x00ab", "0ab", "00ab\n"] {
            assert_eq!(from_bare_hex(text), None, "{text:?}");
        }
    }

    #[test]
    fn integers_stop_at_their_width() {
        assert_eq!(uint64(&u64::MAX.to_string()), Some(u64::MAX));
        assert_eq!(uint64(&format!("{:0>78}", 7)), Some(7));
        for text in ["18446744073709551616", "", "+7", &format!("{:0>79}", 7)] {
            assert_eq!(uint64(text), None, "{text:?}");
        }
        assert_eq!(uint128(&u128::MAX.to_string()), Some(u128::MAX));
        assert_eq!(uint128(&format!("{:0>78}", 7)), Some(7));
        for text in ["340282366920938463463374607431768211456", "", "+7", " 7", &format!("{:0>79}", 7)] {
            assert_eq!(uint128(text), None, "{text:?}");
        }
    }
}
