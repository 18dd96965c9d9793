pub(crate) mod lcp_trc20_memo;
