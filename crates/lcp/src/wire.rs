//! Wire formats of the rails. Nothing here knows a pairing.

pub mod algorand;
pub mod aptos;
pub mod base58;
pub mod bcs;
pub mod bolt11;
pub mod bytes;
pub mod evm;
pub mod hedera;
pub mod near;
pub mod rlp;
pub mod solana;
pub mod stellar;
pub mod sui;
pub mod tempo;
pub mod xrpl;
