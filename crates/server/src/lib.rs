//! The payment control plane's shell: what stands between the pure core and the world.

pub mod admin;
pub mod caller;
pub mod config;
pub mod data_folder;
pub mod http;
pub mod local;
pub mod mcp;
pub mod pages;
pub mod problem;
pub mod public_url;
mod rest;
pub mod service;
pub mod temp_folder;

pub use caller::{Caller, Person};
pub use problem::Problem;
pub use service::Service;
