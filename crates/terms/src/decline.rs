use std::fmt;

use lcp::{DeclineCode, Declined, Hash, Value};

/// A decline of the gate: nothing may be sent. Where the signer moved the payment, it is kept here.
#[derive(Clone, Debug, PartialEq)]
pub struct Decline {
    /// Code and detail.
    pub declined: Declined,
    /// What the signer moved before the gate declined.
    pub moved: Option<Box<Moved>>,
}

/// A payment that the signer moved: to be kept and presented again, never signed anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// The payment, or the signer's raw answer where no payment was made of it.
    pub signed: Value,
    /// The ATR's bytes.
    pub atr: Vec<u8>,
    /// H.
    pub h: Hash,
}

impl Decline {
    /// Declines with a sentence.
    pub(crate) fn because(code: DeclineCode, sentence: &str) -> Self {
        Declined::because(code, sentence).into()
    }

    /// The same decline, with what was moved.
    pub(crate) fn with_moved(self, moved: Option<Moved>) -> Self {
        Self { moved: moved.map(Box::new), ..self }
    }

    /// The decline code.
    pub fn code(&self) -> DeclineCode {
        self.declined.code
    }

    /// Whether the pairing leaves the buyer nothing to sign.
    pub(crate) fn leaves_nothing_to_sign(&self) -> bool {
        ["/nothing-to-sign", "/no-signed-place"].iter().any(|end| self.declined.detail.ends_with(end))
    }
}

impl From<Declined> for Decline {
    fn from(declined: Declined) -> Self {
        Self { declined, moved: None }
    }
}

impl fmt::Display for Decline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.declined, f)
    }
}

impl std::error::Error for Decline {}
