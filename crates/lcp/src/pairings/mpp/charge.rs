pub(crate) mod card;
pub(crate) mod evm;
pub(crate) mod nearintents;
pub(crate) mod solana;
pub(crate) mod tempo;
pub(crate) mod usdc;
