//! Replays recorded rows against the gate, directly or through its MCP server, and asks the reference for fresh ones.

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
