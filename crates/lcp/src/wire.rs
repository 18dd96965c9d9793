//! Wire formats of the rails. Nothing here knows a pairing.

pub mod algorand;
pub mod aptos;
pub mod base58;
pub mod bcs;
pub mod bolt11;
pub mod bytes;
pub mod cardano;
pub mod casper;
pub mod cbor;
pub mod concordium;
pub mod evm;
pub mod hedera;
pub mod near;
mod protobuf;
pub mod rlp;
pub mod solana;
pub mod stacks;
pub mod starknet;
pub mod stellar;
pub mod structured_field;
pub mod substrate;
pub mod sui;
pub mod tempo;
pub mod ton;
pub mod tron;
pub mod xrpl;
