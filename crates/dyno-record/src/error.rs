//! Errors of a run directory, each with what to do about it.

use std::io;
use std::path::PathBuf;

/// Why a run directory could not be created, written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The directory for a new run is not empty.
    #[error("{0} is not empty; name a new directory for the run, or remove this one")]
    NotEmpty(PathBuf),
    /// The path for a new run is a file.
    #[error("{0} is a file; name a directory for the run")]
    NotADirectory(PathBuf),
    /// The directory to read has no records.
    #[error("no run in {0}: expected records.dyno; name a directory that `dyno bench` has written")]
    NoRun(PathBuf),
    /// No directory below the root has records.
    #[error(
        "no run below {0}: none of its directories holds records.dyno; run `dyno bench` first, \
         or name the run's directory"
    )]
    NoRuns(PathBuf),
    /// A name that no run has.
    #[error(
        "no run is called `{name}`: it is neither a path, nor the name, the start of the name or \
         the label of a run in {root}{}",
        did_you_mean(.near)
    )]
    UnknownRun {
        /// As typed.
        name: String,
        /// Where runs were looked for.
        root: PathBuf,
        /// A run with a similar name.
        near: Option<String>,
    },
    /// An empty name, as an unset variable gives.
    #[error("the name of the run is empty; `dyno runs` lists their names")]
    NoName,
    /// A name that several runs have.
    #[error("`{name}` could mean {}; write more of the name", listed(.matches))]
    AmbiguousRun {
        /// As typed.
        name: String,
        /// The runs it could mean, newest first.
        matches: Vec<String>,
    },
    /// A label that would not fit a table.
    #[error("a label is one line of at most 200 characters")]
    BadLabel,
    /// A tag that cannot be typed or listed.
    #[error(
        "`{}` is not a tag; use letters, digits and -_.:/=, at most 64, with a letter or digit first",
        .0.escape_debug()
    )]
    BadTag(String),
    /// A run that must not be deleted.
    #[error("{path} is not deleted: {why}")]
    NotDeleted {
        /// Which directory.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Another process is writing the run.
    #[error("{0} is being written by another process; wait until it has ended")]
    InUse(PathBuf),
    /// The system refused.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// What was tried, as in "cannot … the file".
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A JSON file of the run is malformed.
    #[error("{path} is malformed: {source}; restore it from a copy of the run")]
    Json {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The record file has no readable header, so nothing in it can be read.
    #[error("{path} has no readable header: {what}; nothing in it can be recovered")]
    Header {
        /// Which file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// The records have a newer format.
    #[error(
        "{path} has record format {found}, and this version of Dyno reads up to {known}; use the \
         version that wrote it (dyno {version}) or a later one"
    )]
    Format {
        /// Which file.
        path: PathBuf,
        /// The format it says it has.
        found: u32,
        /// The newest format known here.
        known: u32,
        /// The version of Dyno that wrote it.
        version: String,
    },
    /// Records could not be written.
    #[error("cannot write {path}: {source}; {} (the results so far are kept)", advice(.source))]
    Write {
        /// Which file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Records were lost because neither the disk nor memory had room for them.
    #[error(
        "{lost} records are lost: {path} could not be written until the memory reserved for them was \
         full; the run is incomplete, so repeat it with enough free disk space"
    )]
    Lost {
        /// Which file.
        path: PathBuf,
        /// How many.
        lost: u64,
    },
    /// A record was larger than a frame may be, and was saved without its text.
    #[error(
        "request {index} of level {level} exceeds the size limit of a record (64 MiB), so {path} has \
         it without its text"
    )]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// The request's level.
        level: u32,
        /// The request's index in it.
        index: u64,
    },
    /// The writer thread panicked.
    #[error("the thread that writes {0} crashed; earlier records are kept; please report this bug")]
    WriterCrashed(PathBuf),
}

fn did_you_mean(near: &Option<String>) -> String {
    match near {
        Some(near) => format!("; did you mean `{near}`? `dyno runs` lists all"),
        None => "; `dyno runs` lists them".to_owned(),
    }
}

/// The first few names, and how many more there are.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => {
            "free some space on that disk and writing continues, or name another directory with --out"
        }
        io::ErrorKind::QuotaExceeded => {
            "free some of your quota and writing continues, or name another directory with --out"
        }
        io::ErrorKind::FileTooLarge => {
            "raise the file size limit (ulimit -f) or let each run record less"
        }
        _ => "check that disk, or name another directory with --out",
    }
}
