pub(crate) mod mastercard_vi;
pub(crate) mod seller_reference;
pub(crate) mod visa_tap;
