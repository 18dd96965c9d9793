pub(crate) mod aptos;
pub(crate) mod cardano;
pub(crate) mod casper;
pub(crate) mod ccd;
pub(crate) mod eip155;
pub(crate) mod near;
pub(crate) mod solana;
pub(crate) mod sui;
