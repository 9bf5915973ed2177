//! The run directory: created once, never mixed with other files, read many times.

use crate::error::{Doing, RecordError};
use crate::reader::RecordReader;
use dyno_model::Summary;
use dyno_model::budget::Budget;
use dyno_model::environment::{DirectoryMark, Environment};
use dyno_model::plan::Plan;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const RECORDS: &str = "records.dyno";
const PLAN: &str = "plan.json";
const ENVIRONMENT: &str = "environment.json";
pub(crate) const SUMMARY: &str = "summary.json";

/// The directory of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
}

pub(crate) fn failed(
    doing: Doing,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> RecordError {
    let path = path.into();
    move |source| RecordError::Io { doing, path, source }
}

impl RunDir {
    /// Creates the directory of a new run, and its parents. It may exist if it is empty.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, RecordError> {
        let path = path.into();
        if path.exists() && !path.is_dir() {
            return Err(RecordError::NotADirectory(path));
        }
        fs::create_dir_all(&path).map_err(failed(Doing::CreateDirectory, &path))?;
        let mut entries = fs::read_dir(&path).map_err(failed(Doing::List, &path))?;
        if entries.next().is_some() {
            return Err(RecordError::NotEmpty(path));
        }
        Ok(Self { path })
    }

    /// Opens the directory of a recorded run, complete or partial.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, RecordError> {
        let path = path.into();
        if !holds_records(&path) {
            return Err(RecordError::NoRun(path));
        }
        Ok(Self { path })
    }

    /// The directory at `path`, whatever it holds.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What tells the directory from its copies, as it is now.
    pub fn mark(&self) -> Option<DirectoryMark> {
        let found = fs::metadata(&self.path).ok()?;
        let since = |at: SystemTime| at.duration_since(UNIX_EPOCH).ok();
        let created = found.created().ok().and_then(since);
        let created_unix_ns = created.and_then(|time| u64::try_from(time.as_nanos()).ok());
        Some(DirectoryMark { inode: found.ino(), created_unix_ns })
    }

    /// Whether the run was made in this very directory: neither copied nor unpacked.
    pub fn is_original(&self) -> bool {
        let made = self.read_environment().ok().flatten().and_then(|found| found.made.directory);
        made.is_some() && made == self.mark()
    }

    /// Saves the plan.
    pub fn write_plan(&self, plan: &Plan) -> Result<(), RecordError> {
        self.write_json(PLAN, plan)
    }

    /// Saves the environment.
    pub fn write_environment(&self, environment: &Environment) -> Result<(), RecordError> {
        self.write_json(ENVIRONMENT, environment)
    }

    /// Saves the summary, given as JSON.
    pub fn write_summary(&self, json: &[u8]) -> Result<(), RecordError> {
        self.replace(SUMMARY, json, true)
    }

    /// Saves a report next to the records; it can be computed from them again.
    pub fn write_report(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, RecordError> {
        let path = self.path.join(name);
        let temporary = self.path.join(format!(".{name}.part"));
        let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, &path));
        match written {
            Ok(()) => Ok(path),
            Err(source) => {
                let _ = fs::remove_file(&temporary);
                Err(RecordError::Io { doing: Doing::Write, path, source })
            }
        }
    }

    /// The saved plan.
    pub fn read_plan(&self) -> Result<Plan, RecordError> {
        let path = self.path.join(PLAN);
        let bytes = fs::read(&path).map_err(failed(Doing::Read, &path))?;
        from_json(&path, &bytes)
    }

    /// The saved environment, if there is one.
    pub fn read_environment(&self) -> Result<Option<Environment>, RecordError> {
        let path = self.path.join(ENVIRONMENT);
        match fs::read(&path) {
            Ok(bytes) => from_json(&path, &bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(Doing::Read, &path)(error)),
        }
    }

    /// The saved summary, if there is one. Computing it from the records gives the same, and takes
    /// longer.
    pub fn read_summary(&self) -> Result<Option<Summary>, RecordError> {
        let path = self.path.join(SUMMARY);
        match fs::read(&path) {
            Ok(bytes) => match parse_summary(&bytes) {
                Ok(summary) => Ok(Some(summary)),
                Err(source) => Err(RecordError::Json { path, source }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(Doing::Read, &path)(error)),
        }
    }

    /// Opens the records at their start; call it once for each pass over them.
    pub fn records(&self) -> Result<RecordReader, RecordError> {
        let path = self.path.join(RECORDS);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RecordError::NoRun(self.path.clone()));
            }
            Err(error) => return Err(failed(Doing::Read, &path)(error)),
        };
        RecordReader::new(BufReader::with_capacity(64 << 10, file), &path)
    }

    /// Opens the records at byte `from`, where a frame starts.
    pub fn records_from(&self, from: u64) -> Result<RecordReader, RecordError> {
        let mut reader = self.records()?;
        reader.go_to(from).map_err(failed(Doing::Read, self.path.join(RECORDS)))?;
        Ok(reader)
    }

    /// Plan and environment are written while the first request is waiting, so this does not wait for
    /// the disk; the rename keeps them complete if the process dies.
    pub(crate) fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), RecordError> {
        let json = serde_json::to_vec_pretty(value)
            .map_err(|source| RecordError::Json { path: self.path.join(name), source })?;
        self.replace(name, &json, false)
    }

    fn replace(&self, name: &str, bytes: &[u8], sync: bool) -> Result<(), RecordError> {
        let path = self.path.join(name);
        let temporary = self.path.join(format!(".{name}.part"));
        let written =
            write_file(&temporary, bytes, sync).and_then(|()| fs::rename(&temporary, &path));
        written.map_err(|source| {
            let _ = fs::remove_file(&temporary);
            RecordError::Io { doing: Doing::Write, path, source }
        })
    }
}

fn write_file(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    if !bytes.ends_with(b"\n") {
        file.write_all(b"\n")?;
    }
    if sync { file.sync_data() } else { Ok(()) }
}

/// A summary as it was saved. All who read one read it here: the code for it is large.
pub fn parse_summary(bytes: &[u8]) -> Result<Summary, serde_json::Error> {
    Budget::foreign().json(bytes).map_err(serde_json::Error::from)
}

fn from_json<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, RecordError> {
    Budget::foreign()
        .json(bytes)
        .map_err(|error| RecordError::Json { path: path.to_owned(), source: error.into() })
}

pub(crate) fn holds_records(path: &Path) -> bool {
    path.join(RECORDS).is_file()
}

/// Whether a run was begun there, even if it has no records yet.
pub(crate) fn holds_run(path: &Path) -> bool {
    holds_records(path) || path.join(PLAN).is_file()
}
