pub(crate) mod evm;
pub(crate) mod hedera;
pub(crate) mod lightning;
pub(crate) mod solana;
pub(crate) mod tempo;
pub(crate) mod xrpl;
