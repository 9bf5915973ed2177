//! Settings of the environment: `DYNO_` and the name of the flag, in capitals, with underscores.

use super::{Setting, key, setting};
use crate::usage::UsageError;
use clap::{Arg, ArgAction, Command};
use dyno_model::message;
use dyno_model::nearest::nearest;
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

/// Variables that no flag has, whose names are nearly those of one. Others are left alone: Kubernetes sets
/// some of its own beside a service with the name of this program.
pub(super) fn misspelt(
    command: &Command,
    variables: &[(OsString, OsString)],
) -> Vec<(String, String)> {
    let own: Vec<String> = command.get_arguments().map(variable).collect();
    let known: Vec<&str> = own.iter().map(String::as_str).chain(ELSEWHERE).collect();
    let set = variables.iter().filter_map(|(name, _)| name.to_str());
    let unknown = set.filter(|name| name.starts_with("DYNO_") && !known.contains(name));
    // What Kubernetes writes: an address, and nothing that is a setting's value.
    let by_others = |name: &str| KUBERNETES.iter().any(|part| name.contains(part));
    let meant = |name: &str| Some((name.to_owned(), nearest(name, &known)?.to_owned()));
    unknown.filter(|name| !by_others(name)).filter_map(meant).collect()
}

/// Variables that are read elsewhere.
const ELSEWHERE: [&str; 5] =
    ["DYNO_API_KEY", "DYNO_BUS_TOKEN", "DYNO_BUS_USER", "DYNO_BUS_PASSWORD", "DYNO_LANG"];
/// Parts of the names that Kubernetes gives to the variables of a service.
const KUBERNETES: [&str; 2] = ["_PORT", "_SERVICE_"];

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
