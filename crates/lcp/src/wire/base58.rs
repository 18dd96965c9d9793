//! Base58 in the Bitcoin alphabet, as Solana, NEAR, TRON and Polkadot write keys.

/// The letters, by their digits.
pub const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Base58 text of bytes; a leading zero byte is a leading `1`.
pub fn encode(bytes: &[u8]) -> String {
    // Least digit first.
    let mut digits: Vec<u32> = Vec::new();
    for &byte in bytes {
        let mut carry = u32::from(byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).map(|_| '1');
    let letters = digits.iter().rev().filter_map(|&digit| ALPHABET.get(digit as usize)).map(|&letter| char::from(letter));
    zeros.chain(letters).collect()
}

/// The bytes of base58 text, if there are exactly `N`.
///
/// ```
/// use lcp::wire::base58;
/// assert_eq!(base58::decode("1A"), Some([0, 9]));
/// assert_eq!(base58::decode::<2>("A"), None);
/// ```
pub const fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let letters = text.as_bytes();
    // A byte takes at most one letter and a half.
    if letters.len() > 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    let mut at = 0;
    while at < letters.len() {
        let Some(mut carry) = digit(letters[at]) else { return None };
        let mut place = N;
        while place > 0 {
            place -= 1;
            carry += bytes[place] as u32 * 58;
            bytes[place] = (carry & 0xFF) as u8;
            carry >>= 8;
        }
        if carry > 0 {
            return None;
        }
        at += 1;
    }
    // As many leading ones as zero bytes, or the text is of fewer or more bytes.
    let mut zeros = 0;
    while zeros < N && bytes[zeros] == 0 {
        zeros += 1;
    }
    let mut ones = 0;
    while ones < letters.len() && letters[ones] == b'1' {
        ones += 1;
    }
    if zeros == ones { Some(bytes) } else { None }
}

/// Whether the byte is a letter of the alphabet.
pub const fn is_letter(byte: u8) -> bool {
    digit(byte).is_some()
}

const fn digit(letter: u8) -> Option<u32> {
    let digit = match letter {
        b'1'..=b'9' => letter - b'1',
        b'A'..=b'H' => letter - b'A' + 9,
        b'J'..=b'N' => letter - b'J' + 17,
        b'P'..=b'Z' => letter - b'P' + 22,
        b'a'..=b'k' => letter - b'a' + 33,
        b'm'..=b'z' => letter - b'm' + 44,
        _ => return None,
    };
    Some(digit as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_letter_is_its_digit() {
        for (place, &letter) in ALPHABET.iter().enumerate() {
            assert_eq!(digit(letter), Some(u32::try_from(place).unwrap()));
        }
        assert_eq!((0..=u8::MAX).filter(|&letter| digit(letter).is_some()).count(), 58);
    }

    #[test]
    fn known_texts() {
        assert_eq!(encode(b"Hello World!"), "2NEpo7TZRRrLZSi2U");
        assert_eq!(decode(&"1".repeat(32)), Some([0; 32]));
        assert_eq!(decode("JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG"), Some([0xFF; 32]));
        for text in ["JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFH", &"1".repeat(31), &"1".repeat(33), &"z".repeat(44), "", "0"] {
            assert_eq!(decode::<32>(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(bytes: [u8; 32], zeros in 0..=32usize) {
            let mut bytes = bytes;
            bytes[..zeros].fill(0);
            let text = encode(&bytes);
            prop_assert_eq!(decode(&text), Some(bytes));
            prop_assert_eq!(decode::<31>(&text), None);
            prop_assert_eq!(decode::<33>(&text), None);
        }

        /// A text that decodes is the one text of its bytes.
        #[test]
        fn canonical(text in "[1-9A-HJ-NP-Za-km-z]{42,45}|1{30,34}|\\PC{0,50}") {
            if let Some(bytes) = decode::<32>(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }
}
