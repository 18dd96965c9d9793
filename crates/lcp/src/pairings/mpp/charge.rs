pub(crate) mod card;
