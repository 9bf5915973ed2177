//! Usage errors: one format for everything that is wrong with flags and settings, naming the flag and
//! what would be valid.

mod elsewhere;

pub(crate) use elsewhere::on_command_line;

use crate::exit::Exit;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error;
use std::fmt;

/// An error in what was asked for: it ends the command with status 2, or 3 if what was named contains
/// nothing that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageError {
    /// The flag, key or argument.
    pub(crate) flag: String,
    /// What is wrong with it, and what would be valid.
    pub(crate) message: String,
    /// A hint, on a second line.
    pub(crate) hint: Option<String>,
    /// The status that the command ends with.
    pub(crate) exit: Exit,
}

impl UsageError {
    /// An error about one flag.
    pub(crate) fn new(flag: impl Into<String>, message: impl Into<String>) -> Self {
        Self { flag: flag.into(), message: message.into(), hint: None, exit: Exit::Usage }
    }

    /// What was named was recognised, and contains no results.
    pub(crate) fn nothing_read(mut self) -> Self {
        self.exit = Exit::TargetUnusable;
        self
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Positional arguments as they stand in help pages.
const PLACEHOLDERS: [&str; 5] = ["RUN", "SPEC", "NAME", "FILE", "NAME|FILE"];

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The placeholder of a positional argument says nothing: the message names what was typed.
        if !self.flag.is_empty() && !PLACEHOLDERS.contains(&self.flag.as_str()) {
            write!(f, "{}: ", self.flag)?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl Error for UsageError {}

/// Converts an error of clap. `command` is the command as typed, such as `dyno bench`.
pub(crate) fn from_clap(error: &clap::Error, command: &str) -> UsageError {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let flag = text(ContextKind::InvalidArg).map(|arg| bare_name(&arg)).unwrap_or_default();
    let help = format!("`{command} --help` lists the flags");
    match error.kind() {
        ErrorKind::ValueValidation => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            UsageError::new(flag, why)
        }
        ErrorKind::InvalidValue => {
            let right = text(ContextKind::ValidValue).unwrap_or_default();
            match text(ContextKind::InvalidValue).filter(|value| !value.is_empty()) {
                Some(value) if right.is_empty() => {
                    UsageError::new(flag, format!("`{value}` is not a valid value")).hint(help)
                }
                Some(value) => {
                    let wrong = format!("`{value}` is not a valid value; write one of {right}");
                    UsageError::new(flag, wrong)
                }
                None if right.is_empty() => UsageError::new(flag, "a value is missing").hint(help),
                None => UsageError::new(flag, format!("a value is missing; write one of {right}")),
            }
        }
        ErrorKind::UnknownArgument => unknown(&flag, text(ContextKind::SuggestedArg), command),
        ErrorKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            // Several suggestions are guesses.
            let near = text(ContextKind::SuggestedSubcommand).filter(|near| !near.contains(','));
            if command != "dyno" {
                let wrong = UsageError::new("", format!("`{typed}` is not a command of {command}"));
                let meant = match near {
                    Some(near) => format!("{command} {near}"),
                    None if command == "dyno twins" => format!("{command} show {typed}"),
                    None => return wrong.hint(format!("`{command} --help` lists its commands")),
                };
                return wrong.hint(format!("did you mean `{meant}`?"));
            }
            let wrong = UsageError::new("", format!("`{typed}` is not a dyno command"));
            let known =
                elsewhere::COMMANDS.iter().find(|(names, _)| names.contains(&typed.as_str()));
            match known.map(|(_, ours)| (*ours).to_owned()).or(near) {
                // Several that are equally far away are no suggestion.
                Some(near) if !near.contains(", ") => {
                    wrong.hint(format!("did you mean `dyno {near}`?"))
                }
                _ => wrong.hint("`dyno --help` lists the commands"),
            }
        }
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).map(|arg| bare_name(&arg)).unwrap_or_default();
            if other.is_empty() || other == flag {
                UsageError::new(flag, "given more than once; give it once")
            } else {
                UsageError::new(
                    flag,
                    format!("cannot be combined with {other}; remove one of them"),
                )
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let usage = match error.get(ContextKind::Usage) {
                Some(ContextValue::StyledStr(usage)) => usage.to_string(),
                _ => String::new(),
            };
            let usage = usage.trim().strip_prefix("Usage: ").map(|usage| format!("usage: {usage}"));
            UsageError::new("", format!("the argument {flag} is missing"))
                .hint(usage.unwrap_or(help))
        }
        ErrorKind::TooManyValues => {
            let value = text(ContextKind::InvalidValue).unwrap_or_default();
            UsageError::new(flag, format!("takes no value, but `{value}` was given"))
        }
        ErrorKind::InvalidUtf8 => {
            UsageError::new("", "an argument is not UTF-8; only file names may be")
        }
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.lines().next().unwrap_or_default();
            let message = first.strip_prefix("error: ").unwrap_or(first);
            UsageError::new("", message.to_owned()).hint(help)
        }
    }
}

/// Whether one flag may be a misspelling of the other: a guess that is far off misleads.
fn is_near(flag: &str, near: &str) -> bool {
    let (a, b) = (flag.trim_start_matches('-'), near.trim_start_matches('-'));
    dyno_model::nearest::nearest(a, &[b]).is_some() || b.starts_with(a) || a.starts_with(b)
}

fn unknown(flag: &str, near: Option<String>, command: &str) -> UsageError {
    if command.ends_with(" predict") && flag.contains("://") {
        return UsageError::new("", "dyno predict takes no target: it simulates a twin")
            .hint("--twin chooses the twin; `dyno bench URL` measures a server");
    }
    if !flag.starts_with('-') {
        // The argument is not repeated: it may be a header value that was not quoted.
        let message = format!("too many arguments for {command}");
        return UsageError::new("", message)
            .hint("quote values that contain blanks, and separate lists with commas: 8,16,32");
    }
    let wrong = UsageError::new("", format!("`{flag}` is not a flag of {command}"));
    wrong.hint(elsewhere::hint(flag, near, command))
}

/// `--rate <R>` as `--rate`, `[TARGET]` as `TARGET`.
fn bare_name(arg: &str) -> String {
    let name = arg.split([' ', '=']).next().unwrap_or(arg);
    name.trim_matches(['[', ']', '<', '>', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_other_tools_are_known_and_far_guesses_are_not_made() {
        let hint = |flag: &str, near: &str| {
            unknown(flag, Some(near.to_owned()), "dyno bench").hint.unwrap_or_default()
        };
        assert!(hint("--request-rate", "--requests").ends_with("--rate"));
        assert!(hint("--port", "--report").ends_with("TARGET"));
        assert_eq!(hint("--concurency", "--concurrency"), "did you mean --concurrency?");
        assert_eq!(hint("--turns", ""), "in Dyno this is --data session,turns=N");
        let of = |flag: &str, command: &str| unknown(flag, None, command).hint.unwrap_or_default();
        assert!(of("--concurrency", "dyno capacity").starts_with("--over concurrency "));
        assert!(of("--lang", "dyno doctor").starts_with("LC_ALL selects the language"));
        assert_eq!(hint("--colour", "--rate"), "`dyno bench --help` lists the flags");
    }
}
