//! Statements and rows: the only calls of the driver outside of the threads that own the connections.

use std::cell::RefCell;

use control::{Instant, ids};
use lcp::Hash;
use record::Sealed;
use rusqlite::{
    Connection, Params, ParamsFromIter, Row, params_from_iter,
    types::{FromSql, FromSqlError, ToSql, ToSqlOutput, Type, Value, ValueRef},
};

use crate::{Cursor, StoreError};

/// Reads the database as it stands, inside one transaction.
#[derive(Debug)]
pub struct Reader<'a> {
    connection: &'a Connection,
    fault: RefCell<Option<StoreError>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { connection, fault: RefCell::new(None) }
    }

    /// The first fault of the database that a statement met.
    pub(crate) fn fault(&self) -> Option<StoreError> {
        self.fault.borrow().clone()
    }

    /// What the error means, kept so that a command that goes on all the same is not committed.
    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        self.damaged(StoreError::of(error))
    }

    pub(crate) fn damaged(&self, error: StoreError) -> StoreError {
        self.fault.borrow_mut().get_or_insert_with(|| error.clone());
        error
    }

    /// Every row, as read by `read`.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Columns<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.each(sql, params, |row| {
            rows.push(read(row)?);
            Ok(true)
        })?;
        Ok(rows)
    }

    /// Shows each row to `see` until it answers `false`.
    pub(crate) fn each(&self, sql: &str, params: impl Params, mut see: impl FnMut(&Columns<'_>) -> rusqlite::Result<bool>) -> Result<(), StoreError> {
        debug_assert!(is_numbered(sql), "placeholders are to appear in order: {sql}");
        #[cfg(test)]
        crate::testing::is_by_index(self.connection, sql);
        let run = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                if !see(&Columns(row))? {
                    break;
                }
            }
            Ok(())
        };
        run().map_err(|error| self.failed(&error))
    }

    /// The first row, if there is one.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Columns<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let (mut found, mut read) = (None, Some(read));
        self.each(sql, params, |row| {
            found = read.take().map(|read| read(row)).transpose()?;
            Ok(false)
        })?;
        Ok(found)
    }

    /// Runs a statement and gives the number of rows it changed. Only a [`crate::Tx`] has the right to call it.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        debug_assert!(is_numbered(sql), "placeholders are to appear in order: {sql}");
        #[cfg(test)]
        crate::testing::is_by_index(self.connection, sql);
        let run = || self.connection.prepare_cached(sql)?.execute(params);
        run().map_err(|error| self.failed(&error))
    }
}

/// Whether `$1`, `$2`, ... first appear in that order: the engine counts them as they come, whatever their names.
fn is_numbered(sql: &str) -> bool {
    let mut seen = 0;
    sql.split('$').skip(1).all(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = rest[..digits].parse().unwrap_or(0);
        seen = seen.max(number.min(seen + 1));
        (1..=seen).contains(&number)
    })
}

/// The columns of a row.
pub(crate) struct Columns<'a>(&'a Row<'a>);

impl Columns<'_> {
    pub(crate) fn get<T: FromSql>(&self, column: usize) -> rusqlite::Result<T> {
        self.0.get(column)
    }

    pub(crate) fn text(&self, column: usize) -> rusqlite::Result<String> {
        self.0.get(column)
    }

    pub(crate) fn at(&self, column: usize) -> rusqlite::Result<Instant> {
        self.0.get(column).map(Instant::from_millis)
    }

    pub(crate) fn opt_at(&self, column: usize) -> rusqlite::Result<Option<Instant>> {
        self.get::<Option<i64>>(column).map(|at| at.map(Instant::from_millis))
    }

    /// A column that `read` takes from its text.
    pub(crate) fn parsed<T>(&self, column: usize, read: impl FnOnce(&str) -> Option<T>) -> rusqlite::Result<T> {
        let text = self.0.get_ref(column)?.as_str().map_err(|error| unread(column, error))?;
        read(text).ok_or_else(|| unread(column, FromSqlError::InvalidType))
    }

    pub(crate) fn id<T: Id>(&self, column: usize) -> rusqlite::Result<T> {
        self.parsed(column, T::read)
    }

    pub(crate) fn opt_id<T: Id>(&self, column: usize) -> rusqlite::Result<Option<T>> {
        if self.is_null(column)? { Ok(None) } else { self.id(column).map(Some) }
    }

    pub(crate) fn is_null(&self, column: usize) -> rusqlite::Result<bool> {
        self.0.get_ref(column).map(|value| value == ValueRef::Null)
    }

    /// A count, which is never negative.
    pub(crate) fn count(&self, column: usize) -> rusqlite::Result<u64> {
        let count: i64 = self.0.get(column)?;
        u64::try_from(count).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, count))
    }

    /// A number of a 32-bit column.
    pub(crate) fn small(&self, column: usize) -> rusqlite::Result<u32> {
        self.0.get(column)
    }

    pub(crate) fn hash(&self, column: usize) -> rusqlite::Result<Hash> {
        self.get::<[u8; 32]>(column).map(Hash::from)
    }

    /// Text, hash, signature and key id from this column on.
    pub(crate) fn sealed(&self, column: usize) -> rusqlite::Result<Sealed> {
        Ok(Sealed { text: self.text(column)?, hash: self.hash(column + 1)?, signature: self.0.get(column + 2)?, kid: self.text(column + 3)? })
    }

    pub(crate) fn units(&self, column: usize) -> rusqlite::Result<i128> {
        self.parsed(column, |text| text.parse().ok())
    }
}

fn unread(column: usize, error: FromSqlError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

/// A truth is kept as 0 or 1, since not every engine takes a number for one.
pub(crate) struct Flag(pub(crate) bool);

impl ToSql for Flag {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(i64::from(self.0).into())
    }
}

/// An id that reads from its text.
pub(crate) trait Id: Sized {
    fn read(text: &str) -> Option<Self>;
}

macro_rules! ids {
    ($($name:ident)*) => { $(impl Id for ids::$name { fn read(text: &str) -> Option<Self> { Self::parse(text) } })* };
}
ids!(OrgId UserId AgentId KeyId PolicyId ConsentId RequestId ApprovalId MandateId RecordId);

/// The conditions of a list, each with its value.
#[derive(Default)]
pub(crate) struct Filters {
    conditions: Vec<String>,
    params: Vec<Value>,
}

impl Filters {
    /// Rows whose column has that value.
    pub(crate) fn equal(&mut self, column: &str, value: impl Into<Value>) -> &mut Self {
        self.compare(column, "=", value)
    }

    /// Rows whose column has that value, if one is given.
    pub(crate) fn maybe(&mut self, column: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.equal(column, value.to_owned());
        }
        self
    }

    pub(crate) fn compare(&mut self, column: &str, operator: &str, value: impl Into<Value>) -> &mut Self {
        self.params.push(value.into());
        self.conditions.push(format!("{column} {operator} ${}", self.params.len()));
        self
    }

    /// The statement for the rows behind the cursor, the greatest first, and one more than a page has. Their order is
    /// that of a number and then of an id.
    pub(crate) fn newest_first(&mut self, select: &str, [number, id]: [&str; 2], cursor: Option<&Cursor>, limit: u32) -> Listing {
        let cursor = cursor.cloned().unwrap_or_else(Cursor::top);
        self.params.extend([cursor.at.into(), cursor.id.into_string().into()]);
        let last = self.params.len();
        self.conditions.push(format!("({number}, {id}) < (${}, ${last})", last - 1));
        self.listing(select, &format!("{number} DESC, {id} DESC"), limit)
    }

    /// The same, in the order of a number that each row has for itself.
    pub(crate) fn last_first(&mut self, select: &str, number: &str, cursor: Option<&Cursor>, limit: u32) -> Listing {
        self.compare(number, "<", cursor.map_or(i64::MAX, |cursor| cursor.at));
        self.listing(select, &format!("{number} DESC"), limit)
    }

    fn listing(&mut self, select: &str, order: &str, limit: u32) -> Listing {
        self.params.push((i64::from(limit) + 1).into());
        let sql = format!("{select} WHERE {} ORDER BY {order} LIMIT ${}", self.conditions.join(" AND "), self.params.len());
        (sql, params_from_iter(std::mem::take(&mut self.params)))
    }
}

/// A statement and its values.
type Listing = (String, ParamsFromIter<Vec<Value>>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_appear_in_order() {
        for sql in ["SELECT 1", "a = $1 AND b = $2", "$1 $2 $1 $3", "$1 $2 $3 $4 $5 $6 $7 $8 $9 $10 $11"] {
            assert!(is_numbered(sql), "{sql}");
        }
        for sql in ["$2", "a = $2 AND b = $1", "$1 $3 $2", "$0", "$x", "$1 $"] {
            assert!(!is_numbered(sql), "{sql}");
        }
    }
}
