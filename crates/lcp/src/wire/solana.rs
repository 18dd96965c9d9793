//! Solana's keys, transactions, and the programs that payments call.
//!
//! The decoder stands here, not the published crates: they take trailing bytes, indexes past the keys, and messages of
//! version 1.

mod address;
mod compile;
pub mod compute_budget;
pub mod memo;
mod message;
pub mod payment_channels;
pub mod system;
pub mod token;

pub use super::base58;
pub use address::Address;
pub use compile::{Account, Instruction, compile};
pub use message::{CompiledInstruction, Loaded, Lookup, MAX_WIRE, Message, TX_MALFORMED, Transaction, Unresolved};

/// An Ed25519 signature.
pub type Signature = [u8; 64];

/// A recent blockhash.
pub type Blockhash = [u8; 32];
