use std::{convert::Infallible, fmt, future::Future};

use lcp::Value;

/// The wallet. The gate asks it only after the hash comparison.
pub trait Signer: Send + Sync {
    /// The account it pays from, CAIP-10; `None` while it has none to pay from, for example when it is locked.
    fn account(&self) -> Option<&str>;

    /// Signs a request; the answer's form is the request kind's.
    fn sign(&self, request: &Value) -> impl Future<Output = Result<Value, SignerFailed>> + Send;
}

/// The signer did not sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignerFailed {
    reason: String,
}

impl SignerFailed {
    /// A failure with its reason, for the operator's log; the gate's declines do not carry it.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for SignerFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for SignerFailed {}

/// No signer: a value of this type cannot exist.
#[derive(Clone, Copy, Debug)]
pub struct NoSigner(Infallible);

impl Signer for NoSigner {
    fn account(&self) -> Option<&str> {
        match self.0 {}
    }

    async fn sign(&self, _request: &Value) -> Result<Value, SignerFailed> {
        match self.0 {}
    }
}
