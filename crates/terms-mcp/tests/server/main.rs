//! The server as its client sees it: lines of JSON-RPC over two in-memory streams, against a scripted network and wallet.

#![allow(clippy::unwrap_used, clippy::expect_used)] // in tests, helpers too

mod any_json;
mod channels;
mod client;
mod ending;
mod eras;
mod lines;
mod listing;
mod macs;
mod mounted;
mod quickstart;
mod seller;
mod wallets;
mod world;
