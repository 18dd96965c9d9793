pub(crate) mod delegated;
pub(crate) mod undelegated;
