//! What becomes of payments: each command by itself, what the record and the views hold, and what must hold whatever
//! happens in whatever order.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

mod commands;
mod docs;
mod records;
mod simulation;
mod views;
mod world;
