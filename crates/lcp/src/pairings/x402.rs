pub(crate) mod exact;
