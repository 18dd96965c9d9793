//! The pairings, one file each, at the path of its id.

pub(crate) mod ack;
pub(crate) mod acp;
pub(crate) mod ap2;
pub(crate) mod card;
pub(crate) mod mpp;
pub(crate) mod ucp;
pub(crate) mod x402;
