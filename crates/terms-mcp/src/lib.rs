//! The buyer gate as Model Context Protocol tools.
//!
//! [`BuyerServer`] offers the operations of [`terms`] over any network, clock and wallet; [`serve`] speaks MCP on a pair
//! of byte streams, such as a process's stdin and stdout. Each tool is one call of the gate: the arguments are checked
//! against the tool's table, what must come back unchanged is held to its mac, and the result crosses as JSON.
//!
//! ```no_run
//! # async fn example(network: impl terms_mcp::Fetch + 'static, clock: impl terms_mcp::Env + 'static) -> std::io::Result<()> {
//! let server = terms_mcp::BuyerServer::new(network, clock);
//! terms_mcp::serve(server, tokio::io::stdin(), tokio::io::stdout()).await
//! # }
//! ```

mod arguments;
mod mcp;
#[cfg(test)]
mod recorded;
mod schema;
mod seal;
mod server;
mod tools;

pub use lcp::{Object, Value, registry::PAIRINGS as BINDINGS};
pub use mcp::serve;
pub use server::BuyerServer;
pub use terms::{Body, Env, Fetch, FetchFailed, NoSigner, Request, Response, Signer, SignerFailed};

/// The macs of this process, for a tool that drives the server with values of its own.
#[doc(hidden)]
pub mod sealing {
    pub use crate::seal::{chosen, hold, opening};
}

/// The README's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
