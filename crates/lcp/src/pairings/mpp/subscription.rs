pub(crate) mod stripe;
pub(crate) mod tempo;
