pub(crate) mod lcp_assets_remark;
