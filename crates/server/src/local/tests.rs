//! Both ends of the channel, in one process.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use control::ids::AgentId;
use lcp::json::MAX_DEPTH;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{data_folder::Lock, temp_folder::TempFolder};

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
    for line in ["", "{}", "nonsense", "{\"do\":\"dance\"}", "{\"do\":\"admin\"}", "{\"do\":\"admin\",\"command\":{}}", "{\"do\":\"mcp\",\"key\":1}"]
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
