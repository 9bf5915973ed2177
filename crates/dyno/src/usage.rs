//! Wrong usage: one form for every complaint about what was typed or configured, naming the flag
//! at fault and what would be right.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error;
use std::fmt;

/// A complaint that ends the command with status 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageError {
    /// The flag, key or argument at fault.
    pub(crate) flag: String,
    /// What is wrong with it, and what would be right.
    pub(crate) message: String,
    /// A second line that helps.
    pub(crate) hint: Option<String>,
}

impl UsageError {
    /// A complaint about one flag.
    pub(crate) fn new(flag: impl Into<String>, message: impl Into<String>) -> Self {
        Self { flag: flag.into(), message: message.into(), hint: None }
    }

    /// Adds a line that helps.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.flag.is_empty() {
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

/// Puts clap's complaint into our form. `command` is how the command is called, such as
/// `dyno bench`.
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
                    UsageError::new(flag, format!("`{value}` is no value for it")).hint(help)
                }
                Some(value) => {
                    let wrong = format!("`{value}` is not known; write one of {right}");
                    UsageError::new(flag, wrong)
                }
                None if right.is_empty() => UsageError::new(flag, "a value is missing").hint(help),
                None => UsageError::new(flag, format!("a value is missing; write one of {right}")),
            }
        }
        ErrorKind::UnknownArgument => unknown(&flag, text(ContextKind::SuggestedArg), command),
        ErrorKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let wrong = UsageError::new("", format!("`{typed}` is not a command of dyno"));
            match text(ContextKind::SuggestedSubcommand) {
                Some(near) => wrong.hint(format!("did you mean `dyno {near}`?")),
                None => wrong.hint("`dyno --help` lists the commands"),
            }
        }
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).map(|arg| bare_name(&arg)).unwrap_or_default();
            if other.is_empty() || other == flag {
                UsageError::new(flag, "it was given more than once; write it once")
            } else {
                UsageError::new(flag, format!("it cannot be combined with {other}; leave one out"))
            }
        }
        ErrorKind::MissingRequiredArgument => {
            UsageError::new(flag, "this argument is missing").hint(help)
        }
        ErrorKind::TooManyValues => {
            let value = text(ContextKind::InvalidValue).unwrap_or_default();
            UsageError::new(flag, format!("it takes no value, but `{value}` was given"))
        }
        ErrorKind::InvalidUtf8 => {
            UsageError::new("", "an argument is not UTF-8 text; only file names may be other bytes")
        }
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.lines().next().unwrap_or_default();
            let message = first.strip_prefix("error: ").unwrap_or(first);
            UsageError::new("", message.to_owned()).hint(help)
        }
    }
}

fn unknown(flag: &str, near: Option<String>, command: &str) -> UsageError {
    if !flag.starts_with('-') {
        // It is not repeated: a header value that was not quoted ends up here.
        let message = format!("there is one argument too many for {command}");
        return UsageError::new("", message)
            .hint("quote values that hold blanks, and write lists with commas: 8,16,32");
    }
    let wrong = UsageError::new("", format!("`{flag}` is not a flag of {command}"));
    match near {
        Some(near) => wrong.hint(format!("did you mean {}?", bare_name(&near))),
        None => wrong.hint(format!("`{command} --help` lists the flags")),
    }
}

/// `--rate <R>` as `--rate`, `[TARGET]` as `TARGET`.
fn bare_name(arg: &str) -> String {
    let name = arg.split([' ', '=']).next().unwrap_or(arg);
    name.trim_matches(['[', ']', '<', '>', '.']).to_owned()
}
