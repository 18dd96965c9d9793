pub(crate) mod payment_request;
