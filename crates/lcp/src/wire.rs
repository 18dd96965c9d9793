//! Wire formats of the rails. Nothing here knows a pairing.

pub mod evm;
pub mod hedera;
pub mod rlp;
pub mod solana;
pub mod tempo;
