pub(crate) mod card;
pub(crate) mod stripe;
