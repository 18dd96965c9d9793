pub(crate) mod charge;
pub(crate) mod subscription;
