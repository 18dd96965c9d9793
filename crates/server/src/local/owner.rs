//! The owner's end of the channel.

use std::{fs, future::Future, io, os::unix::fs::PermissionsExt};

use lcp::Object;
use tokio::{
    io::BufReader,
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::sleep,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{LocalError, PAUSE, Request, Who, read_line, refused, with_socket, write_line};
use crate::{Caller, Problem, Service, admin::AdminCommand, data_folder::Lock, mcp};

/// What the owner does for callers.
pub trait Owner: Clone + Send + Sync + 'static {
    /// Runs a command of the operator.
    fn admin(&self, command: AdminCommand) -> impl Future<Output = Result<Object, Problem>> + Send;

    /// Who the caller of a development session is.
    fn session(&self, who: &Who) -> impl Future<Output = Result<Self::Session, Problem>> + Send;

    /// Serves MCP to the caller until they leave.
    fn serve(&self, session: Self::Session, read: BufReader<OwnedReadHalf>, write: OwnedWriteHalf) -> impl Future<Output = ()> + Send;

    /// What [`Self::serve`] needs to know of the caller.
    type Session: Send;
}

impl Owner for Service {
    type Session = Caller;

    async fn admin(&self, command: AdminCommand) -> Result<Object, Problem> {
        self.admin(command).await
    }

    async fn session(&self, who: &Who) -> Result<Caller, Problem> {
        self.local_caller(who.key.as_deref(), who.agent.as_deref()).await
    }

    async fn serve(&self, caller: Caller, read: BufReader<OwnedReadHalf>, write: OwnedWriteHalf) {
        // A client that leaves is nobody to tell.
        let _ = mcp::serve_stdio(self.clone(), caller, read, write).await;
    }
}

/// The owner's end.
#[derive(Debug)]
pub struct Channel(pub(super) UnixListener);

impl Channel {
    /// Listens. The lock says that whoever left a socket there is gone, so it is replaced.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn bind(lock: &Lock) -> Result<Self, LocalError> {
        let path = lock.folder().socket();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let listener = with_socket(lock.folder(), UnixListener::bind)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        Ok(Self(listener))
    }

    /// Answers callers until it is stopped, then finishes with the commands that were begun. MCP sessions end with it.
    pub async fn serve(self, owner: impl Owner, stop: CancellationToken) {
        let callers = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.0.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (owner, stop) = (owner.clone(), stop.clone());
                    callers.spawn(async move {
                        // A caller that leaves is nobody to tell.
                        let _ = answer(stream, owner, stop).await;
                    });
                }
                // Out of descriptors, say: callers that are done give some back.
                Err(_) => sleep(PAUSE).await,
            }
        }
        drop(self.0);
        callers.close();
        callers.wait().await;
    }
}

async fn answer(stream: UnixStream, owner: impl Owner, stop: CancellationToken) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    write_line(&mut write, Object::new().with("chancery", env!("CARGO_PKG_VERSION"))).await?;
    let line = tokio::select! {
        // Said, so that the caller knows that nothing was done.
        () = stop.cancelled() => return write_line(&mut write, Object::new().with("stopped", true)).await,
        line = read_line(&mut read) => line?,
    };
    let Some(line) = line else { return Ok(()) };
    match Request::read(&line) {
        Err(problem) => write_line(&mut write, refused(&problem)).await,
        Ok(Request::Admin(command)) => {
            let answer = owner.admin(command).await;
            write_line(&mut write, answered(answer)).await
        }
        Ok(Request::Mcp(who)) => match owner.session(&who).await {
            Err(problem) => write_line(&mut write, refused(&problem)).await,
            Ok(session) => {
                write_line(&mut write, answered(Ok(Object::new()))).await?;
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = owner.serve(session, read, write) => {}
                }
                Ok(())
            }
        },
    }
}

fn answered(answer: Result<Object, Problem>) -> Object {
    match answer {
        Ok(object) => Object::new().with("ok", object),
        Err(problem) => refused(&problem),
    }
}
