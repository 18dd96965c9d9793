pub(crate) mod card;
pub(crate) mod evm;
pub(crate) mod solana;
pub(crate) mod usdc;
