//! The log next to a database: rows that were written and not yet checkpointed (`-wal`), or an unfinished
//! transaction to roll back (`-journal`). SQLite applies it in a private copy.

use super::{distrust, is_database};
use crate::file::{self, FileError};
use dyno_model::{Diagnostic, Localized};
use dyno_words::{Problem, values};
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const LOGS: [&str; 2] = ["-wal", "-journal"];
/// The end of a journal that names a super-journal, which SQLite would open and may delete.
const NAMES_A_FILE: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// The bytes of the file, with its log applied if it is a database. Where that fails, the bytes as they
/// are and the problem.
pub fn with_log(path: &Path, bytes: Vec<u8>) -> (Vec<u8>, Option<Diagnostic>) {
    let is_log = |log: &PathBuf| fs::metadata(log).is_ok_and(|found| found.len() > 0);
    if !is_database(&bytes) || !LOGS.iter().any(|log| is_log(&beside(path, log))) {
        return (bytes, None);
    }
    match settled(path, &bytes) {
        Ok(settled) => (settled, None),
        Err(error) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            (bytes, Some(Problem::LogUnread.with(values![name, error])))
        }
    }
}

/// Why a log could not be applied.
#[derive(Debug, Localized)]
enum LogError {
    #[message("it belongs to a change of several databases", "它属于涉及多个数据库的改动")]
    Several,
    #[message(transparent)]
    File(#[from] FileError),
    #[message(transparent)]
    System(#[from] io::Error),
    #[message(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn settled(path: &Path, bytes: &[u8]) -> Result<Vec<u8>, LogError> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("copy");
    fs::write(&copy, bytes)?;
    for log in LOGS {
        let log_beside = beside(path, log);
        if log_beside.is_file() {
            let logged = file::read(&log_beside)?;
            if logged.ends_with(&NAMES_A_FILE) {
                return Err(LogError::Several);
            }
            fs::write(beside(&copy, log), logged)?;
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&copy, flags)?;
    distrust(&connection, bytes.len())?;
    // The first read rolls back an unfinished transaction, or finds the log, which is then checkpointed.
    connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(file::read(&copy)?)
}
