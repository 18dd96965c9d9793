pub(crate) mod eip155;
