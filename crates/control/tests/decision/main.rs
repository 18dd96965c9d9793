//! Each rule of a policy decides as `docs/policy.md` and `docs/decision.md` say, and what must hold of every decision does.
#![allow(clippy::unwrap_used)] // helpers of tests fail by panicking

mod case;
mod properties;
mod rules;
