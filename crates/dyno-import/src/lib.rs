//! Reads other tools' results into [`RunResults`]: [`import`] recognises the contents of a file and reads
//! all of it. What a file does not state is absent; what cannot be read, or had to be assumed, is a
//! [`Diagnostic`]. This file is the public interface. `tools` has what is known of each tool, `text`
//! finds results in printed text, `level` makes levels of what was found. The forms of files are read by
//! `dyno-form`.
//! Metrics of individual requests are computed by `dyno-analysis`, from frames that are written for them.

mod directory;
mod error;
mod level;
mod outcome;
mod reading;
mod text;
mod tools;

pub use directory::natural_order;
pub use error::ImportError;
pub use outcome::{FileOutcome, ImportOutcome};

use dyno_analysis::RunResults;
use dyno_form::{file, sqlite};
use dyno_model::{Diagnostic, Message};
use std::path::Path;

/// How compressed files begin: gzip, zstd, zip, xz, bzip2.
const PACKED: [&[u8]; 5] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xfd7zXZ", b"BZh"];

/// The contents of a file.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// One for each table, sweep or result object, in the order of the file.
    pub runs: Vec<RunResults>,
    /// What could not be read, and notes on what was.
    pub problems: Vec<Diagnostic>,
    /// What became of each file.
    pub files: Vec<FileOutcome>,
}

impl Imported {
    /// Adds what another file contains.
    fn append(&mut self, mut other: Self) {
        self.runs.append(&mut other.runs);
        self.problems.append(&mut other.problems);
        self.files.append(&mut other.files);
    }
}

/// What can be read, as shown in messages.
pub fn known_kinds() -> Vec<Message> {
    tools::kinds().collect()
}

/// Reads a file or a folder of any known tool.
pub fn import(path: &Path) -> Result<Imported, ImportError> {
    if path.is_dir() {
        let imported = import_folder(path, &|_| false)?;
        if imported.runs.is_empty() && imported.problems.is_empty() {
            return Err(ImportError::Unknown { name: directory::name_of(path) });
        }
        return Ok(imported);
    }
    let (bytes, log_problem) = sqlite::with_log(path, file::read(path)?);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ImportError::Empty { path: path.to_owned() });
    }
    if PACKED.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(ImportError::Compressed { path: path.to_owned() });
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let mut imported = import_bytes(&name, &bytes)?;
    imported.problems.extend(log_problem);
    Ok(imported)
}

/// Reads a folder and what is below, without the folders for which `skip` is true.
pub fn import_folder(path: &Path, skip: &dyn Fn(&Path) -> bool) -> Result<Imported, ImportError> {
    directory::import(path, skip)
}

/// Reads the contents of a file of that name.
pub fn import_bytes(name: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    let found = reading::recognise(name, bytes).or_else(|| text::recognise(name, bytes));
    found.ok_or_else(|| ImportError::Unknown { name: name.to_owned() })
}
