pub(crate) mod eip3009;
pub(crate) mod erc7710;
pub(crate) mod erc7710_salt;
pub(crate) mod permit2;
