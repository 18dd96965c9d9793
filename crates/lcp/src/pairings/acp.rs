pub(crate) mod checkout;
