//! Linked records: what happened beside a payment, or after one, and is sealed as it happens.

use lcp::Object;

use crate::{fault::codes, ids::RecordId};

codes! {
    /// What a linked record tells of: its member `kind` (`docs/record.md`).
    pub enum LinkedKind {
        /// A consent was given.
        Consent = "consent",
        /// A consent was revoked.
        Revocation = "revocation",
        /// An agent was paused.
        Pause = "pause",
        /// An agent was resumed.
        Resume = "resume",
        /// An order was reported after its payment's record was sealed.
        Order = "order",
    }
}

/// A record to seal in the transaction of the event that it tells of.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedRecord {
    /// Its id.
    pub id: RecordId,
    /// What it tells of.
    pub kind: LinkedKind,
    /// The records that it follows from.
    pub parents: Vec<RecordId>,
    /// The members beside the format's own.
    pub members: Object,
}
