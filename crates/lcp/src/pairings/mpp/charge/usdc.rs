pub(crate) mod evm;
pub(crate) mod gateway;
pub(crate) mod solana;
pub(crate) mod stacks;
