//! The caller's end of the channel: reaching the owner, or becoming it.

use std::{io, time::Duration};

use lcp::{
    Object, Value,
    json::{self, MAX_DEPTH},
};
use tokio::{
    io::BufReader,
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::{Instant, sleep, timeout_at},
};

use super::{LocalError, PAUSE, Request, Who, problem, read_line, with_socket, write_line};
use crate::{
    Problem,
    admin::AdminCommand,
    data_folder::{DataFolder, FolderError, Lock},
};

/// How long a caller waits for an owner that starts or stops.
const PATIENCE: Duration = Duration::from_secs(15);

/// A caller's end: an owner that greeted.
#[derive(Debug)]
pub struct Connection {
    pub(super) read: BufReader<OwnedReadHalf>,
    pub(super) write: OwnedWriteHalf,
}

/// How the folder is worked with: through its owner, or by being it.
#[derive(Debug)]
pub enum Reach {
    /// A process owns it, and this is the line to it.
    Through(Connection),
    /// This process owns it now.
    Owning(Lock),
}

/// Reaches the owner of the folder, or becomes it. Waits a little for one that is starting or stopping.
///
/// # Errors
/// If the folder has an owner that does not answer.
pub async fn reach(folder: &DataFolder) -> Result<Reach, LocalError> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(connection) = greeted(folder, until).await? {
            return Ok(Reach::Through(connection));
        }
        if let Some(lock) = lock_unless_owned(folder, until)? {
            return Ok(Reach::Owning(lock));
        }
        sleep(PAUSE).await;
    }
}

/// Becomes the folder's owner. Waits a little for one that is stopping, and for a command that is the owner for a moment.
///
/// # Errors
/// If the folder has an owner that stays.
pub async fn own(folder: &DataFolder) -> Result<Lock, LocalError> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(lock) = lock_unless_owned(folder, until)? {
            return Ok(lock);
        }
        // Only an owner that means to stay answers.
        if greeted(folder, until).await?.is_some() {
            return match folder.lock() {
                Ok(lock) => Ok(lock),
                Err(error) => Err(LocalError::Folder(error)),
            };
        }
        sleep(PAUSE).await;
    }
}

fn lock_unless_owned(folder: &DataFolder, until: Instant) -> Result<Option<Lock>, LocalError> {
    match folder.lock() {
        Ok(lock) => Ok(Some(lock)),
        Err(FolderError::Owned(..)) if Instant::now() < until => Ok(None),
        Err(error) => Err(LocalError::Folder(error)),
    }
}

/// The line to an owner that is there and greets.
async fn greeted(folder: &DataFolder, until: Instant) -> Result<Option<Connection>, LocalError> {
    // Connecting to a Unix socket does not wait for the other side, so it needs no reactor.
    let stream = match with_socket(folder, std::os::unix::net::UnixStream::connect) {
        Ok(stream) => stream,
        Err(LocalError::Io(error)) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => return Ok(None),
        Err(error) => return Err(error),
    };
    stream.set_nonblocking(true)?;
    let (read, write) = UnixStream::from_std(stream)?.into_split();
    let mut read = BufReader::new(read);
    match timeout_at(until, read_line(&mut read)).await {
        Ok(Ok(Some(_))) => Ok(Some(Connection { read, write })),
        _ => Ok(None),
    }
}

impl Connection {
    /// Has the owner run a command.
    ///
    /// # Errors
    /// The inner one is the owner's refusal.
    pub async fn admin(mut self, command: AdminCommand) -> Result<Result<Object, Problem>, LocalError> {
        self.ask(&Request::Admin(command)).await
    }

    /// Opens a development session: what to read MCP messages from, and what to write them to.
    ///
    /// # Errors
    /// The inner one is the owner's refusal.
    pub async fn mcp(mut self, who: Who) -> Result<Result<(BufReader<OwnedReadHalf>, OwnedWriteHalf), Problem>, LocalError> {
        Ok(self.ask(&Request::Mcp(who)).await?.map(|_| (self.read, self.write)))
    }

    async fn ask(&mut self, request: &Request) -> Result<Result<Object, Problem>, LocalError> {
        let asked = write_line(&mut self.write, request.to_json()).await;
        // An owner that stopped said so before it closed, and what cannot be sent whole is not run.
        let Ok(Some(line)) = read_line(&mut self.read).await else {
            return Err(if asked.is_ok() { LocalError::Unanswered } else { LocalError::Stopped });
        };
        let answer = json::parse(&line, MAX_DEPTH).map_err(|_| LocalError::Unanswered)?;
        if answer.get("stopped").is_some() {
            return Err(LocalError::Stopped);
        }
        if let Some(object) = answer.get("ok").and_then(Value::as_object) {
            return Ok(Ok(object.clone()));
        }
        problem(&answer).map(Err).ok_or(LocalError::Unanswered)
    }
}
