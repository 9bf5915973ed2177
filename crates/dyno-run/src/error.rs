//! Errors of a run, and their cause: usage, target, interrupt or this program.

use crate::workload::Fault;
use dyno_drive::TransportError;
use dyno_model::versus::Side;
use dyno_record::RecordError;
use thiserror::Error;

/// The cause of an error, which decides the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The request itself is wrong.
    Usage,
    /// The target cannot be measured.
    Target,
    /// The run was interrupted.
    Interrupted,
    /// This program or this machine.
    Own,
}

/// What went wrong with a run.
#[derive(Debug, Error)]
pub enum RunError {
    /// A setting is wrong; `flag` is what sets it on the command line.
    #[error("{flag}: {words}")]
    Setting {
        /// The flag at fault.
        flag: &'static str,
        /// What is wrong, and what would be right.
        words: String,
    },
    /// The order cannot be carried out.
    #[error("{0}")]
    Usage(String),
    /// The target is not there, or refuses.
    #[error("{0}")]
    Target(String),
    /// Interrupted before anything was measured.
    #[error("{0}")]
    Interrupted(String),
    /// This program or this machine is at fault.
    #[error("{0}")]
    Own(String),
    /// Records cannot be written or read back.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// The event loop failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// An error of one of two alternating runs.
    #[error("{side}: {error}")]
    OfSide {
        /// Which.
        side: Side,
        /// What is wrong with it.
        error: Box<RunError>,
    },
}

impl RunError {
    /// The cause.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Setting { .. } | Self::Usage(_) => Blame::Usage,
            Self::Target(_) => Blame::Target,
            Self::Interrupted(_) => Blame::Interrupted,
            Self::Own(_) | Self::Records(_) | Self::Transport(_) => Blame::Own,
            Self::OfSide { error, .. } => error.blame(),
        }
    }

    /// An error in the value of a flag.
    pub(crate) fn setting(flag: &'static str, words: impl ToString) -> Self {
        Self::Setting { flag, words: words.to_string() }
    }

    /// An order that cannot be carried out, and what would help.
    pub(crate) fn hinted(message: &str, hint: &str) -> Self {
        Self::Usage(format!("{message}\n  hint: {hint}"))
    }

    pub(crate) fn of_side(side: Side, error: Self) -> Self {
        Self::OfSide { side, error: Box::new(error) }
    }
}

impl From<Fault> for RunError {
    fn from((flag, words): Fault) -> Self {
        Self::Setting { flag, words }
    }
}
