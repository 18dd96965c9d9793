pub(crate) mod auth_capture;
pub(crate) mod batch_settlement;
pub(crate) mod exact;
pub(crate) mod upto;
