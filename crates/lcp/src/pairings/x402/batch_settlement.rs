pub(crate) mod cloudflare;
pub(crate) mod eip155;
