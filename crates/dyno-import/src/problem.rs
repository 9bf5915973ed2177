//! What is to be said of a file that was read.

use std::fmt;

/// How much a problem weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Something could not be read, and is missing.
    Error,
    /// It was read, but this should be known of it.
    Note,
}

/// Something that could not be read, or should be known of what was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line it concerns, from 1, in files of lines.
    pub line: Option<u64>,
    /// What was seen.
    pub what: String,
    /// What to do about it.
    pub advice: String,
    /// How much it weighs.
    pub weight: Weight,
}

impl Problem {
    /// Something that could not be read.
    pub fn error(line: Option<u64>, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { line, what: what.into(), advice: advice.into(), weight: Weight::Error }
    }

    /// Something that should be known.
    pub fn note(line: Option<u64>, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { line, what: what.into(), advice: advice.into(), weight: Weight::Note }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}; {}", self.what, self.advice)
    }
}
