//! Starknet's field elements, and the typed data by which an account lets another call in its name.
//!
//! Our own: `Felt::from_hex` of the published crates takes the field's prime for zero.

mod felt;
pub mod outside_execution;

pub use felt::Felt;
