pub(crate) mod memo;
pub(crate) mod push;
