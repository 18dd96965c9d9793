//! Hedera's entity ids and transactions.
//!
//! Our own codec: protobuf crates let a field stand twice and drop what they do not know, and write what is default.

mod entity;
mod transaction;

pub use entity::EntityId;
pub use transaction::{Signature, TX_MALFORMED, Token, TransactionId, Transfer, memo, signed};
