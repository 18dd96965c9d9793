pub(crate) mod tempo;
