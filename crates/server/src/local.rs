//! The local channel: how `admin` and `mcp` reach the process that owns the data folder.
//!
//! The owner listens at a Unix socket in the data folder, which nobody else can look into. It greets each caller with a
//! line, the caller asks with one, `{"do": "admin", "command": {...}}` or `{"do": "mcp", "key"?, "agent"?}`, and the owner
//! answers with one, `{"ok": {...}}` or `{"error": {...}, "status": N}`. After the answer to `mcp` both directions carry MCP
//! messages, a line each.
//!
//! The greeting tells a caller that the owner is alive: until it comes nothing was asked, so that a caller whose owner went
//! away may ask somebody else; after it, a command is never sent twice.

mod caller;
mod owner;
#[cfg(test)]
mod tests;

use std::{fmt, io, path::PathBuf, time::Duration};

use lcp::{Object, Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::unix::{OwnedReadHalf, OwnedWriteHalf},
};

pub use self::{
    caller::{Connection, Reach, own, reach},
    owner::{Channel, Owner},
};
use crate::{
    Problem,
    admin::AdminCommand,
    data_folder::{DataFolder, FolderError},
};

/// How long a line may be: a policy document and what stands around it.
const MAX_LINE: u64 = 4 << 20;

/// How long between two looks at an owner that starts or stops.
const PAUSE: Duration = Duration::from_millis(25);

/// How long the path of a socket may be where the system has no shorter name for the folder, in bytes.
const MAX_SOCKET_PATH: usize = 100;

/// Whom a development session speaks for: the holder of a key, an agent, or else the sandbox's agent.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Who {
    /// A key.
    pub key: Option<String>,
    /// An agent's id.
    pub agent: Option<String>,
}

/// The key stays out.
impl fmt::Debug for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Who").field("key", &self.key.as_ref().map(|_| "…")).field("agent", &self.agent).finish()
    }
}

/// What a caller asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// To run a command of the operator.
    Admin(AdminCommand),
    /// To open a development session.
    Mcp(Who),
}

impl Request {
    /// Reads a caller's line.
    ///
    /// # Errors
    /// 422 `invalid_command`.
    pub fn read(line: &str) -> Result<Self, Problem> {
        let value = json::parse(line, json::MAX_DEPTH).map_err(|_| Problem::new(422, "invalid_command", "The request is not JSON."))?;
        Self::from_json(&value)
    }

    /// The line's object.
    pub fn to_json(&self) -> Object {
        match self {
            Self::Admin(command) => Object::new().with("do", "admin").with("command", command.to_json()),
            Self::Mcp(who) => Object::new().with("do", "mcp").with_some("key", who.key.as_deref()).with_some("agent", who.agent.as_deref()),
        }
    }

    fn from_json(value: &Value) -> Result<Self, Problem> {
        let malformed = || Problem::new(422, "invalid_command", "The request is not one of this version: restart the server after an update.");
        let text = |name: &str| match value.get(name) {
            None => Ok(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())).ok_or_else(malformed),
        };
        match value.get("do").and_then(Value::as_str) {
            Some("admin") => {
                let command = value.get("command").and_then(Value::as_object).ok_or_else(malformed)?;
                AdminCommand::from_json(command).map(Self::Admin)
            }
            Some("mcp") => Ok(Self::Mcp(Who { key: text("key")?, agent: text("agent")? })),
            _ => Err(malformed()),
        }
    }
}

/// Why the owner could not be asked.
#[derive(Debug)]
pub enum LocalError {
    /// The folder cannot be owned.
    Folder(FolderError),
    /// The socket's path is too long for the system.
    TooLong(PathBuf),
    /// The owner stopped before it was asked: ask again, for another may own the folder now, or nobody.
    Stopped,
    /// The owner went away before it answered: whether the command was done is not known.
    Unanswered,
    /// The system refuses.
    Io(io::Error),
}

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(error) => error.fmt(f),
            Self::TooLong(path) => write!(f, "{}: the path is too long for a socket: use a data folder with a shorter path", path.display()),
            Self::Stopped => f.write_str("the server has just stopped: try again"),
            Self::Unanswered => f.write_str("the server went away before it answered: see with `chancery admin` whether the command was done"),
            Self::Io(error) => write!(f, "the server's socket: {error}"),
        }
    }
}

impl std::error::Error for LocalError {}

impl From<io::Error> for LocalError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Opens the folder's socket by a name that is short enough for the system, whatever the folder's own.
fn with_socket<T>(folder: &DataFolder, open: impl FnOnce(PathBuf) -> io::Result<T>) -> Result<T, LocalError> {
    let path = folder.socket();
    if path.as_os_str().len() <= MAX_SOCKET_PATH {
        return Ok(open(path)?);
    }
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        // The name leads through the open folder, so it must outlive the call.
        let folder = std::fs::File::open(folder.path())?;
        Ok(open(PathBuf::from(format!("/proc/self/fd/{}/control.sock", folder.as_raw_fd())))?)
    }
    #[cfg(not(target_os = "linux"))]
    Err(LocalError::TooLong(path))
}

async fn write_line(write: &mut OwnedWriteHalf, object: Object) -> io::Result<()> {
    let mut line = json::write(&object.into());
    line.push('\n');
    write.write_all(line.as_bytes()).await
}

/// A line without its end; `None` if the other side left before it was whole, or sent too much.
async fn read_line(read: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<String>> {
    let mut line = String::new();
    read.take(MAX_LINE).read_line(&mut line).await?;
    Ok(line.ends_with('\n').then(|| line.trim_end().to_owned()))
}

/// A problem as it crosses.
fn refused(problem: &Problem) -> Object {
    problem.to_json().with("status", u32::from(problem.status))
}

/// Reads back what [`refused`] wrote.
fn problem(answer: &Value) -> Option<Problem> {
    let error = answer.get("error")?;
    Some(Problem {
        status: answer.get("status")?.as_safe_unsigned()?.try_into().ok()?,
        code: error.get("code")?.as_str()?.to_owned().into(),
        message: error.get("message")?.as_str()?.to_owned().into(),
        details: error.get("details").and_then(Value::as_object).cloned(),
        retry_after: None,
    })
}
