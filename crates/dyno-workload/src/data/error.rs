//! What can go wrong with data: where it is, what it is and what would fix it.

use std::io;

use super::at::At;
use super::source::Compression;
use super::spec::Kind;
use super::spec_error::SpecError;

/// Why data could not be read, selected or written.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The specification asks for something impossible.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// There is no such file.
    #[error("there is no file {path}; {hint}")]
    NotFound {
        /// What was named.
        path: String,
        /// What to do.
        hint: String,
    },
    /// An I/O error.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// What was tried, as in "cannot … the file".
        doing: &'static str,
        /// On which file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// A directory was named.
    #[error("{path} is a directory; name one file{}", such_as(.example))]
    Directory {
        /// Which.
        path: String,
        /// A file in it.
        example: Option<String>,
    },
    /// A pipe or a device was named.
    #[error(
        "{0} is not a regular file; data are read more than once, so write them to a file first"
    )]
    NotAFile(String),
    /// Standard input cannot be used.
    #[error("standard input {0}")]
    Stdin(String),
    /// There is nothing to read.
    #[error("{0} is empty; name a file with at least one record")]
    Empty(String),
    /// The file has lines, and none of them is a record.
    #[error("{0} holds no records, only blank lines or a header; name a file with at least one")]
    NoRecords(String),
    /// The file is an archive.
    #[error("{path} is {what}; {fix}")]
    Archive {
        /// Which.
        path: String,
        /// What it is.
        what: &'static str,
        /// What to do.
        fix: String,
    },
    /// The compressed stream is broken.
    #[error(
        "{path}: the {compression} stream is damaged after line {line}: {what}; fetch it again"
    )]
    Damaged {
        /// Which.
        path: String,
        /// How it is compressed.
        compression: Compression,
        /// How far it could be read.
        line: u64,
        /// The decoder's error.
        what: String,
    },
    /// The text is not UTF-8.
    #[error("{at}: {what}; save it as UTF-8, as in iconv -f {from} -t UTF-8 FILE")]
    Encoding {
        /// Where.
        at: At,
        /// What was found.
        what: String,
        /// What it may be.
        from: &'static str,
    },
    /// The file is not of the kind that was named.
    #[error("{path} is not {kind}: it {found}; {fix}")]
    NotWhatItSays {
        /// Which.
        path: String,
        /// The kind that was named.
        kind: Kind,
        /// What it is.
        found: String,
        /// What to do.
        fix: String,
    },
    /// A record cannot be used.
    #[error("{at}: {what}; {fix}, or skip_bad=true to skip such records")]
    Bad {
        /// Where.
        at: At,
        /// What is wrong.
        what: String,
        /// What to do.
        fix: String,
    },
    /// The file's structure is broken, so that nothing after this place can be read.
    #[error("{at}: {what}; {fix}")]
    Broken {
        /// Where.
        at: At,
        /// What is wrong.
        what: String,
        /// What to do.
        fix: String,
    },
    /// A Parquet file cannot be read.
    #[error("{path}: {what}; {fix}")]
    Table {
        /// Which.
        path: String,
        /// What is wrong.
        what: String,
        /// What to do.
        fix: String,
    },
    /// Every record was skipped.
    #[error("{path} holds no usable record, and all {bad} were skipped; the first: {}", .first.plain())]
    OnlyBad {
        /// Which.
        path: String,
        /// How many records were skipped.
        bad: u64,
        /// What was wrong with the first.
        first: Box<DataError>,
    },
    /// The specification asks for something that is not read from records.
    #[error("{what} is {kind} data, which is not read as prompts; {fix}")]
    Elsewhere {
        /// What was named.
        what: String,
        /// Its kind.
        kind: Kind,
        /// What to do.
        fix: String,
    },
    /// The selection left nothing.
    #[error("{name} has nothing left to send: {why}")]
    NothingSelected {
        /// The data set.
        name: String,
        /// Where its records went, and what to change.
        why: String,
    },
    /// Lengths are limited, and there is no tokenizer.
    #[error("limits on input tokens need a tokenizer; name one")]
    NoCounter,
    /// A prompt could not be counted.
    #[error("{name}: the tokens of prompt {number} could not be counted: {what}")]
    Count {
        /// The data set.
        name: String,
        /// Which prompt, counted from 1.
        number: u64,
        /// The tokenizer's error.
        what: String,
    },
    /// An item does not fit into the format it is converted to.
    #[error("item {number} {what}; {fix}")]
    Unwritable {
        /// Which item, counted from 1.
        number: u64,
        /// What does not fit.
        what: &'static str,
        /// What to do.
        fix: &'static str,
    },
    /// The converted data could not be written.
    #[error("cannot write the converted data: {0}")]
    Write(String),
}

fn such_as(example: &Option<String>) -> String {
    example.as_ref().map(|name| format!(", such as {name}")).unwrap_or_default()
}

impl DataError {
    /// Whether the records after this one can still be read.
    pub fn is_skippable(&self) -> bool {
        matches!(self, Self::Bad { .. } | Self::Encoding { .. })
    }

    /// The message without the advice to skip, which was followed already.
    fn plain(&self) -> String {
        match self {
            Self::Bad { at, what, fix } => format!("{at}: {what}; {fix}"),
            other => other.to_string(),
        }
    }

    pub(crate) fn bad(at: &At, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::Bad { at: at.clone(), what: what.into(), fix: fix.into() }
    }
}
