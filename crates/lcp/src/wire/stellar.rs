//! Stellar's addresses, and the transactions that invoke a contract.
//!
//! The decoder stands here, not the published crate: it takes any flag for false that is not 1, and keeps no places at which
//! a signature is put in.

mod address;
mod transaction;
mod types;
mod xdr;

pub use address::Address;
#[cfg(test)]
pub(crate) use transaction::sample;
pub use transaction::{AddressCredentials, Credentials, Entry, Invocation, MAX_ENVELOPE, Network, Transaction, Transfer, Unsigned};
