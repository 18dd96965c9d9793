//! Replays recorded rows against the gate, directly or through its MCP server, asks the reference for fresh ones, and
//! simulates the control plane's core.

pub mod compare;
pub mod guide;
pub mod library;
pub mod mcp;
pub mod oracle;
pub mod pairings;
pub mod readers;
pub mod replay;
pub mod row;
pub mod scripted;
pub mod simulate;
pub mod world;
