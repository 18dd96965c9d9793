pub(crate) mod evm;
pub(crate) mod hedera;
pub(crate) mod solana;
pub(crate) mod tempo;
