use std::fmt;

use lcp::{Object, Value};

/// What one check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It holds.
    Pass,
    /// It does not hold.
    Fail,
    /// It could not be made, or there is nothing to check.
    Skip,
}

/// One check of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name; the names and their order are part of the format.
    pub name: &'static str,
    /// What it found.
    pub status: Status,
    /// Why.
    pub detail: String,
}

/// What the checks come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No check failed, and the record is signed by a key that the caller trusts and stands in the log that such a key
    /// signed. Checks may have been skipped; the report says which.
    Verified,
    /// No check failed, but one without which nothing is proven was skipped: the keys came with the bundle alone, or
    /// the proof from the log is missing.
    Incomplete,
    /// The record is not sealed yet.
    Open,
    /// A check failed.
    Fails,
}

/// The outcome of a verification: every check, in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The record's id, if it could be read.
    pub record_id: Option<String>,
    /// The checks, always the same ones in the same order.
    pub checks: Vec<Check>,
    /// What they come to.
    pub verdict: Verdict,
}

/// The checks without which nothing is proven.
const ESSENTIAL: [&str; 9] = ["bundle", "canonical", "format", "hash", "signature", "key_trusted", "key_valid", "inclusion", "checkpoint"];

impl Status {
    /// `PASS`, `FAIL` or `SKIP`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Skip => "SKIP",
        }
    }
}

impl Verdict {
    /// The verdict's word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Incomplete => "incomplete",
            Self::Open => "open",
            Self::Fails => "fails",
        }
    }
}

impl Report {
    pub(crate) fn of(record_id: Option<String>, checks: Vec<Check>) -> Self {
        let any = |status| checks.iter().any(|check| check.status == status);
        let verdict = if any(Status::Fail) {
            Verdict::Fails
        } else if ESSENTIAL.iter().all(|name| checks.iter().any(|check| check.name == *name && check.status == Status::Pass)) {
            Verdict::Verified
        } else {
            Verdict::Incomplete
        };
        Self { record_id, checks, verdict }
    }

    /// The verdict in a sentence, with the checks that failed or were skipped.
    pub fn summary(&self) -> String {
        let names = |status| {
            let names: Vec<_> = self.checks.iter().filter(|check| check.status == status).map(|check| check.name).collect();
            if names.is_empty() { "none".into() } else { names.join(", ") }
        };
        let passed = self.checks.iter().filter(|check| check.status == Status::Pass).count();
        match self.verdict {
            Verdict::Open => "The record is open: there is nothing to verify until it is sealed.".into(),
            Verdict::Fails => format!("The record does not verify. Failed: {}.", names(Status::Fail)),
            Verdict::Incomplete => format!("Nothing failed, but not enough was checked to rely on the record. Skipped: {}.", names(Status::Skip)),
            Verdict::Verified => format!("The record verifies: {passed} checks passed. Skipped: {}.", names(Status::Skip)),
        }
    }

    /// The report in JSON.
    pub fn to_json(&self) -> Object {
        let checks = self.checks.iter().map(|check| {
            let check = Object::new().with("name", check.name).with("result", check.status.as_str()).with("detail", &*check.detail);
            Value::from(check)
        });
        Object::new()
            .with("record_id", self.record_id.as_deref().map_or(Value::Null, Value::from))
            .with("verdict", self.verdict.as_str())
            .with("summary", self.summary())
            .with("checks", checks.collect::<Vec<_>>())
    }
}

/// A line for each check, and the summary.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            writeln!(f, "{}  {:<11}  {}", check.status.as_str(), check.name, check.detail)?;
        }
        f.write_str(&self.summary())
    }
}
