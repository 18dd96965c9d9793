use std::fmt;

use lcp::{
    Hash, Object, Value,
    jose::{Jwks, Signature, SigningFailed, SigningKey, signature_from_text, signature_text},
};

use crate::{digest_from_text, digest_text};

/// A text with its hash and its signature: a sealed record, or a signed policy document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The exact text, in RFC 8785 form.
    pub text: String,
    /// The SHA-256 of the text's UTF-8 bytes.
    pub hash: Hash,
    /// The Ed25519 signature over the text's UTF-8 bytes, nothing before or after them.
    pub signature: Signature,
    /// The id of the key that signed.
    pub kid: String,
}

/// Why a [`Sealed`] is not what its key signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealFault {
    /// The text has another hash.
    Hash,
    /// No key of that id is known.
    UnknownKey(String),
    /// The key did not make this signature over this text.
    Signature,
}

impl Sealed {
    pub(crate) fn sign(text: String, key: &dyn SigningKey) -> Result<Self, SigningFailed> {
        let (hash, signature) = (Hash::of(text.as_bytes()), key.sign(text.as_bytes())?);
        Ok(Self { text, hash, signature, kid: key.public().thumbprint() })
    }

    /// Checks hash and signature under one of these keys.
    pub fn check(&self, keys: &Jwks) -> Result<(), SealFault> {
        self.check_hash()?;
        self.check_signature(keys)
    }

    pub(crate) fn check_hash(&self) -> Result<(), SealFault> {
        if Hash::of(self.text.as_bytes()) == self.hash { Ok(()) } else { Err(SealFault::Hash) }
    }

    pub(crate) fn check_signature(&self, keys: &Jwks) -> Result<(), SealFault> {
        let key = keys.get(&self.kid).ok_or_else(|| SealFault::UnknownKey(self.kid.clone()))?;
        if key.key.verifies(self.text.as_bytes(), &self.signature) { Ok(()) } else { Err(SealFault::Signature) }
    }

    /// As it stands in a bundle.
    pub fn to_json(&self) -> Object {
        Object::new()
            .with("text", &*self.text)
            .with("hash", digest_text(&self.hash))
            .with("signature", signature_text(&self.signature))
            .with("kid", &*self.kid)
    }

    /// Reads it from a bundle: these four members and no others.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let text = |name| value.get(name).and_then(Value::as_str);
        let sealed = Self {
            text: text("text")?.to_owned(),
            hash: digest_from_text(text("hash")?)?,
            signature: signature_from_text(text("signature")?)?,
            kid: text("kid")?.to_owned(),
        };
        (value.as_object()?.len() == 4).then_some(sealed)
    }
}

impl fmt::Display for SealFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hash => f.write_str("the text has another SHA-256"),
            Self::UnknownKey(kid) => write!(f, "no key {kid} is known"),
            Self::Signature => f.write_str("the signature is not its key's over this text"),
        }
    }
}

impl std::error::Error for SealFault {}
