//! Records: what an organization's payments leave behind, sealed so that a stranger can check it without a server.
//!
//! A [`Record`] is a JSON object in RFC 8785 form. Sealing gives it its place in the organization's chain (`seq`, and
//! `prev`, the hash of the record before it) and an Ed25519 signature over exactly its bytes. The SHA-256 of those bytes
//! is a leaf of the organization's Merkle log ([`log`]). A [`Bundle`] holds a record with all that its proof needs, and
//! [`verify()`] judges a bundle check by check. `docs/record.md` says the format byte by byte.
//!
//! Nothing here does I/O, reads a clock or draws randomness.

mod bundle;
mod canonical;
mod chain;
mod digest;
mod kind;
pub mod log;
mod mandate;
mod policy;
mod record;
mod report;
mod seal;
mod time;
mod verify;

pub use bundle::{Bundle, Content, Contents, Fault, Inclusion, MAX_BUNDLE, open_bundle};
pub use canonical::{MAX_TEXT, Unfit};
pub use chain::{Chain, ChainBreak};
pub use digest::{digest_from_text, digest_text};
pub use kind::Kind;
pub use mandate::MANDATE_TYP;
pub use policy::{PolicyUnsigned, sign_policy};
pub use record::{Body, Link, MAX_PARENTS, Place, Record, RecordError, Unreadable};
pub use report::{Check, Report, Status, Verdict};
pub use seal::{SealFault, Sealed};
pub use time::{time_from_text, time_text};
pub use verify::{verify, verify_bytes};

/// The format that every record and bundle names in its member `format`.
pub const FORMAT: &str = "enruta/0.3";
