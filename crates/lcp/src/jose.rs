//! JSON Object Signing, as far as one signature algorithm goes: compact JWS (RFC 7515) with Ed25519 (RFC 8037, RFC 9864),
//! and the JWK sets that publish the keys (RFC 7517).
//!
//! Strict where the standards leave room: one spelling of base64url, an `alg` the caller allows, a `typ` the caller
//! expects, and no header that would bring its own key.

mod jwk;
mod jws;
mod key;

pub use jwk::{Jwk, Jwks, JwksError, MAX_KEYS, Revocation, Validity};
pub use jws::{Alg, Expected, JwsError, MAX_JWS, Verified, sign, verify};
pub use key::{Ed25519Key, PublicKey, Signature, SigningFailed, SigningKey, signature_from_text, signature_text};
