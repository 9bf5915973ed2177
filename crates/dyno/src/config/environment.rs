//! Settings of the environment: `DYNO_` and the name of the flag, in capitals, with underscores.

use super::{Setting, key, setting};
use crate::usage::UsageError;
use clap::{Arg, ArgAction, Command};
use dyno_model::message;
use serde_json::Value;
use std::ffi::OsString;

/// Variables that hold a secret, where the flag names a file or is visible to others. They are read
/// where the secret is used.
const SECRETS: [&str; 2] = ["DYNO_API_KEY", "DYNO_BUS_TOKEN"];

/// The variables that a command takes.
pub(super) fn settings(
    command: &Command,
    variables: &[(OsString, OsString)],
) -> Result<Vec<Setting>, UsageError> {
    let mut found = Vec::new();
    for arg in command.get_arguments() {
        let name = variable(arg);
        let set = variables.iter().find(|(known, value)| *known == *name && !value.is_empty());
        let Some((_, text)) = set.filter(|_| !SECRETS.contains(&name.as_str())) else { continue };
        let wrong = |message| UsageError::new(name.as_str(), message);
        let text = text
            .to_str()
            .ok_or_else(|| wrong(message!("the variable is not UTF-8", "该变量不是 UTF-8")))?;
        found.push(setting(command, arg, &name, &value(arg, text))?);
    }
    Ok(found)
}

/// The variable of an argument.
pub(super) fn variable(arg: &Arg) -> String {
    format!("DYNO_{}", key(arg).replace('-', "_").to_uppercase())
}

/// What a variable holds: each line is a value, where a flag may be repeated.
fn value(arg: &Arg, text: &str) -> Value {
    match (arg.get_action(), text) {
        (ArgAction::SetTrue, "1" | "true") => true.into(),
        (ArgAction::SetTrue, "0" | "false") => false.into(),
        (ArgAction::Append, text) => text.lines().collect(),
        (_, text) => text.into(),
    }
}
