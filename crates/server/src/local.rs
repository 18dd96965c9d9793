//! The local channel: how `admin` and `mcp` reach the process that owns the data folder.
//!
//! The owner listens at a Unix socket in the data folder, which nobody else can look into. It greets each caller with a
//! line, the caller asks with one, `{"do": "admin", "command": {...}}` or `{"do": "mcp", "key"?, "agent"?}`, and the owner
//! answers with one, `{"ok": {...}}` or `{"error": {...}, "status": N}`. After the answer to `mcp` both directions carry MCP
//! messages, a line each.
//!
//! The greeting tells a caller that the owner is alive: until it comes nothing was asked, so that a caller whose owner went
//! away may ask somebody else; after it, a command is never sent twice.

use std::{fmt, fs, future::Future, io, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use lcp::{
    Object, Value,
    json::{self, MAX_DEPTH},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::{Instant, sleep, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Problem,
    admin::AdminCommand,
    data_folder::{DataFolder, FolderError, Lock},
};

/// How long a line may be: a policy document and what stands around it.
const MAX_LINE: u64 = 4 << 20;

/// How long a caller waits for an owner that starts or stops.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long between two looks at an owner that starts or stops.
const PAUSE: Duration = Duration::from_millis(25);

/// How long the path of a socket may be where the system has no shorter name for the folder, in bytes.
const MAX_SOCKET_PATH: usize = 100;

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
enum Request {
    Admin(AdminCommand),
    Mcp(Who),
}

impl Request {
    fn to_json(&self) -> Object {
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
        let folder = fs::File::open(folder.path())?;
        Ok(open(PathBuf::from(format!("/proc/self/fd/{}/control.sock", folder.as_raw_fd())))?)
    }
    #[cfg(not(target_os = "linux"))]
    Err(LocalError::TooLong(path))
}

/// The owner's end.
#[derive(Debug)]
pub struct Channel(UnixListener);

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
    let request = json::parse(&line, MAX_DEPTH).map_err(|_| Problem::new(422, "invalid_command", "The request is not JSON."));
    match request.and_then(|value| Request::from_json(&value)) {
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

fn refused(problem: &Problem) -> Object {
    problem.to_json().with("status", u32::from(problem.status))
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

/// A caller's end: an owner that greeted.
#[derive(Debug)]
pub struct Connection {
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
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

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use control::ids::AgentId;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::temp_folder::TempFolder;

    /// An owner that counts its commands, and echoes lines to those with the right key.
    #[derive(Clone, Default)]
    struct Echo(Arc<AtomicUsize>);

    impl Owner for Echo {
        type Session = String;

        async fn admin(&self, command: AdminCommand) -> Result<Object, Problem> {
            let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
            match command {
                AdminCommand::Status => Ok(Object::new().with("count", count as u64)),
                _ => Err(Problem::not_found().with_details(Object::new().with("count", count as u64))),
            }
        }

        async fn session(&self, who: &Who) -> Result<String, Problem> {
            who.key.clone().filter(|key| key == "right").ok_or_else(Problem::unauthenticated)
        }

        async fn serve(&self, session: String, mut read: BufReader<OwnedReadHalf>, mut write: OwnedWriteHalf) {
            while let Ok(Some(line)) = read_line(&mut read).await {
                write.write_all(format!("{session} {line}\n").as_bytes()).await.unwrap();
            }
        }
    }

    /// A folder with an owner.
    struct Owned {
        _temporary: TempFolder,
        folder: DataFolder,
        owner: Echo,
        stop: CancellationToken,
        serving: JoinHandle<Lock>,
    }

    fn folder_of(temporary: &TempFolder, name: &str) -> DataFolder {
        DataFolder::make(&temporary.path().join(name)).unwrap()
    }

    fn owned(name: &str) -> Owned {
        let temporary = TempFolder::new().unwrap();
        let folder = folder_of(&temporary, name);
        let (owner, stop, lock) = (Echo::default(), CancellationToken::new(), folder.lock().unwrap());
        let channel = Channel::bind(&lock).unwrap();
        let serving = tokio::spawn({
            let (owner, stop) = (owner.clone(), stop.clone());
            async move {
                channel.serve(owner, stop).await;
                lock
            }
        });
        Owned { _temporary: temporary, folder, owner, stop, serving }
    }

    async fn through(folder: &DataFolder) -> Connection {
        match reach(folder).await.unwrap() {
            Reach::Through(connection) => connection,
            Reach::Owning(_) => panic!("owned"),
        }
    }

    fn pause() -> AdminCommand {
        AdminCommand::AgentPause { agent: AgentId::of([1; 16]), reason: Some("\"quoted\"".to_owned()) }
    }

    #[tokio::test]
    async fn commands_reach_the_owner_and_are_answered() {
        let owned = owned("data");
        let mode = fs::metadata(owned.folder.socket()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(through(&owned.folder).await.admin(AdminCommand::Status).await.unwrap(), Ok(Object::new().with("count", 1u32)));
        let problem = through(&owned.folder).await.admin(pause()).await.unwrap().unwrap_err();
        assert_eq!(problem, Problem::not_found().with_details(Object::new().with("count", 2u32)));
        owned.stop.cancel();
        owned.serving.await.unwrap();
    }

    #[tokio::test]
    async fn a_session_carries_lines_both_ways() {
        let owned = owned("data");
        let who = |key: &str| Who { key: Some(key.to_owned()), agent: None };
        assert_eq!(through(&owned.folder).await.mcp(who("wrong")).await.unwrap().unwrap_err(), Problem::unauthenticated());
        let (mut read, mut write) = through(&owned.folder).await.mcp(who("right")).await.unwrap().unwrap();
        for line in ["one", "two"] {
            write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            assert_eq!(read_line(&mut read).await.unwrap(), Some(format!("right {line}")));
        }
        assert!(!format!("{:?}", who("right")).contains("right"));
        owned.stop.cancel();
        owned.serving.await.unwrap();
        assert_eq!(read_line(&mut read).await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_folder_with_a_long_path_has_a_socket_too() {
        let owned = owned(&"d".repeat(200));
        assert_eq!(through(&owned.folder).await.admin(AdminCommand::Status).await.unwrap(), Ok(Object::new().with("count", 1u32)));
        owned.stop.cancel();
        owned.serving.await.unwrap();
    }

    #[tokio::test]
    async fn what_an_owner_that_stops_was_not_asked_is_not_done() {
        let owned = owned("data");
        let connection = through(&owned.folder).await;
        owned.stop.cancel();
        drop(owned.serving.await.unwrap());
        assert!(matches!(connection.admin(AdminCommand::Status).await, Err(LocalError::Stopped)));
        assert_eq!(owned.owner.0.load(Ordering::Relaxed), 0);
        // The socket that was left is nobody's, and the next owner replaces it.
        assert!(owned.folder.socket().exists());
        let Reach::Owning(lock) = reach(&owned.folder).await.unwrap() else { panic!("not owned") };
        drop(Channel::bind(&lock).unwrap());
    }

    #[tokio::test]
    async fn an_owner_that_went_away_in_the_middle_is_said_to_have() {
        let temporary = TempFolder::new().unwrap();
        let folder = folder_of(&temporary, "data");
        let lock = folder.lock().unwrap();
        let Channel(listener) = Channel::bind(&lock).unwrap();
        let dying = tokio::spawn(async move {
            let (read, mut write) = listener.accept().await.unwrap().0.into_split();
            write_line(&mut write, Object::new().with("chancery", "0")).await.unwrap();
            read_line(&mut BufReader::new(read)).await.unwrap()
        });
        let connection = through(&folder).await;
        assert!(matches!(connection.admin(AdminCommand::Status).await, Err(LocalError::Unanswered)));
        assert!(dying.await.unwrap().is_some_and(|line| line.contains("status")));
    }

    #[tokio::test(start_paused = true)]
    async fn an_owner_that_does_not_listen_is_waited_for_only_so_long() {
        let temporary = TempFolder::new().unwrap();
        let folder = folder_of(&temporary, "data");
        let lock = folder.lock().unwrap();
        assert!(matches!(reach(&folder).await, Err(LocalError::Folder(FolderError::Owned(..)))));
        assert!(matches!(own(&folder).await, Err(LocalError::Folder(FolderError::Owned(..)))));
        drop(lock);
        assert!(matches!(reach(&folder).await, Ok(Reach::Owning(_))));
    }

    #[tokio::test]
    async fn an_owner_that_stays_is_not_waited_for() {
        let owned = owned("data");
        assert!(matches!(own(&owned.folder).await, Err(LocalError::Folder(FolderError::Owned(_, Some(_))))));
        owned.stop.cancel();
        drop(owned.serving.await.unwrap());
        own(&owned.folder).await.unwrap();
    }

    #[tokio::test]
    async fn whatever_is_asked_is_answered() {
        let owned = owned("data");
        for line in
            ["", "{}", "nonsense", "{\"do\":\"dance\"}", "{\"do\":\"admin\"}", "{\"do\":\"admin\",\"command\":{}}", "{\"do\":\"mcp\",\"key\":1}"]
        {
            let mut connection = through(&owned.folder).await;
            connection.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
            let answer = read_line(&mut connection.read).await.unwrap().unwrap();
            let answer = json::parse(&answer, MAX_DEPTH).unwrap();
            assert_eq!(problem(&answer).map(|problem| problem.code), Some("invalid_command".into()), "{line}");
        }
        assert_eq!(owned.owner.0.load(Ordering::Relaxed), 0);
        owned.stop.cancel();
        owned.serving.await.unwrap();
    }
}
