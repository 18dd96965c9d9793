//! The one thread that writes: it takes all commands that wait, runs each in a savepoint, commits them together, and
//! only then answers.

use std::{
    collections::VecDeque,
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind},
};

use control::ids::RequestId;
use rusqlite::{Connection, Params};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::{Reader, StoreError, store::Shared};

/// The most commands that are committed together.
const MAX_BATCH: usize = 256;

/// What a command reads and writes with. What it does is kept only if the command succeeds and the commit holds.
#[derive(Debug)]
pub struct Tx<'a> {
    reader: Reader<'a>,
    changed: Vec<RequestId>,
}

impl<'a> Deref for Tx<'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Self::Target {
        &self.reader
    }
}

impl<'a> Tx<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { reader: Reader::new(connection), changed: Vec::new() }
    }

    /// Says that the request changed: once that is committed, [`crate::Store::changes`] tells.
    pub fn changed(&mut self, request: &RequestId) {
        self.changed.push(request.clone());
    }

    /// Runs a statement and gives the number of rows it changed.
    pub(crate) fn run(&mut self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        self.reader.execute(sql, params)
    }
}

/// A command that waits to be run and answered.
pub(crate) trait Job: Send {
    /// Runs it and gives whether what it did is to be kept.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;

    /// Tells the caller what came of it, or why it did not happen.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

pub(crate) struct Command<F, T, E> {
    work: Option<F>,
    outcome: Option<Result<T, E>>,
    caller: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Command<F, T, E> {
    pub(crate) fn new(command: F, caller: oneshot::Sender<Result<T, E>>) -> Self {
        Self { work: Some(command), outcome: None, caller }
    }
}

impl<F, T, E> Job for Command<F, T, E>
where
    F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        if let Some(command) = self.work.take() {
            // What a panic leaves behind is rolled back.
            self.outcome = catch_unwind(AssertUnwindSafe(|| command(tx))).ok();
        }
        matches!(self.outcome, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let outcome = self.outcome.unwrap_or_else(|| Err(panicked().into()));
        // The caller may have stopped waiting.
        let _ = self.caller.send(committed.map_err(E::from).and(outcome));
    }
}

pub(crate) fn panicked() -> StoreError {
    StoreError::Other("a command ended in a way that is a fault of this program".into())
}

/// Takes commands until nobody can send any more.
pub(crate) fn run(connection: &Connection, mut jobs: mpsc::Receiver<Box<dyn Job>>, changes: &broadcast::Sender<RequestId>, shared: &Shared) {
    let mut batch = VecDeque::new();
    while let Some(job) = jobs.blocking_recv() {
        batch.push_back(job);
        while batch.len() < MAX_BATCH
            && let Ok(job) = jobs.try_recv()
        {
            batch.push_back(job);
        }
        while !batch.is_empty() {
            commit_together(connection, &mut batch, changes, shared);
        }
    }
}

/// Runs commands of the batch in one transaction, and answers those that it ran. Commands are left over only when
/// the database gave up the transaction in the midst of it.
fn commit_together(connection: &Connection, batch: &mut VecDeque<Box<dyn Job>>, changes: &broadcast::Sender<RequestId>, shared: &Shared) {
    let begun = shared.damage().map_or_else(|| statement(connection, "BEGIN IMMEDIATE"), Err);
    if let Err(error) = begun {
        shared.note(&error);
        batch.drain(..).for_each(|job| job.answer(Err(error.clone())));
        return;
    }
    let (mut ran, mut changed, mut committed) = (Vec::with_capacity(batch.len()), Vec::new(), Ok(()));
    while let Some(mut job) = batch.pop_front() {
        let (own, is_whole) = in_savepoint(connection, &mut *job);
        let own = own.map(|requests| changed.extend(requests)).inspect_err(|error| shared.note(error));
        // Without its transaction, or on a damaged file, nothing of the batch is kept.
        let is_over = !is_whole || shared.damage().is_some();
        if let (true, Err(error)) = (is_over, &own) {
            committed = Err(error.clone());
        }
        ran.push((job, own));
        if is_over {
            break;
        }
    }
    let committed = committed.and_then(|()| statement(connection, "COMMIT")).inspect_err(|error| {
        shared.note(error);
        if !connection.is_autocommit() {
            // If this fails too, the next BEGIN says so.
            let _ = statement(connection, "ROLLBACK");
        }
    });
    if committed.is_ok() {
        shared.count(ran.len());
        for request in changed {
            // Nobody may be listening.
            let _ = changes.send(request);
        }
    }
    // A refusal may rest on what an earlier command of the batch did, so it is told only if that is kept.
    for (job, own) in ran {
        job.answer(committed.clone().and(own));
    }
}

/// Runs a command and keeps or undoes what it did; gives the requests that it changed, or the fault of the database,
/// and whether the transaction holds all that was kept in it and nothing else.
fn in_savepoint(connection: &Connection, job: &mut dyn Job) -> (Result<Vec<RequestId>, StoreError>, bool) {
    if let Err(error) = statement(connection, "SAVEPOINT command") {
        return (Err(error), false);
    }
    let mut tx = Tx::new(connection);
    let is_kept = job.run(&mut tx);
    let (fault, changed) = (tx.fault(), tx.changed);
    let ended = if is_kept && fault.is_none() {
        statement(connection, "RELEASE command").map(|()| changed)
    } else {
        // A fault may have ended the whole transaction; then this fails.
        let undone = statement(connection, "ROLLBACK TO command").and_then(|()| statement(connection, "RELEASE command"));
        undone.map(|()| Vec::new())
    };
    let is_whole = ended.is_ok();
    (fault.map_or(ended, Err), is_whole)
}

fn statement(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    let run = || connection.prepare_cached(sql)?.execute([]);
    run().map(drop).map_err(|error| StoreError::of(&error))
}
