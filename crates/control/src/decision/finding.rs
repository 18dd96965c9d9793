//! What one check finds.

use std::borrow::Cow;

use super::Reason;
use crate::Instant;

/// A check and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) name: Cow<'static, str>,
    pub(super) verdict: Verdict,
    pub(super) detail: Cow<'static, str>,
    /// From when the reason no longer holds, if that is known.
    pub(super) retry_after: Option<Instant>,
}

/// What a check says, from the mildest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing against it.
    Pass,
    /// Nothing against it, but something to know.
    Hint(Reason),
    /// It could not be judged, for there is no policy.
    NotJudged,
    /// A person is to be asked.
    StepUp(Reason),
    /// Something is to be known first.
    Clarify(Reason),
    /// It is not to be paid.
    Deny(Reason),
}

impl Finding {
    pub(super) fn new(name: impl Into<Cow<'static, str>>, verdict: Verdict, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), verdict, detail: detail.into(), retry_after: None }
    }

    pub(super) fn pass(name: impl Into<Cow<'static, str>>, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Verdict::Pass, detail)
    }

    pub(super) fn deny(name: impl Into<Cow<'static, str>>, reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Verdict::Deny(reason), detail)
    }

    pub(super) fn step_up(name: impl Into<Cow<'static, str>>, reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Verdict::StepUp(reason), detail)
    }

    pub(super) fn hint(name: impl Into<Cow<'static, str>>, reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(name, Verdict::Hint(reason), detail)
    }

    #[must_use]
    pub(super) fn retry_after(mut self, at: Option<Instant>) -> Self {
        self.retry_after = at;
        self
    }
}

impl Verdict {
    /// The reason, if there is one.
    pub(super) const fn reason(self) -> Option<Reason> {
        match self {
            Self::Pass | Self::NotJudged => None,
            Self::Hint(reason) | Self::StepUp(reason) | Self::Clarify(reason) | Self::Deny(reason) => Some(reason),
        }
    }

    /// Whether nothing stands against the payment.
    pub(super) const fn is_ok(self) -> bool {
        matches!(self, Self::Pass | Self::Hint(_))
    }
}
