pub(crate) mod seller_reference;
