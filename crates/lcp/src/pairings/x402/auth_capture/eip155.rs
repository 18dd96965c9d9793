pub(crate) mod eip3009;
pub(crate) mod permit2;
