use std::fmt;

use lcp::{
    Object, Value,
    jose::{SigningFailed, SigningKey},
};

use crate::{Sealed, Unfit, canonical};

/// A version of a policy, by what its document says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) id: String,
    pub(crate) version: u64,
}

/// Why a policy document was not signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyUnsigned {
    /// It has no text that may be signed.
    Unfit(Unfit),
    /// It has no `id` that is text or no `version` that is a whole number, or it has a member `format`.
    NotAPolicy,
    /// The key did not sign.
    Signing(SigningFailed),
}

/// Signs a policy document: its RFC 8785 text, the text's SHA-256, and an Ed25519 signature over the text.
///
/// A document may not have a member `format`: by it, and only by it, a signed record is told from a signed policy.
pub fn sign_policy(document: &Object, key: &dyn SigningKey) -> Result<Sealed, PolicyUnsigned> {
    Version::of(document).ok_or(PolicyUnsigned::NotAPolicy)?;
    Sealed::sign(canonical::text(document).map_err(PolicyUnsigned::Unfit)?, key).map_err(PolicyUnsigned::Signing)
}

impl Version {
    pub(crate) fn of(document: &Object) -> Option<Self> {
        if document.has("format") {
            return None;
        }
        let id = document.get("id").and_then(Value::as_str)?.to_owned();
        Some(Self { id, version: document.get("version").and_then(Value::as_safe_unsigned)? })
    }
}

impl fmt::Display for PolicyUnsigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit(unfit) => unfit.fmt(f),
            Self::NotAPolicy => f.write_str("a policy document has an id and a whole-number version, and no member named format"),
            Self::Signing(failed) => failed.fmt(f),
        }
    }
}

impl std::error::Error for PolicyUnsigned {}

#[cfg(test)]
mod tests {
    use lcp::{Hash, jose::Ed25519Key};

    use super::*;

    #[test]
    fn a_record_is_never_signed_as_a_policy() {
        let key = Ed25519Key::from_seed(&[1; 32]);
        let document = Object::new().with("version", 1u32).with("id", "pol_1");
        let signed = sign_policy(&document, &key).unwrap();
        assert_eq!(signed.text, r#"{"id":"pol_1","version":1}"#);
        assert_eq!(signed.hash, Hash::of(signed.text.as_bytes()));
        assert!(key.public().verifies(signed.text.as_bytes(), &signed.signature));
        for bad in [document.clone().with("format", Value::Null), document.without("id"), document.clone().with("version", "1")] {
            assert_eq!(sign_policy(&bad, &key), Err(PolicyUnsigned::NotAPolicy));
        }
        let float = sign_policy(&document.with("share", Value::Number(0.5)), &key);
        assert_eq!(float, Err(PolicyUnsigned::Unfit(Unfit::Number("/share".into()))));
    }
}
