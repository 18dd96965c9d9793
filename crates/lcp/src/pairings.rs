//! The pairings, one file each, at the path of its id.

pub(crate) mod card;
pub(crate) mod mpp;
pub(crate) mod x402;
