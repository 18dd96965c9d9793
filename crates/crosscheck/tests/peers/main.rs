//! What the rails' public crates make of the payments that our pairings build from the recorded rows.
#![allow(clippy::unwrap_used)] // a test fails by panicking

mod casper;
mod eip712;
mod mpp_credentials;
mod rows;
mod solana;
mod tempo;
