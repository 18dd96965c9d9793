pub(crate) mod autonomous;
pub(crate) mod immediate;
