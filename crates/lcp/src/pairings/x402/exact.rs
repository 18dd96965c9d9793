pub(crate) mod aptos;
pub(crate) mod eip155;
pub(crate) mod hedera;
pub(crate) mod near;
pub(crate) mod solana;
pub(crate) mod starknet;
pub(crate) mod sui;
pub(crate) mod tron;
