//! Why a pairing or a reader refused: a stable `namespace/code`.

use std::{borrow::Cow, fmt};

/// A refusal: a stable code such as `x402/not-v2`, which is all that crosses to the caller.
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal(Cow<'static, str>);

impl Refusal {
    /// A refusal whose code is fixed.
    pub const fn new(code: &'static str) -> Self {
        Self(Cow::Borrowed(code))
    }

    /// A refusal of a pairing's own namespace, the part of its id before the first `/`.
    pub fn of(pairing: &str, word: &str) -> Self {
        Self(Cow::Owned(format!("{}/{word}", namespace(pairing))))
    }

    /// The `namespace/code`.
    pub fn code(&self) -> &str {
        &self.0
    }

    /// The code without its namespace.
    pub fn word(&self) -> &str {
        self.0.split_once('/').map_or(&*self.0, |(_, word)| word)
    }

    /// Whether it says that the pairing leaves the buyer nothing to sign, or no place in what is signed for H.
    pub fn leaves_nothing_to_sign(&self) -> bool {
        matches!(self.word(), "nothing-to-sign" | "no-signed-place")
    }
}

/// A pairing id's part before the first `/`.
pub fn namespace(pairing: &str) -> &str {
    pairing.split('/').next().unwrap_or(pairing)
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
