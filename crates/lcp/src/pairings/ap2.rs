pub(crate) mod checkout_mandate;
