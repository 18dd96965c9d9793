//! The payment tools over the Model Context Protocol: Streamable HTTP for agents, lines on a pair of byte streams for
//! development.
//!
//! The server keeps no session: every request stands alone, in the revisions that open with `initialize` and in the one
//! whose requests carry their own metadata. A call is guarded against card numbers, held to the schema that is listed, and
//! then handed to the service; results and refusals are JSON, in structured content and in one block of text alike.

mod arguments;
mod handler;
mod http;
mod lines;
mod message;
mod operations;
mod schema;
mod stdio;
#[cfg(test)]
mod tests;
mod tools;
mod transport;
mod view;

pub use http::{McpSettings, router};
pub use stdio::serve_stdio;
