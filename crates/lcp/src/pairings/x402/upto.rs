pub(crate) mod eip155;
pub(crate) mod solana;
