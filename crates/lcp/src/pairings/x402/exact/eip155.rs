pub(crate) mod eip3009;
