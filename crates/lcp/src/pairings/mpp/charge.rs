pub(crate) mod card;
pub(crate) mod evm;
pub(crate) mod usdc;
