pub(crate) mod charge;
