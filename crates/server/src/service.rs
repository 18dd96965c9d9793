//! The application: each method loads what a command needs, runs one pure command of `control`, and saves what follows.
//!
//! A method that changes something runs as one closure on the store's writer: alone, in a savepoint, and answered after
//! the commit that holds it. A method that only reads runs on one of the store's readers.

mod admin;
mod agents;
mod approvals;
mod clock;
mod consents;
mod jobs;
mod keys;
mod mandates;
mod open;
mod payments;
mod people;
mod policies;
mod query;
mod records;
mod save;
mod secret;
mod sellers;
mod settings;
mod simulate;
mod standing;
mod tries;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use control::{
    Instant, Refusal, RefusalKind,
    ids::PolicyId,
    payment::{Desk, Links},
    rail::Rail,
};
use lcp::{
    Object, Value,
    jose::{Ed25519Key, Jwks},
    json,
};
use store::{Cursor, Page, Reader, Store, StoreError, Tx, Vault, VaultError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub use approvals::ApprovalPage;
pub use clock::{Clock, SystemClock};
pub use open::{FirstStart, Paths, ServiceOptions};
pub use payments::Answered;
pub(crate) use payments::{MAX_IDEMPOTENCY_KEY, MAX_WAIT};
pub(crate) use people::{PASSWORD_LENGTHS, SETUP_SECONDS};
pub use people::{SessionToken, SetupView, Verdict};
pub(crate) use query::MAX_LIMIT;
pub use query::Query;

use crate::Problem;
use clock::OsIds;
use policies::Loaded;
use tries::Tries;

/// How far a clock may be put back and still be waited for: five minutes.
const CLOCK_STEP_MILLIS: i64 = 300_000;

/// How deep our own stored documents nest at most.
const STORED_DEPTH: usize = 64;

/// What every surface calls. Clones are cheap and share one store.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

/// What the methods share.
struct Inner {
    store: Store,
    vault: Arc<Vault>,
    clock: Box<dyn Clock>,
    /// The latest time that was told, in milliseconds.
    latest: AtomicI64,
    /// The key that seals records, signs mandates, policies and the log's heads.
    key: Ed25519Key,
    /// That key's public half, and those of the keys before it.
    keys: Jwks,
    /// Where this server is reached, without a slash at the end; also who issues its mandates.
    base: String,
    rails: Vec<Box<dyn Rail>>,
    /// The operator's switch: the sandbox rail fails.
    rail_fails: Arc<AtomicBool>,
    is_sandbox: bool,
    /// Policy versions that were read and whose signature was checked.
    policies: Mutex<HashMap<(PolicyId, u32), Arc<Loaded>>>,
    /// How often each name was tried with a wrong password.
    tries: Tries,
    /// How many passwords are hashed at once: each takes a good part of memory and of a processor.
    hashing: Arc<Semaphore>,
    /// Once the server is ending, nobody waits for a person any more.
    ending: CancellationToken,
}

impl Service {
    /// Runs a command on the writer. It is answered after the commit that holds it.
    async fn write<T, F>(&self, command: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Inner, &mut Tx<'_>, Instant) -> Result<T, Problem> + Send + 'static,
    {
        let inner = self.inner.clone();
        let command = move |tx: &mut Tx<'_>| {
            let now = inner.now();
            command(&inner, tx, now)
        };
        self.inner.store.write(command).await
    }

    /// Runs a query on a reader, which sees all that was committed before.
    async fn read<T, F>(&self, query: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce(&Inner, &Reader<'_>, Instant) -> Result<T, Problem> + Send + 'static,
    {
        let inner = self.inner.clone();
        let query = move |reader: &Reader<'_>| {
            let now = inner.now();
            query(&inner, reader, now)
        };
        self.inner.store.read(query).await
    }
}

impl Inner {
    /// Runs one command of the core at its desk.
    fn at_desk<T>(&self, now: Instant, command: impl FnOnce(&mut Desk<'_>) -> T) -> T {
        let rails: Vec<&dyn Rail> = self.rails.iter().map(AsRef::as_ref).collect();
        command(&mut Desk { now, ids: &mut OsIds, issuer: &self.base, key: &self.key, rails: &rails })
    }

    /// The time. A clock that is put back a little is waited for, so that what is over stays over; one that is put back a lot
    /// was wrong before, and is followed.
    fn now(&self) -> Instant {
        let (now, latest) = (self.clock.now().millis(), self.latest.load(Ordering::Relaxed));
        if (latest.saturating_sub(CLOCK_STEP_MILLIS)..latest).contains(&now) {
            return Instant::from_millis(latest);
        }
        self.latest.store(now, Ordering::Relaxed);
        Instant::from_millis(now)
    }

    fn links(&self) -> Links<'_> {
        Links { base: &self.base }
    }

    /// Seals a document that holds secrets, for one place in the database.
    fn seal_secrets(&self, place: &str, secrets: Object) -> Result<Vec<u8>, Problem> {
        Ok(self.vault.seal(place, json::write(&secrets.into()).as_bytes())?)
    }

    /// Opens what [`Self::seal_secrets`] sealed for that place; `what` names it in the problem.
    fn open_secrets(&self, place: &str, sealed: &[u8], what: &'static str) -> Result<Value, Problem> {
        json::parse_bytes(&self.vault.open(place, sealed)?, STORED_DEPTH).map_err(|_| unreadable(what))
    }
}

/// Reads a document of ours back; `what` names it in the problem.
fn stored<T>(doc: &str, what: &'static str, read: impl FnOnce(&Value) -> Option<T>) -> Result<T, Problem> {
    json::parse(doc, STORED_DEPTH).ok().and_then(|value| read(&value)).ok_or_else(|| unreadable(what))
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::new(503, error.code(), error.to_string()).retry_after(1)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal.kind {
            RefusalKind::Invalid => 422,
            RefusalKind::NotFound => 404,
            RefusalKind::Forbidden => 403,
            RefusalKind::Conflict => 409,
        };
        let problem = Self::new(status, refusal.code, refusal.sentence);
        match refusal.pointer {
            Some(pointer) => problem.with_details(Object::new().with("pointer", pointer.as_str())),
            None => problem,
        }
    }
}

impl From<control::Fault> for Problem {
    fn from(fault: control::Fault) -> Self {
        Refusal::from(fault).into()
    }
}

impl From<VaultError> for Problem {
    fn from(error: VaultError) -> Self {
        Self::new(500, error.code(), error.to_string())
    }
}

/// A page of a list as the client reads it.
fn page(data: Vec<Value>, next: Option<&Cursor>) -> Object {
    Object::new().with("data", data).with("next_cursor", next.map_or(Value::Null, |cursor| cursor.to_string().into()))
}

/// A page of rows as the client reads it, each row shown.
fn shown_page<T>(found: &Page<T>, shown: impl Fn(&T) -> Result<Object, Problem>) -> Result<Object, Problem> {
    Ok(page(found.rows.iter().map(|row| shown(row).map(Value::from)).collect::<Result<_, _>>()?, found.next.as_ref()))
}

/// A stored document that does not read: the database was changed from outside, or by a later version.
fn unreadable(what: &'static str) -> Problem {
    Problem::new(500, "stored_unreadable", format!("The stored {what} does not read: restore the database, or start the version that wrote it."))
}
