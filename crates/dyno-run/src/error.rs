//! Errors of a run, and their cause: usage, target, interrupt or this program.

use crate::workload::SettingError;
use dyno_drive::TransportError;
use dyno_model::versus::Side;
use dyno_model::{Localized, Message};
use dyno_record::RecordError;

/// The cause of an error, which decides the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorSource {
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
#[derive(Debug, Localized)]
pub enum RunError {
    /// A setting is wrong; `flag` is what sets it on the command line.
    #[message("{flag}: {words}", "{flag}：{words}")]
    Setting {
        /// The flag at fault.
        flag: &'static str,
        /// What is wrong, and what would be right.
        words: Message,
    },
    /// The order cannot be carried out.
    #[message(transparent)]
    Usage(Message),
    /// The target is not there, or refuses.
    #[message(transparent)]
    Target(Message),
    /// Interrupted before anything was measured.
    #[message(transparent)]
    Interrupted(Message),
    /// This program or this machine is at fault.
    #[message(transparent)]
    Own(Message),
    /// Records cannot be written or read back.
    #[message(transparent)]
    Records(#[from] RecordError),
    /// The event loop failed.
    #[message(transparent)]
    Transport(#[from] TransportError),
    /// An error of one of two alternating runs.
    #[message("{side}: {error}", "{side}：{error}")]
    OfSide {
        /// Which.
        side: Side,
        /// What is wrong with it.
        error: Box<RunError>,
    },
}

impl RunError {
    /// The cause.
    pub fn blame(&self) -> ErrorSource {
        match self {
            Self::Setting { .. } | Self::Usage(_) => ErrorSource::Usage,
            Self::Target(_) => ErrorSource::Target,
            Self::Interrupted(_) => ErrorSource::Interrupted,
            Self::Own(_) | Self::Records(_) | Self::Transport(_) => ErrorSource::Own,
            Self::OfSide { error, .. } => error.blame(),
        }
    }

    /// An error in the value of a flag.
    pub(crate) fn setting(flag: &'static str, words: impl Localized) -> Self {
        Self::Setting { flag, words: words.message() }
    }

    pub(crate) fn of_side(side: Side, error: Self) -> Self {
        Self::OfSide { side, error: Box::new(error) }
    }
}

impl From<SettingError> for RunError {
    fn from((flag, words): SettingError) -> Self {
        Self::Setting { flag, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::{Language, message};

    #[test]
    fn an_error_of_a_side_is_wholly_in_one_language() {
        let few = message!("too few", "太少").with_hint(message!("take more", "请增加"));
        let error = RunError::of_side(Side::B, RunError::setting("--agents", few));
        assert_eq!(error.to_string(), "B: --agents: too few\n  hint: take more");
        assert_eq!(error.text(Language::Chinese), "B：--agents：太少\n  提示：请增加");
    }
}
