//! What became of a file of an import.

use dyno_model::{Message, Sure};

/// A file, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOutcome {
    /// Its path below the folder that was imported, or its name.
    pub file: String,
    /// What became of it.
    pub outcome: ImportOutcome,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    /// Results were read.
    Read {
        /// The tool that wrote it.
        tool: String,
        /// How sure it is that this tool wrote it.
        sure: Option<Sure>,
        /// How many levels were read.
        levels: usize,
    },
    /// It has the same results as another file, in another form.
    Copy {
        /// The tool that wrote it.
        tool: String,
        /// The other file.
        of: String,
    },
    /// It was recognised, and contains no results.
    Empty {
        /// The tool that wrote it.
        tool: String,
    },
    /// No tool that is known writes such files.
    Unknown,
    /// It could not be read; the reason.
    Unreadable(Message),
}
