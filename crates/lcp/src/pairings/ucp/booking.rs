pub(crate) mod ap2_mandate;
pub(crate) mod unsigned;
