//! Connections: opening the file, its settings, and the migrations.

use std::{fs, io, path::Path};

use rusqlite::{Connection, OpenFlags};

use crate::{Options, StoreError};

/// `CHNC`, which says whose file it is.
const APPLICATION_ID: i32 = 0x4348_4E43;

/// Each brings the schema from the version of its place to the next.
const MIGRATIONS: &[&str] = &[include_str!("schema.sql")];

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 256;

/// Opens the file to write, makes it if it is not there, and brings its schema up to date.
pub(crate) fn writer(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    #[cfg(unix)]
    for_owner_alone(path)?;
    let mut connection = connect(path, flags, options)?;
    let prepare = |connection: &mut Connection| -> rusqlite::Result<Result<(), StoreError>> {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", if options.synchronous { "FULL" } else { "OFF" })?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "cache_size", -65_536)?;
        // Fewer and larger checkpoints: a page that many commits change is copied into the file once.
        connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
        connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
        if let Some(pages) = options.max_pages {
            connection.pragma_update(None, "max_page_count", pages)?;
        }
        migrate(connection)
    };
    prepare(&mut connection).map_err(|error| StoreError::of(&error))??;
    Ok(connection)
}

/// Opens the file to read alone.
pub(crate) fn reader(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX, options)?;
    let prepare = || {
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "cache_size", -16_384)
    };
    prepare().map_err(|error| StoreError::of(&error))?;
    Ok(connection)
}

/// Makes the file, if it is not there, readable for its owner alone; the files beside it take its mode.
#[cfg(unix)]
fn for_owner_alone(path: &Path) -> Result<(), StoreError> {
    let mut create = fs::OpenOptions::new();
    create.write(true).create_new(true);
    match std::os::unix::fs::OpenOptionsExt::mode(&mut create, 0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(StoreError::Other(format!("the file could not be made: {}", error.kind()))),
        _ => Ok(()),
    }
}

fn connect(path: &Path, flags: OpenFlags, options: &Options) -> Result<Connection, StoreError> {
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(options.busy_timeout)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    };
    open().map_err(|error| StoreError::of(&error))
}

fn migrate(connection: &mut Connection) -> rusqlite::Result<Result<(), StoreError>> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let number = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let objects: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION_ID && (application != 0 || version != 0 || objects != 0) {
        return Ok(Err(StoreError::Other("the file is a database of another program".into())));
    }
    let Some(pending) = usize::try_from(version).ok().and_then(|version| MIGRATIONS.get(version..)) else {
        return Ok(Err(StoreError::Other("the database was made by a newer version of this program".into())));
    };
    if !pending.is_empty() {
        for migration in pending {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX))?;
    }
    transaction.commit()?;
    Ok(Ok(()))
}
