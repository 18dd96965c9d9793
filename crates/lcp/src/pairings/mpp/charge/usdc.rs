pub(crate) mod evm;
