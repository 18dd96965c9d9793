//! Secrets that are shown once and kept as hashes: API keys, links, sessions; and passwords.

use argon2::{Argon2, PasswordHasher, PasswordVerifier, password_hash::phc::PasswordHash};
use control::access::Role;
use lcp::{Hash, encoding};

use super::clock::random;

/// What a key of a role starts with. These are the protocol's names.
pub(crate) const fn key_prefix(role: Role) -> &'static str {
    match role {
        Role::Agent => "enruta_agt_",
        Role::Developer => "enruta_dev_",
        Role::Auditor => "enruta_aud_",
        Role::Seller => "enruta_slr_",
    }
}

/// How much of a key is shown to tell it from others: its prefix and this many characters.
const SHOWN: usize = 6;

/// A fresh API key: its text, and what may be shown of it.
pub(crate) fn fresh_key(role: Role) -> (String, String) {
    let prefix = key_prefix(role);
    let text = format!("{prefix}{}", fresh_token());
    let shown = text[..prefix.len() + SHOWN].to_owned();
    (text, shown)
}

/// 256 random bits as text.
pub(crate) fn fresh_token() -> String {
    encoding::base64url(&random::<32>())
}

/// What is stored of a secret text. The secrets are random: a fast hash is enough, and looking one up by its hash tells
/// nothing by its timing.
pub(crate) fn hash(secret: &str) -> [u8; 32] {
    *Hash::of(secret.as_bytes()).bytes()
}

/// A password's hash as a PHC string (argon2id, the crate's parameters).
pub(crate) fn hash_password(password: &str) -> Option<String> {
    Argon2::default().hash_password_with_salt(password.as_bytes(), &random::<16>()).ok().map(|hash| hash.to_string())
}

/// Whether the password is the one of that hash. Without a hash it takes the same time and says no, so that nobody learns
/// which names exist.
pub(crate) fn is_password(password: &str, hash: Option<&str>) -> bool {
    let stand_in = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let verifies =
        PasswordHash::new(hash.unwrap_or(stand_in)).is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok());
    verifies && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_show_a_little() {
        let (text, shown) = fresh_key(Role::Agent);
        assert!(text.starts_with("enruta_agt_") && text.len() == 11 + 43 && text.starts_with(&shown) && shown.len() == 17);
        assert_ne!(fresh_key(Role::Agent).0, text);
    }

    #[test]
    fn passwords() {
        let hash = hash_password("correct horse battery").unwrap();
        assert!(is_password("correct horse battery", Some(&hash)));
        assert!(!is_password("correct horse batterz", Some(&hash)) && !is_password("", None) && !is_password("", Some("not a hash")));
    }
}
