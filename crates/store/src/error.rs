//! What can go wrong in the store.

use std::fmt;

use record::RecordError;
use rusqlite::{ErrorCode, ffi};

/// Why the store did not do what it was asked. Nothing of the command is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The disk or the database is full. Later writes go on as soon as there is room.
    Full,
    /// Another process holds the database.
    Busy,
    /// The database is damaged; the reason. The store takes no more writes.
    Corrupt(String),
    /// The record could not be sealed.
    Seal(RecordError),
    /// Anything else; the reason.
    Other(String),
}

impl StoreError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Full => "storage_full",
            Self::Busy => "storage_busy",
            Self::Corrupt(_) => "storage_corrupt",
            Self::Seal(_) => "record_not_sealed",
            Self::Other(_) => "storage_error",
        }
    }

    /// What the driver's error means here. Its own text may hold SQL or values, so only its code is kept.
    pub(crate) fn of(error: &rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, _) => Self::of_code(failure.code, failure.extended_code),
            rusqlite::Error::SqlInputError { error, .. } => Self::of_code(error.code, error.extended_code),
            rusqlite::Error::FromSqlConversionFailure(column, ..)
            | rusqlite::Error::IntegralValueOutOfRange(column, _)
            | rusqlite::Error::InvalidColumnType(column, ..) => Self::Corrupt(format!("column {column} of a stored row does not read")),
            _ => Self::Other("a statement was used in a way that it does not allow".into()),
        }
    }

    fn of_code(code: ErrorCode, extended: i32) -> Self {
        let what = || ffi::code_to_str(extended).to_owned();
        match code {
            ErrorCode::DiskFull => Self::Full,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Corrupt(what()),
            _ => Self::Other(what()),
        }
    }
}

/// What happened, and what the operator should do.
impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the disk that holds the database is full: nothing was changed; free some space and try again"),
            Self::Busy => f.write_str("another process holds the database: nothing was changed; end it or wait, then try again"),
            Self::Corrupt(reason) => {
                write!(f, "the database is damaged ({reason}) and takes no more changes: stop the server and restore the data folder from a backup")
            }
            Self::Seal(error) => write!(f, "the record could not be sealed, so nothing was changed: {error}"),
            Self::Other(reason) => {
                write!(f, "the database did not take the command ({reason}): nothing was changed; check the data folder's disk and permissions")
            }
        }
    }
}

impl std::error::Error for StoreError {}

impl From<RecordError> for StoreError {
    fn from(error: RecordError) -> Self {
        Self::Seal(error)
    }
}
