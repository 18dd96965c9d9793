//! Wire formats of the rails. Nothing here knows a pairing.

pub mod evm;
pub mod structured_field;
