pub(crate) mod charge;
pub(crate) mod session;
pub(crate) mod subscription;
