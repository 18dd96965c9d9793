//! Why a command is refused: its kind, a stable code, and what to do.

use std::{borrow::Cow, fmt};

use crate::{Fault, Pointer, fault::codes};

codes! {
    /// The kinds of refusals, which tell a caller whether to mend the input, look at the state, or stop.
    pub enum RefusalKind {
        /// The input is at fault.
        Invalid = "invalid",
        /// There is nothing of that id for this caller.
        NotFound = "not_found",
        /// The caller may not do this.
        Forbidden = "forbidden",
        /// The state does not allow it.
        Conflict = "conflict",
    }
}

/// A command that was refused: nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its kind.
    pub kind: RefusalKind,
    /// The stable code.
    pub code: &'static str,
    /// One sentence that says what to do. It never repeats what was sent.
    pub sentence: Cow<'static, str>,
    /// The member at fault, where it is one.
    pub pointer: Option<Pointer>,
}

impl Refusal {
    /// A refusal of the whole input.
    pub fn new(kind: RefusalKind, code: &'static str, sentence: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, code, sentence: sentence.into(), pointer: None }
    }

    /// The state does not allow it.
    pub fn conflict(code: &'static str, sentence: impl Into<Cow<'static, str>>) -> Self {
        Self::new(RefusalKind::Conflict, code, sentence)
    }

    /// The input is at fault at a place.
    pub fn invalid(pointer: &Pointer, code: &'static str, sentence: impl Into<Cow<'static, str>>) -> Self {
        Self { pointer: Some(pointer.clone()), ..Self::new(RefusalKind::Invalid, code, sentence) }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self { kind: RefusalKind::Invalid, code: fault.code.as_str(), sentence: fault.sentence, pointer: Some(fault.pointer) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.sentence, self.code)
    }
}

impl std::error::Error for Refusal {}
