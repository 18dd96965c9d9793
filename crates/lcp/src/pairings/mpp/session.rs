pub(crate) mod evm;
pub(crate) mod solana;
