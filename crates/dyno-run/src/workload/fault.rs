//! Which flag is at fault where a prompt cannot be made.

use dyno_model::Message;
use dyno_workload::random::RandomError;
use dyno_workload::random::lengths::{Lengths, LengthsError};

/// The flag at fault, and the message for the user.
pub type SettingError = (&'static str, Message);

/// The flag at fault where a tokenizer's counts do not add up.
pub(crate) const BY_COUNTS: &str = "--tokenizer";

/// The flag at fault for prompts that cannot be made.
pub(super) fn of_random(error: RandomError) -> SettingError {
    let flag = match &error {
        RandomError::NoGroups(_) | RandomError::SharedAndUnique(_) => "--data",
        RandomError::First { .. } => "--data",
        error if error.is_by_prefix() => "--data, --input-tokens",
        RandomError::TooShort { .. } => "--input-tokens",
        // Whatever the lengths, prompts cannot be made with these counts.
        RandomError::NothingCountsAsOne
        | RandomError::PromptLeftOut
        | RandomError::OutOfReach { .. }
        | RandomError::Tokenizer(_) => BY_COUNTS,
    };
    (flag, Message::of(error))
}

/// The lengths that a flag asks for.
pub(super) fn lengths(flag: &'static str, text: &str) -> Result<Lengths, SettingError> {
    text.parse().map_err(|error: LengthsError| (flag, Message::of(error)))
}
