pub(crate) mod stripe;
