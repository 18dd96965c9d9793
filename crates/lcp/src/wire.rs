//! Wire formats of the rails. Nothing here knows a pairing.

pub mod aptos;
pub mod bcs;
pub mod bytes;
pub mod cardano;
pub mod casper;
pub mod cbor;
pub mod concordium;
pub mod evm;
pub mod near;
pub mod rlp;
pub mod solana;
pub mod stacks;
pub mod sui;
pub mod tempo;
