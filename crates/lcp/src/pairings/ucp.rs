pub(crate) mod booking;
pub(crate) mod checkout;
