//! TRON's addresses, and transactions that call a contract.
//!
//! Our own codec: what is signed is the raw bytes, so they are read only in the one form in which a node writes them, which
//! protobuf crates do not hold to.

mod address;
mod transaction;

pub use address::Address;
pub use transaction::{Call, Raw, Signature, TX_MALFORMED, Transaction, signed, trc20_transfer};
