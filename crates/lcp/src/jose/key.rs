use std::fmt;

use ed25519_dalek::{Signer, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::encoding;

/// An Ed25519 signature (RFC 8032): R and S, 32 bytes each.
pub type Signature = [u8; 64];

/// A signature as unpadded base64url, 86 characters.
pub fn signature_text(signature: &Signature) -> String {
    encoding::base64url(signature)
}

/// The signature that canonical unpadded base64url names.
pub fn signature_from_text(text: &str) -> Option<Signature> {
    // The length is judged first, so that a long text is not decoded.
    (text.len() == 86).then(|| encoding::from_base64url(text))??.try_into().ok()
}

/// An Ed25519 public key in its canonical encoding, not of small order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// The key these 32 bytes encode (RFC 8032 section 5.1.2), or `None` if they encode no point, encode it in a second
    /// way, or encode one of the eight points under which anybody can sign.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let key = VerifyingKey::from_bytes(bytes).ok()?;
        let canonical = VerifyingKey::from(key.to_edwards()) == key;
        (canonical && !key.is_weak()).then_some(Self(key))
    }

    /// The 32 bytes of the canonical encoding.
    pub fn bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Whether this key made that signature over exactly these bytes. S must be canonical and R not of small order, so
    /// that no second signature can be made from a first.
    pub fn verifies(&self, message: &[u8], signature: &Signature) -> bool {
        self.0.verify_strict(message, &ed25519_dalek::Signature::from_bytes(signature)).is_ok()
    }

    /// The key's id: its JWK thumbprint (RFC 7638) by SHA-256, unpadded base64url, 43 characters.
    pub fn thumbprint(&self) -> String {
        let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, encoding::base64url(self.bytes()));
        encoding::base64url(&Sha256::digest(members))
    }
}

/// The key's id.
impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.thumbprint())
    }
}

/// Something that signs with an Ed25519 key: the key itself, or a service that holds it.
pub trait SigningKey {
    /// The public half; its thumbprint is the key's id.
    fn public(&self) -> PublicKey;

    /// Signs exactly these bytes. A service that holds the key may fail; a key in memory does not.
    fn sign(&self, message: &[u8]) -> Result<Signature, SigningFailed>;
}

/// A signature that could not be made, with the signer's reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningFailed(pub String);

impl fmt::Display for SigningFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the signing key did not sign: {}", self.0)
    }
}

impl std::error::Error for SigningFailed {}

/// An Ed25519 private key in memory, wiped when dropped. It is never shown, written or compared.
pub struct Ed25519Key(ed25519_dalek::SigningKey);

impl Ed25519Key {
    /// The key that these 32 random bytes are the seed of (RFC 8032 section 5.1.5).
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }
}

impl SigningKey for Ed25519Key {
    fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    fn sign(&self, message: &[u8]) -> Result<Signature, SigningFailed> {
        Ok(self.0.sign(message).to_bytes())
    }
}

/// The public key's id alone.
impl fmt::Debug for Ed25519Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ed25519Key({:?})", self.public())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        let mut out = [0; N];
        encoding::hex_into(hex, &mut out).unwrap();
        out
    }

    #[test]
    fn signs_as_rfc_8032_section_7_1() {
        let key = Ed25519Key::from_seed(&bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"));
        assert_eq!(*key.public().bytes(), bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"));
        let signature = key.sign(&[0x72]).unwrap();
        let expected =
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
        assert_eq!(signature, bytes(expected));
        assert!(key.public().verifies(&[0x72], &signature));
        assert!(!key.public().verifies(&[0x73], &signature));
    }

    #[test]
    fn thumbprint_of_rfc_8037_appendix_a_3() {
        let x = encoding::from_base64url("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
        let key = PublicKey::from_bytes(&x.try_into().unwrap()).unwrap();
        assert_eq!(key.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }

    #[test]
    fn a_weak_or_doubly_spelled_key_is_none() {
        let mut identity = [0; 32];
        identity[0] = 1;
        assert_eq!(PublicKey::from_bytes(&identity), None);
        // y = p + 3, a second spelling of y = 3, which is on the curve.
        let mut second = [0xFF; 32];
        (second[0], second[31]) = (0xF0, 0x7F);
        let mut first = [0; 32];
        first[0] = 3;
        assert!(PublicKey::from_bytes(&first).is_some());
        assert_eq!(PublicKey::from_bytes(&second), None);
        assert_eq!(PublicKey::from_bytes(&[2; 32]), None, "not on the curve");
    }

    #[test]
    fn a_second_signature_made_from_the_first_is_refused() {
        let key = Ed25519Key::from_seed(&[7; 32]);
        let mut signature = key.sign(b"text").unwrap();
        // S + L is the same scalar in a second spelling.
        let order = bytes::<32>("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
        let mut carry = 0;
        for (byte, add) in signature[32..].iter_mut().zip(order) {
            let sum = u16::from(*byte) + u16::from(add) + carry;
            *byte = sum.to_le_bytes()[0];
            carry = sum >> 8;
        }
        assert!(!key.public().verifies(b"text", &signature));
    }

    #[test]
    fn a_private_key_shows_its_id_alone() {
        let key = Ed25519Key::from_seed(&[7; 32]);
        assert_eq!(format!("{key:?}"), format!("Ed25519Key({})", key.public().thumbprint()));
    }

    proptest! {
        #[test]
        fn any_flipped_bit_breaks_a_signature(seed: [u8; 32], message: Vec<u8>, bit in 0..512_usize) {
            let key = Ed25519Key::from_seed(&seed);
            let mut signature = key.sign(&message).unwrap();
            prop_assert!(key.public().verifies(&message, &signature));
            prop_assert_eq!(signature_from_text(&signature_text(&signature)), Some(signature));
            signature[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!key.public().verifies(&message, &signature));
        }
    }
}
