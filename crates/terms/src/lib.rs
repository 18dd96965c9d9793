//! The buyer gate: before an agent's wallet signs, the gate fetches the seller's record (the ATR), compares its SHA-256
//! with the advertised hash H, builds the payment over the H it computed, and reads H back from what was signed.

mod env;
mod fetch;
mod signer;

pub use env::Env;
pub use fetch::{Body, Fetch, FetchFailed, Request, Response};
pub use signer::{NoSigner, Signer, SignerFailed};
