//! What went wrong, as every surface says it: a stable code, a sentence that says what to do, and an HTTP status.

use std::{borrow::Cow, fmt};

use lcp::Object;

/// A refusal or a fault. It never repeats what was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// The stable code.
    pub code: Cow<'static, str>,
    /// One sentence that says what to do.
    pub message: Cow<'static, str>,
    /// More about it, such as the member at fault.
    pub details: Option<Object>,
    /// After how many seconds to try again.
    pub retry_after: Option<u32>,
}

impl Problem {
    /// A problem of that status, code and sentence.
    pub fn new(status: u16, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code: code.into(), message: message.into(), details: None, retry_after: None }
    }

    /// 404: nothing of that id that the caller may see.
    pub fn not_found() -> Self {
        Self::new(404, "not_found", "There is no such object for this key: check the id.")
    }

    /// 401: no key, or one that is not in use.
    pub fn unauthenticated() -> Self {
        Self::new(401, "unauthenticated", "Send a key that is in use, as Authorization: Bearer.")
    }

    /// 403: the key's role may not do this.
    pub fn forbidden() -> Self {
        Self::new(403, "forbidden", "A key of this role may not do this: use another key.")
    }

    /// 403: only a sandbox hands out keys.
    pub fn not_a_sandbox() -> Self {
        Self::new(403, "not_a_sandbox", "This server is no sandbox: ask its operator for a key.")
    }

    /// 501: the method is not served yet.
    pub fn not_available() -> Self {
        Self::new(501, "not_available", "This method is not available yet.")
    }

    /// The same, to be tried again after so many seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same, with more about it.
    #[must_use]
    pub fn with_details(mut self, details: Object) -> Self {
        self.details = Some(details);
        self
    }

    /// `{"error": {"code", "message", "details"}}`, as REST and MCP answer it.
    pub fn to_json(&self) -> Object {
        let error = Object::new().with("code", &*self.code).with("message", &*self.message).with_some("details", self.details.clone());
        Object::new().with("error", error)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Problem {}
