//! Why nothing was measured, or what went wrong beside the measuring, and who is to blame.

use crate::workload::Fault;
use dyno_drive::TransportError;
use dyno_model::versus::Side;
use dyno_record::RecordError;
use thiserror::Error;

/// Who is to blame for an error, and so what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// What was asked for cannot be done as it is.
    Usage,
    /// The target cannot be measured.
    Target,
    /// Nobody: the wish to stop came first.
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
    /// The wish to stop came before anything was measured.
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
    /// One of two runs that were to take turns.
    #[error("{side}: {error}")]
    OfSide {
        /// Which.
        side: Side,
        /// What is wrong with it.
        error: Box<RunError>,
    },
}

impl RunError {
    /// Who is to blame.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Setting { .. } | Self::Usage(_) => Blame::Usage,
            Self::Target(_) => Blame::Target,
            Self::Interrupted(_) => Blame::Interrupted,
            Self::Own(_) | Self::Records(_) | Self::Transport(_) => Blame::Own,
            Self::OfSide { error, .. } => error.blame(),
        }
    }

    /// Blames a flag.
    pub(crate) fn setting(flag: &'static str, words: impl ToString) -> Self {
        Self::Setting { flag, words: words.to_string() }
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
