//! The store: its threads, and the two ways in.

#[cfg(test)]
mod tests;

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use control::ids::RequestId;
use rusqlite::Connection;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::{
    Reader, StoreError, Tx, open,
    writer::{self, Command, Job, panicked},
};

/// How many commands, and how many reads, wait at most before callers wait to hand theirs over.
const QUEUE: usize = 1024;

/// How many changes a slow listener may be behind before it misses some.
const CHANGES: usize = 4096;

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether a commit is on the disk before it is answered. Only a test or a benchmark turns it off.
    pub synchronous: bool,
    /// How many threads read, at least one.
    pub readers: usize,
    /// How long to wait for another process that holds the database.
    pub busy_timeout: Duration,
    /// The most pages that the file may have; `None` for as many as fit on the disk.
    pub max_pages: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self { synchronous: true, readers: 2, busy_timeout: Duration::from_secs(5), max_pages: None }
    }
}

/// How much was written since the store was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Commands that were run and whose batch was committed, refused ones too.
    pub commands: u64,
    /// Commits.
    pub commits: u64,
}

/// An open database. Clones are cheap and share it; when the last is gone, the file is closed.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

struct Inner {
    writer: Pool<Box<dyn Job>>,
    readers: Pool<Read>,
    changes: broadcast::Sender<RequestId>,
    shared: Arc<Shared>,
}

/// Threads that take work from one queue until it closes.
struct Pool<T> {
    queue: Option<mpsc::Sender<T>>,
    threads: Vec<JoinHandle<()>>,
}

/// A read, which answers by itself.
type Read = Box<dyn FnOnce(&Connection) + Send>;

/// What the threads know in common.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    damage: Mutex<Option<StoreError>>,
    commands: AtomicU64,
    commits: AtomicU64,
}

impl Shared {
    /// Why nothing is written any more.
    pub(crate) fn damage(&self) -> Option<StoreError> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers that the database is damaged.
    pub(crate) fn note(&self, error: &StoreError) {
        if let StoreError::Corrupt(_) = error {
            self.damage.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.clone());
        }
    }

    pub(crate) fn count(&self, commands: usize) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.commands.fetch_add(commands as u64, Ordering::Relaxed);
    }
}

impl Store {
    /// Opens the database at that path, makes it if it is not there, and brings its schema up to date.
    pub fn open(path: &Path, options: &Options) -> Result<Self, StoreError> {
        let (changes, shared) = (broadcast::Sender::new(CHANGES), Arc::new(Shared::default()));
        let ((writer, jobs), (readers, reads)) = (Pool::new(), Pool::new());
        // Made at once, so that an error on the way ends the threads begun before it.
        let mut inner = Inner { writer, readers, changes: changes.clone(), shared: shared.clone() };
        let connection = open::writer(path, options)?;
        inner.writer.start("store-writer", move || writer::run(&connection, jobs, &changes, &shared))?;
        let reads = Arc::new(Mutex::new(reads));
        for _ in 0..options.readers.max(1) {
            let (connection, reads) = (open::reader(path, options)?, reads.clone());
            inner.readers.start("store-reader", move || serve(&connection, &reads))?;
        }
        Ok(Self(Arc::new(inner)))
    }

    /// Runs a command on the one thread that writes, and answers once it is committed. If the command gives an error,
    /// or ends in a panic, nothing that it did is kept; commands that are committed with it stay untouched.
    ///
    /// A command that was handed over is run even if the caller stops waiting.
    pub async fn write<T, E>(&self, command: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        self.0.writer.hand_over(Box::new(Command::new(command, caller))).await?;
        answer.await.map_err(|_| panicked())?
    }

    /// Runs a read on one of the threads that read: it sees the database as the last commit before it left it.
    pub async fn read<T, E>(&self, read: impl FnOnce(&Reader<'_>) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let shared = self.0.shared.clone();
        let read: Read = Box::new(move |connection| {
            let answer = in_snapshot(connection, read).inspect_err(|(_, fault)| fault.iter().for_each(|fault| shared.note(fault)));
            // The caller may have stopped waiting.
            let _ = caller.send(answer.map_err(|(error, _)| error));
        });
        self.0.readers.hand_over(read).await?;
        answer.await.map_err(|_| panicked())?
    }

    /// The requests that change from now on, each once it is committed.
    pub fn changes(&self) -> broadcast::Receiver<RequestId> {
        self.0.changes.subscribe()
    }

    /// How much was written.
    pub fn counts(&self) -> Counts {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts { commands: load(&self.0.shared.commands), commits: load(&self.0.shared.commits) }
    }
}

impl<T> Pool<T> {
    fn new() -> (Self, mpsc::Receiver<T>) {
        let (queue, waiting) = mpsc::channel(QUEUE);
        (Self { queue: Some(queue), threads: Vec::new() }, waiting)
    }

    fn start(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
        let thread = thread::Builder::new().name(name.into()).spawn(run);
        self.threads.push(thread.map_err(|_| StoreError::Other("a thread could not be started".into()))?);
        Ok(())
    }

    async fn hand_over(&self, work: T) -> Result<(), StoreError> {
        let queue = self.queue.as_ref().ok_or_else(panicked)?;
        queue.send(work).await.map_err(|_| panicked())
    }

    fn close(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A command may hold the last clone of its store.
            if thread.thread().id() != thread::current().id() {
                // The threads catch what panics.
                let _ = thread.join();
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The writer's connection is the last one, and folds the write-ahead log into the file.
        self.readers.close();
        self.writer.close();
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").field("shared", &self.shared).finish_non_exhaustive()
    }
}

/// Takes reads until nobody can send any more.
fn serve(connection: &Connection, waiting: &Mutex<mpsc::Receiver<Read>>) {
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        match next {
            Some(read) => read(connection),
            None => return,
        }
    }
}

/// Runs a read in a transaction, so that all it sees is of one moment. An error is given with the database's own fault.
fn in_snapshot<T, E: From<StoreError>>(
    connection: &Connection,
    read: impl FnOnce(&Reader<'_>) -> Result<T, E>,
) -> Result<T, (E, Option<StoreError>)> {
    let failed = |error: &rusqlite::Error| {
        let fault = StoreError::of(error);
        (fault.clone().into(), Some(fault))
    };
    let reader = Reader::new(connection);
    let transaction = connection.unchecked_transaction().map_err(|error| failed(&error))?;
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(&reader)));
    // Nothing was written: how it ends does not matter.
    let _ = transaction.rollback();
    outcome.unwrap_or_else(|_| Err(panicked().into())).map_err(|error| (error, reader.fault()))
}
