pub(crate) mod evm;
pub(crate) mod solana;
pub(crate) mod tempo;
pub(crate) mod xrpl;
