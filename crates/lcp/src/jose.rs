//! JSON Object Signing: compact JWS (RFC 7515) with Ed25519 (RFC 8037, RFC 9864), the JWK sets that publish the keys
//! (RFC 7517); and what the gate reads of others' tokens: payloads, SD-JWT (RFC 9901), and the verification of ES256.
//!
//! Strict where the standards leave room: one spelling of base64url, an `alg` the caller allows, a `typ` the caller
//! expects, and no header that would bring its own key.

mod compact;
mod es256;
mod jwk;
mod jws;
mod key;
mod sd_jwt;

pub use compact::{Compact, TextFault, unverified_payload};
pub use es256::P256Key;
pub use jwk::{Jwk, Jwks, JwksError, MAX_KEYS, Revocation, Validity};
pub use jws::{Alg, Expected, JwsError, MAX_JWS, Verified, sign, verify};
pub use key::{Ed25519Key, PublicKey, Signature, SigningFailed, SigningKey, signature_from_text, signature_text};
#[cfg(test)]
pub(crate) use sd_jwt::sample;
pub use sd_jwt::{SdJwt, SdJwtFault, digest};
