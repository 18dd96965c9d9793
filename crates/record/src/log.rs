//! An organization's log: an append-only Merkle tree (RFC 6962 section 2.1, RFC 9162 section 2.1) whose leaf data are
//! the 32-byte hashes of its sealed records in chain order, so that a leaf's index is its record's `seq`.
//!
//! The tree is laid out as C2SP tlog-tiles and its head is a C2SP checkpoint, so that tools we did not write can read
//! it. What must be stored is every complete subtree's hash by [`NodeId`]; [`RightEdge::append`] names the new ones,
//! two on average. Everything else is found from a few of them: a [`Plan`] names which a proof needs before it is
//! asked for the proof, so that a caller can fetch them at once.

mod checkpoint;
mod note;
mod tile;
mod tree;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use note::{MAX_NOTE, MAX_SIGNATURES, Note, NoteError, NoteSignature, is_key_name, verifier_key};
pub use tile::{Rows, Tile, entry_bundle, hash_tile};
pub use tree::{MAX_SIZE, Node, NodeId, Plan, RightEdge, empty_root, leaf_hash, node_hash, verify_consistency, verify_inclusion};
