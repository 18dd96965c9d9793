pub(crate) mod permit2;
