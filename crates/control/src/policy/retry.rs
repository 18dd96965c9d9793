//! `retry_policy`: how often a payment that failed may be asked for again.

use crate::{Fault, read::Field};

/// The retry rule, signed into the mandate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Most attempts, the first included.
    pub max_attempts: u32,
    /// Within so many seconds of the first.
    pub window_seconds: u32,
    /// Whether every attempt must be for the first one's amount.
    pub same_amount_only: bool,
}

impl RetryPolicy {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let members = field.members(&["max_attempts", "window_seconds", "same_amount_only"])?;
        Ok(Self {
            max_attempts: members.required("max_attempts")?.integer(1..=100)?,
            window_seconds: members.required("window_seconds")?.integer(1..=super::MAX_SECONDS)?,
            same_amount_only: members.required("same_amount_only")?.boolean()?,
        })
    }

    /// As a mandate carries it.
    pub fn to_json(&self) -> lcp::Object {
        lcp::Object::new()
            .with("max_attempts", self.max_attempts)
            .with("window_seconds", self.window_seconds)
            .with("same_amount_only", self.same_amount_only)
    }
}
