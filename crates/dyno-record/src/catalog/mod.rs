//! The runs in a directory: which there are, which one a name means, which match a filter, and how
//! one is deleted. Reading the contents of a single run belongs in `dir.rs` and `reader.rs`.

mod delete;
mod elsewhere;
mod entry;
mod filter;
mod find;

pub use delete::delete_run;
pub use elsewhere::remember_run;
pub use filter::RunFilter;
pub use find::find_run;

use crate::dir::{RunDir, failed, holds_records};
use crate::error::{Doing, RecordError};
use dyno_model::run_entry::RunEntry;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Every run directly below `root` or listed there, newest first. Runs that cannot be read are listed as damaged.
pub fn list_runs(root: &Path) -> Result<Vec<RunEntry>, RecordError> {
    let mut entries: Vec<RunEntry> =
        candidates(root)?.into_iter().filter_map(entry::read).collect();
    entries.sort_by_cached_key(|entry| std::cmp::Reverse(age_key(&entry.path)));
    Ok(entries)
}

/// The directories that may hold runs: those below `root` and those listed there.
fn candidates(root: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let mut all = directories(root)?;
    all.extend(elsewhere::known(root));
    Ok(all)
}

/// The directories directly below `root`, without links; none where there is no `root`.
fn directories(root: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(Doing::List, root)(error)),
    };
    let is_dir = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_dir).collect())
}

/// Orders runs by their start. A name that begins with a time stands in for a start that cannot be
/// read. Predictions take milliseconds, so that many start in one second.
fn age_key(path: &Path) -> (String, u64, bool, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let timed = name.starts_with(|c: char| c.is_ascii_digit());
    let recorded = RunDir::open(path).and_then(|dir| dir.records()).ok();
    let at = recorded.map(|records| records.header().anchor_unix_ns);
    let started = at.map(dyno_model::when::compact);
    let named = if timed { name.clone() } else { String::new() };
    (started.unwrap_or(named), at.unwrap_or(0), timed, name)
}

impl RunDir {
    /// Whether a process is writing the run.
    pub fn is_being_written(&self) -> bool {
        entry::is_being_written(self.path())
    }

    /// The newest run directly below `root`, or listed there, that has records.
    pub fn latest(root: &Path) -> Result<Self, RecordError> {
        let runs = candidates(root)?.into_iter().filter(|path| holds_records(path));
        let latest = runs.max_by_key(|path| age_key(path));
        latest.map(Self::at).ok_or_else(|| RecordError::NoRuns(root.to_owned()))
    }
}
