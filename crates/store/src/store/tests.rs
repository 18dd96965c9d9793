use std::{fs, io::Write, path::PathBuf, sync::mpsc::sync_channel};

use control::ids::OrgId;

use super::*;
use crate::{
    OrgRow, SettingsRow,
    testing::{Folder, at, bits, org, org_row, request},
};

fn short() -> Options {
    Options { busy_timeout: Duration::from_millis(10), ..Options::default() }
}

type Work = Box<dyn FnOnce(&mut Tx<'_>) -> Result<u32, StoreError> + Send>;

fn work(command: impl FnOnce(&mut Tx<'_>) -> Result<u32, StoreError> + Send + 'static) -> Work {
    Box::new(command)
}

/// Runs commands in one batch: they are handed over while another command keeps the writer busy.
async fn together(store: &Store, commands: Vec<Work>) -> Vec<Result<u32, StoreError>> {
    let (begun, has_begun) = oneshot::channel();
    let (go, wait) = sync_channel::<()>(0);
    let blocked = store.clone();
    let blocker = tokio::spawn(async move {
        let command = move |_: &mut Tx<'_>| {
            begun.send(()).unwrap();
            wait.recv().map_err(|_| panicked())
        };
        blocked.write(command).await
    });
    has_begun.await.unwrap();
    let mut answers = Vec::new();
    for command in commands {
        let (caller, answer) = oneshot::channel();
        store.0.writer.hand_over(Box::new(Command::new(command, caller))).await.unwrap();
        answers.push(answer);
    }
    go.send(()).unwrap();
    blocker.await.unwrap().unwrap();
    let mut results = Vec::new();
    for answer in answers {
        results.push(answer.await.unwrap());
    }
    results
}

fn pay(payee: &str) -> Work {
    let payee = payee.to_owned();
    work(move |tx| {
        tx.add_payment_to(&org(), &payee)?;
        tx.payments_to(&org(), &payee)
    })
}

async fn paid(store: &Store, payee: &'static str) -> u32 {
    store.read::<_, StoreError>(move |reader| reader.payments_to(&org(), payee)).await.unwrap()
}

fn large(tx: &mut Tx<'_>) -> Result<u32, StoreError> {
    tx.put_settings(&org(), &SettingsRow { doc: "x".repeat(1 << 20), secret: None })?;
    Ok(0)
}

#[tokio::test]
async fn commands_are_committed_together_and_fail_alone() {
    let folder = Folder::new();
    let store = folder.store().await;
    let before = store.counts();
    let commands = (0..90).map(|number| match number % 3 {
        0 => pay("a"),
        1 => work(|tx| {
            tx.add_payment_to(&org(), "a")?;
            Err(StoreError::Other("refused".into()))
        }),
        _ => work(|tx| {
            tx.add_payment_to(&org(), "a")?;
            panic!("a fault of the command");
        }),
    });
    let results = together(&store, commands.collect()).await;
    for (number, result) in results.into_iter().enumerate() {
        let expected = match number % 3 {
            0 => Ok(u32::try_from(number / 3 + 1).unwrap()),
            1 => Err(StoreError::Other("refused".into())),
            _ => Err(panicked()),
        };
        assert_eq!(result, expected, "{number}");
    }
    assert_eq!(paid(&store, "a").await, 30);
    let after = store.counts();
    assert_eq!((after.commits - before.commits, after.commands - before.commands), (2, 91));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_write_at_once() {
    let folder = Folder::new();
    let store = folder.store().await;
    let writers = (0..200).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.write(pay("a")).await.unwrap() })
    });
    let mut seen = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        seen.push(writer.await.unwrap());
    }
    seen.sort_unstable();
    assert_eq!(seen, (1..=200).collect::<Vec<_>>());
    drop(store);
    assert!(!folder.path("store.db-wal").exists(), "all is in the one file");
    assert_eq!(paid(&folder.open(&Options::default()).unwrap(), "a").await, 200, "what was answered is in the file");
}

#[tokio::test]
async fn changes_are_told_once_they_are_committed() {
    let folder = Folder::new();
    let store = folder.store().await;
    let mut changes = store.changes();
    let refused = |tx: &mut Tx<'_>| {
        tx.changed(&request(1).id);
        Err::<(), _>(StoreError::Busy)
    };
    assert_eq!(store.write(refused).await, Err(StoreError::Busy));
    let insert = |tx: &mut Tx<'_>| {
        tx.insert_request(&request(2))?;
        tx.changed(&request(2).id);
        Ok::<_, StoreError>(())
    };
    store.write(insert).await.unwrap();
    let id = changes.recv().await.unwrap();
    assert_eq!(id, request(2).id);
    let row = store.read::<_, StoreError>(move |reader| reader.request(&org(), &id)).await.unwrap();
    assert_eq!(row, Some(request(2)));
    assert!(changes.try_recv().is_err());
}

#[tokio::test]
async fn a_read_sees_one_moment_and_writes_nothing() {
    let folder = Folder::new();
    let store = folder.store().await;
    let (begun, has_begun) = oneshot::channel();
    let (go, wait) = sync_channel::<()>(0);
    let reading = store.clone();
    let read = tokio::spawn(async move {
        let read = move |reader: &Reader<'_>| {
            let before = reader.payments_to(&org(), "a")?;
            begun.send(()).unwrap();
            wait.recv().unwrap();
            Ok::<_, StoreError>((before, reader.payments_to(&org(), "a")?))
        };
        reading.read(read).await.unwrap()
    });
    has_begun.await.unwrap();
    store.write(pay("a")).await.unwrap();
    go.send(()).unwrap();
    assert_eq!(read.await.unwrap(), (0, 0));
    assert_eq!(paid(&store, "a").await, 1);
    let written = store.read::<_, StoreError>(|reader| reader.execute("DELETE FROM payees", [])).await;
    assert_eq!(written.unwrap_err().code(), "storage_error");
    assert_eq!(store.read::<(), StoreError>(|_| panic!("a fault of the read")).await, Err(panicked()));
    assert_eq!(paid(&store, "a").await, 1);
}

#[tokio::test]
async fn a_commit_that_fails_keeps_nothing_of_the_batch() {
    let folder = Folder::new();
    let store = folder.store().await;
    // A broken reference that is looked at in the commit stands in for a disk that fails then.
    let breaks_the_commit = work(|tx| {
        tx.run("PRAGMA defer_foreign_keys = ON", [])?;
        tx.add_payment_to(&OrgId::of(bits(99)), "a")?;
        Ok(0)
    });
    let mut changes = store.changes();
    let tells = work(|tx| {
        tx.changed(&request(1).id);
        Ok(0)
    });
    let refused = work(|_| Err(StoreError::Other("refused".into())));
    let results = together(&store, vec![pay("a"), breaks_the_commit, tells, refused, pay("b")]).await;
    assert!(results.iter().all(|result| result.as_ref().unwrap_err().to_string().contains("constraint")), "{results:?}");
    assert_eq!((paid(&store, "a").await, paid(&store, "b").await), (0, 0));
    assert!(changes.try_recv().is_err());
    assert_eq!(store.write(pay("a")).await, Ok(1), "the server goes on");
}

#[tokio::test]
async fn a_full_database_refuses_what_does_not_fit_and_goes_on() {
    let folder = Folder::new();
    let store = folder.open(&Options { max_pages: Some(200), ..short() }).unwrap();
    store.write(|tx| tx.insert_org(&org_row())).await.unwrap();
    let ignores_it = work(|tx| {
        tx.add_payment_to(&org(), "c")?;
        assert_eq!(large(tx), Err(StoreError::Full));
        Ok(0)
    });
    let results = together(&store, vec![pay("a"), work(large), ignores_it, pay("b")]).await;
    // A full disk ends the whole transaction, and with it what was done in it before.
    assert_eq!(results, [Err(StoreError::Full), Err(StoreError::Full), Err(StoreError::Full), Ok(1)]);
    assert_eq!((paid(&store, "a").await, paid(&store, "b").await, paid(&store, "c").await), (0, 1, 0));
    assert_eq!(store.read::<_, StoreError>(|reader| reader.settings(&org())).await, Ok(None));
    assert_eq!(StoreError::Full.code(), "storage_full");
}

#[tokio::test]
async fn a_locked_database_is_busy_and_goes_on_afterwards() {
    let folder = Folder::new();
    folder.store().await;
    let store = folder.open(&short()).unwrap();
    for lock in ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"] {
        let other = Connection::open(folder.path("store.db")).unwrap();
        other.execute_batch(lock).unwrap();
        assert_eq!(store.write(pay(lock)).await, Err(StoreError::Busy));
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(store.write(pay(lock)).await, Ok(1));
    }
    let other = Connection::open(folder.path("store.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(folder.open(&short()).unwrap_err(), StoreError::Busy);
    assert_eq!(StoreError::Busy.code(), "storage_busy");
}

/// A closed database whose rows are garbage, and whose schema is not.
async fn damaged(folder: &Folder) -> PathBuf {
    let path = folder.path("store.db");
    drop(folder.store().await);
    let empty = fs::read(&path).unwrap().len();
    let store = folder.open(&short()).unwrap();
    store.write(|tx| (0..500).try_for_each(|number| tx.insert_request(&request(number)))).await.unwrap();
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    bytes[empty..].fill(0xA5);
    fs::write(&path, &bytes).unwrap();
    path
}

fn not_run() -> Work {
    work(|_| unreachable!("no command is run any more"))
}

#[tokio::test]
async fn a_damaged_database_takes_no_more_writes() {
    let folder = Folder::new();
    let path = damaged(&folder).await;
    let before = fs::read(&path).unwrap();
    let store = folder.open(&short()).unwrap();
    let insert = work(|tx| {
        tx.add_payment_to(&org(), "b")?;
        tx.insert_request(&request(250))?;
        Ok(0)
    });
    let results = together(&store, vec![pay("a"), insert]).await;
    let Err(error) = &results[1] else { panic!("{results:?}") };
    assert_eq!(error.code(), "storage_corrupt");
    assert!(error.to_string().contains("restore"), "{error}");
    assert_eq!(results[0].as_ref(), Err(error), "nothing of the batch is kept");
    assert_eq!(store.write(not_run()).await.unwrap_err(), *error, "with the reason");
    assert_eq!((paid(&store, "a").await, paid(&store, "b").await), (0, 0));
    drop(store);
    assert!(fs::read(&path).unwrap() == before);
}

#[tokio::test]
async fn damage_that_a_read_meets_stops_writes_too() {
    let folder = Folder::new();
    damaged(&folder).await;
    let store = folder.open(&short()).unwrap();
    let error = store.read::<_, StoreError>(|reader| reader.request(&org(), &request(1).id)).await.unwrap_err();
    assert_eq!(error.code(), "storage_corrupt");
    assert_eq!(store.write(not_run()).await, Err(error));
}

#[test]
fn other_files_are_refused() {
    let folder = Folder::new();
    let path = folder.path("store.db");
    fs::write(&path, [0xA5; 8192]).unwrap();
    assert_eq!(folder.open(&short()).unwrap_err().code(), "storage_corrupt");
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE orgs (id TEXT)").unwrap();
    assert_eq!(folder.open(&short()).unwrap_err(), StoreError::Other("the file is a database of another program".into()));
    fs::remove_file(&path).unwrap();
    drop(folder.open(&short()).unwrap());
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 1000").unwrap();
    assert_eq!(folder.open(&short()).unwrap_err(), StoreError::Other("the database was made by a newer version of this program".into()));
    assert_eq!(Store::open(&folder.path("none/store.db"), &short()).unwrap_err().code(), "storage_error");
}

#[tokio::test]
async fn what_a_killed_process_leaves_opens_again() {
    let (folder, copy) = (Folder::new(), Folder::new());
    let store = folder.store().await;
    assert_eq!(store.write(pay("a")).await, Ok(1));
    // The files as they are while the store is open: what was committed is in the write-ahead log.
    for name in ["store.db", "store.db-wal"] {
        fs::copy(folder.path(name), copy.path(name)).unwrap();
    }
    fs::OpenOptions::new().append(true).open(copy.path("store.db-wal")).unwrap().write_all(&[1; 5000]).unwrap();
    let opened = copy.open(&short()).unwrap();
    assert_eq!(paid(&opened, "a").await, 1);
    assert_eq!(opened.write(pay("a")).await, Ok(2));
}

#[tokio::test]
async fn a_command_may_hold_the_last_clone() {
    let folder = Folder::new();
    let store = folder.store().await;
    let held = store.clone();
    let (done, is_done) = oneshot::channel();
    let mut write = Box::pin(store.write(move |_| {
        drop(held);
        done.send(()).unwrap();
        Ok::<_, StoreError>(())
    }));
    tokio::select! { biased; _ = &mut write => {}, () = std::future::ready(()) => {} }
    drop(write);
    drop(store);
    is_done.await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let _store = folder.store().await;
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        assert_eq!(fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn settings_of_a_connection() {
    let folder = Folder::new();
    let store = folder.store().await;
    let pragma = |name: &'static str| {
        let store = store.clone();
        async move {
            let read = move |tx: &mut Tx<'_>| tx.one(&format!("PRAGMA {name}"), [], |row| row.get::<i64>(0));
            store.write::<_, StoreError>(read).await.unwrap().unwrap()
        }
    };
    assert_eq!((pragma("synchronous").await, pragma("foreign_keys").await), (2, 1));
    let mode = store.read::<_, StoreError>(|reader| reader.one("PRAGMA journal_mode", [], |row| row.text(0))).await.unwrap();
    assert_eq!(mode.as_deref(), Some("wal"));
    let other_org = OrgRow { id: OrgId::of(bits(2)), name: "Two".into(), created_at: at(1) };
    store.write(move |tx| tx.insert_org(&other_org)).await.unwrap();
    let orgs = store.read::<_, StoreError>(|reader| Ok(reader.orgs()?.len())).await;
    assert_eq!(orgs, Ok(2));
}
