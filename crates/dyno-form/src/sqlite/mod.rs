//! Databases, read by SQLite itself. It never opens the user's file: it works on a copy in memory, so
//! that nothing is written to the file or next to it. Databases are untrusted: damage is an error, and
//! SQLite may only read one table.

mod log;
#[cfg(test)]
mod tests;

pub use log::with_log;
pub use rusqlite::Row;
pub use rusqlite::types::ValueRef;

use dyno_model::Localized;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use std::io::Read;

const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: usize = 100;
/// Steps of SQLite's virtual machine between two checks of its budget.
const LOOK: i32 = 1000;
/// The budget of a file: this many steps per byte, plus a fixed number.
const MOST_STEPS: usize = 16;
const FIRST_STEPS: usize = 1_000_000;

/// Why a database cannot be read.
#[derive(Debug, Localized)]
pub enum Damaged {
    /// It ends inside its header.
    #[message(
        "its header is damaged: too short, or not the header of SQLite 3",
        "文件头已损坏：太短，或不是 SQLite 3 的文件头"
    )]
    Header,
    /// There is no such table.
    #[message("it has no table `{0}`", "其中没有表 `{0}`")]
    NoTable(&'static str),
    /// SQLite's error.
    #[message(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

/// Whether it is a database.
pub fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// One table of a database.
#[derive(Debug)]
pub struct SqlTable {
    connection: Connection,
    name: &'static str,
}

impl SqlTable {
    /// Opens the table of that name.
    pub fn open(bytes: &[u8], name: &'static str) -> Result<Self, Damaged> {
        let (head, body) = bytes.split_at_checked(HEADER).ok_or(Damaged::Header)?;
        if !is_database(head) {
            return Err(Damaged::Header);
        }
        let mut head = head.to_vec();
        // A database in memory has no write-ahead log, and a truncated file has fewer pages than its
        // header says.
        head[18..20].fill(1);
        head[28..32].fill(0);
        let mut connection = Connection::open_in_memory()?;
        connection.deserialize_read_exact("main", head.chain(body), bytes.len(), true)?;
        distrust(&connection, bytes.len())?;
        connection.pragma_update(None, "query_only", true)?;
        if !connection.table_exists(Some("main"), name)? {
            return Err(Damaged::NoTable(name));
        }
        connection.authorizer(Some(move |asked: AuthContext<'_>| match asked.action {
            AuthAction::Select => Authorization::Allow,
            AuthAction::Read { table_name, .. } if table_name == name => Authorization::Allow,
            _ => Authorization::Deny,
        }))?;
        let mut left = (FIRST_STEPS + bytes.len().saturating_mul(MOST_STEPS)) / LOOK as usize;
        connection.progress_handler(
            LOOK,
            Some(move || {
                left = left.saturating_sub(1);
                left == 0
            }),
        )?;
        Ok(Self { connection, name })
    }

    /// The names of its columns, in order.
    pub fn columns(&self) -> Result<Vec<String>, Damaged> {
        let statement = self.connection.prepare(&self.select())?;
        Ok(statement.column_names().map(str::to_owned).collect())
    }

    /// Calls `each` with every row, in the order of insertion. Rows read before damage was
    /// found are valid.
    pub fn rows(&self, mut each: impl FnMut(&Row<'_>)) -> Result<(), Damaged> {
        let mut statement = self.connection.prepare(&self.select())?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            each(row);
        }
        Ok(())
    }

    fn select(&self) -> String {
        format!("SELECT * FROM main.\"{}\" NOT INDEXED", self.name)
    }
}

/// SQLite's recommended settings for untrusted databases.
fn distrust(connection: &Connection, size: usize) -> rusqlite::Result<()> {
    for off in [
        DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
        DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
    ] {
        connection.set_db_config(off, false)?;
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // No row is larger than the file.
    let longest = i32::try_from(size.max(1 << 16)).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest)?;
    Ok(())
}

/// The text of a cell, if it is one.
pub fn text<'a>(cell: ValueRef<'a>) -> Option<&'a str> {
    match cell {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// The number in a cell, integer or not.
pub fn number(cell: ValueRef<'_>) -> Option<f64> {
    match cell {
        ValueRef::Integer(value) => Some(value as f64),
        ValueRef::Real(value) => Some(value).filter(|value| value.is_finite()),
        _ => None,
    }
}
