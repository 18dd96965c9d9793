pub(crate) mod authorization;
pub(crate) mod hash;
pub(crate) mod permit2;
pub(crate) mod transaction;
