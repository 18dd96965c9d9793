//! The one place that speaks SQL.
//!
//! [`Store::write`] runs a command on the one thread that writes, [`Store::read`] a read on one of those that read. What
//! they can do are the methods of [`Tx`] and [`Reader`], one module for each topic; rows are plain structs, and what an
//! aggregate holds is a JSON text that this crate does not read. Secrets are sealed by a [`Vault`] before they come here.

mod agents;
mod approvals;
mod error;
mod idempotency;
mod jobs;
mod keys;
mod ledger;
mod log;
mod mandates;
mod open;
mod page;
mod payees;
mod people;
mod policies;
mod records;
mod requests;
mod settings;
mod sql;
mod store;
#[cfg(test)]
mod testing;
mod vault;
mod writer;

pub use agents::{AgentRow, ConsentRow};
pub use approvals::ApprovalRow;
pub use error::StoreError;
pub use idempotency::IdempotencyRow;
pub use jobs::JobRow;
pub use keys::{KeyRow, SigningKeyRow};
pub use mandates::{MandateFilter, MandateRow};
pub use page::{Cursor, MAX_PAGE, Page};
pub use people::{OrgRow, SessionRow, SetupLinkRow, TokenHash, UserRow};
pub use policies::PolicyRow;
pub use records::{RecordFilter, RecordMeta, RecordRow};
pub use requests::{MAX_EARLIER, RequestRow};
pub use settings::SettingsRow;
pub use sql::Reader;
pub use store::{Counts, Options, Store};
pub use vault::{Vault, VaultError};
pub use writer::Tx;
