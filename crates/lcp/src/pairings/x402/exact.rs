pub(crate) mod eip155;
pub(crate) mod hedera;
pub(crate) mod solana;
