//! Other tools' results, read into Dyno's own [`Summary`]: [`import`] recognises what a file holds
//! and reads all of it. What a file does not tell is absent; what cannot be read, or had to be
//! assumed, is a [`Diagnostic`]. Here is the public face; `text` reads what tools print, `files` what
//! they save.

mod blank;
mod error;
mod files;
mod text;

pub use error::ImportError;

use dyno_analysis::VecSource;
use dyno_model::plan::Plan;
use dyno_model::summary::Extras;
use dyno_model::{Diagnostic, Summary};
use std::io::Read;
use std::path::Path;

/// The largest file that is read, in bytes.
pub const LARGEST_FILE: u64 = 512 << 20;

/// What a file holds.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// One for each table, sweep or result object, in the order of the file.
    pub runs: Vec<ImportedRun>,
    /// What could not be read, and what should be known of what was.
    pub problems: Vec<Diagnostic>,
}

/// One table, one sweep, or one result object.
#[derive(Debug, Clone)]
pub struct ImportedRun {
    /// Its figures.
    pub summary: Summary,
    /// What some layouts need beyond them.
    pub extras: Extras,
    /// Records that were rebuilt from data on single requests, and from which the figures were
    /// computed anew.
    pub records: Option<VecSource>,
    /// The plan that goes with the records.
    pub plan: Option<Plan>,
}

/// What may be read, in the words of messages.
pub fn known_kinds() -> Vec<&'static str> {
    text::kinds().chain(files::kinds()).collect()
}

/// Reads a file or a folder, whatever known tool it comes from.
pub fn import(path: &Path) -> Result<Imported, ImportError> {
    if path.is_dir() {
        return files::import_directory(path);
    }
    let (bytes, log_problem) = files::with_log(path, read_limited(path)?);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let mut imported = import_bytes(&name, &bytes)?;
    imported.problems.extend(log_problem);
    Ok(imported)
}

/// The bytes of a file that is not larger than any result should be.
pub(crate) fn read_limited(path: &Path) -> Result<Vec<u8>, ImportError> {
    let unreadable = |source| ImportError::Unreadable { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(ImportError::TooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}

/// Reads what a file of that name holds.
pub fn import_bytes(name: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    let found = files::recognise(name, bytes).or_else(|| text::recognise(name, bytes));
    found.ok_or_else(|| ImportError::Unknown { name: name.to_owned() })
}
