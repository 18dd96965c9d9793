//! Accounts and their addresses.

use sha2::{Digest, Sha256};

use crate::wire::base58;

/// What the ledger knows an account by.
pub type AccountId = [u8; 20];

/// The letters of the ledger's base58, by their digits.
const LETTERS: &[u8; 58] = b"rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz";

/// The account of a classic address: base58 of a zero, the id, and 4 bytes of the SHA-256 of the SHA-256 of both.
///
/// ```
/// use lcp::wire::xrpl::account_id;
/// assert_eq!(account_id("rrrrrrrrrrrrrrrrrrrrrhoLvTp"), Some([0; 20]));
/// assert_eq!(account_id("rrrrrrrrrrrrrrrrrrrrrhoLvTq"), None);
/// ```
pub fn account_id(address: &str) -> Option<AccountId> {
    if !is_address_form(address) {
        return None;
    }
    let digit = |letter| LETTERS.iter().position(|&of_digit| of_digit == letter);
    let other_letter = |letter| digit(letter).and_then(|digit| base58::ALPHABET.get(digit)).map(|&letter| char::from(letter));
    let bytes: [u8; 25] = base58::decode(&address.bytes().map(other_letter).collect::<Option<String>>()?)?;
    let (payload, checksum) = bytes.split_last_chunk::<4>()?;
    if !Sha256::digest(Sha256::digest(payload)).starts_with(checksum) {
        return None;
    }
    match payload {
        [0, id @ ..] => id.try_into().ok(),
        _ => None,
    }
}

/// Whether a text looks like a classic address; its checksum is not looked at.
pub fn is_address_form(text: &str) -> bool {
    text.strip_prefix('r').is_some_and(|letters| (24..=34).contains(&letters.len()) && letters.bytes().all(base58::is_letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_their_checksum() {
        assert_eq!(account_id("rrrrrrrrrrrrrrrrrrrrBZbvji"), Some([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
        assert!(account_id("rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh").is_some());
        for refused in [
            "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTj",
            "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyThr",
            "Hb9CJAWyB4rj91VRWn96DkukG4bwdtyTh",
            "rhb9cjawyb4rj91vrwn96dkukg4bwdtyth",
            // A seed's letter, a zero, and a text of another kind.
            "snoPBrXtMeMyMHUVTgbuqAfg1SUTb",
            "rHb9CJAWyB4rj91VRWn96DkukG4bwdty0h",
            "XVLhHMPHU98es4dbozjVtdWzVrDjtV5AqEL4xcZj5whKbmc",
            "",
        ] {
            assert_eq!(account_id(refused), None, "{refused}");
        }
    }

    #[test]
    fn a_form_is_of_25_to_35_letters() {
        let of = |length: usize| is_address_form(&format!("r{}", "1".repeat(length - 1)));
        assert!(of(25) && of(35) && !of(24) && !of(36));
        assert!(!is_address_form(&"x".repeat(25)) && !is_address_form(&format!("r{}0", "1".repeat(25))));
    }
}
