//! When the tokens of a stream are due: fixed by a script, or decided by an engine token by token.

use crate::script::Script;
use dyno_model::Nanos;

/// When the next write can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// It can be made.
    Now,
    /// It is due then.
    At(Nanos),
    /// The engine decides.
    OnGrant,
}

/// The source of due times.
#[derive(Debug, Clone, Copy)]
pub(super) enum WritePace {
    /// A script.
    Script {
        /// When the request was read.
        start: Nanos,
        /// The script.
        script: Script,
    },
    /// An engine, from token to token.
    Engine(Granted),
}

/// What an engine has produced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Granted {
    /// When the request was read.
    pub(super) start: Nanos,
    /// Tokens so far.
    pub(super) tokens: u32,
    /// When the earliest came that is not written yet.
    pub(super) at: Nanos,
    /// When the last of them came.
    pub(super) came: Nanos,
}

impl WritePace {
    /// An engine that has produced nothing yet for a request that was read at `start`.
    pub(super) fn engine(start: Nanos) -> Self {
        Self::Engine(Granted { start, tokens: 0, at: start, came: start })
    }

    /// Events per write.
    pub(super) fn batch(&self) -> u32 {
        match self {
            Self::Script { script, .. } => script.batch,
            Self::Engine(_) => 1,
        }
    }
}
