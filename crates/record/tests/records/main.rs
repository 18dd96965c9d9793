//! Records from seal to verdict.

#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

#[cfg(feature = "independent")]
mod independent;
mod page;
mod story;
mod verify;
