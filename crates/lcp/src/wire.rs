//! Wire formats of the rails. Nothing here knows a pairing.

pub mod aptos;
pub mod base58;
pub mod bcs;
pub mod bytes;
pub mod evm;
pub mod hedera;
pub mod near;
mod protobuf;
pub mod rlp;
pub mod solana;
pub mod starknet;
pub mod substrate;
pub mod sui;
pub mod tempo;
pub mod ton;
pub mod tron;
