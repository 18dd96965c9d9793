//! The Legal Context Protocol, pure: the ATR hash H, the links that serve it, strict JSON, and the pairings of payment
//! protocol, scheme and rail in which a payment carries H.
//!
//! Nothing here does I/O, reads a clock or draws randomness. A pairing reads a seller's document, chooses what to pay
//! for an account, builds the unsigned payment over a [`ConfirmedHash`], completes it with the wallet's answer, and
//! reads H back from a payment. [`registry::PAIRINGS`] lists them all.

pub mod account;
mod acp;
mod ap2;
mod card;
pub mod decline;
pub mod encoding;
pub mod hash;
mod hedera;
pub mod inputs;
pub mod jose;
pub mod json;
pub mod legal_context;
mod lightning;
pub mod link;
pub mod mpp;
pub mod pairing;
mod pairings;
#[cfg(test)]
mod peers;
pub mod refusal;
pub mod registry;
mod solana;
mod stellar;
mod time;
mod ucp;
pub mod wire;
pub mod x402;
mod xrpl;

pub use decline::{DeclineCode, Declined};
pub use hash::{ConfirmedHash, Hash};
pub use json::{Object, Text, Value};
pub use pairing::Pairing;
pub use refusal::Refusal;
