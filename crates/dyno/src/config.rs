//! Settings from a TOML file, named like the flags. The file is converted to flags, which are put
//! before those of the command line, so that names, checks and errors are the same. A flag on the
//! command line replaces the file's key of the same name; a load replaces any load of the file.

use crate::args::{Cli, Command};
use crate::usage::{UsageError, from_clap};
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{ArgAction, CommandFactory};
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The kinds of load: at most one applies, so they are replaced together.
const LOADS: &[&str] = &["concurrency", "rate", "ramp", "burst", "sweep"];
/// Flags on the command line that replace contradicting keys of the file.
const OPPOSITES: &[(&str, &[&str])] = &[
    ("live", &["quiet", "no-progress", "progress"]),
    ("quiet", &["live", "progress"]),
    ("no-progress", &["live", "progress"]),
    ("progress", &["live", "quiet", "no-progress"]),
];
/// Flags that make no sense inside the file they name.
const NOT_IN_FILES: &[&str] = &["config", "help"];
const LARGEST_FILE: usize = 1 << 20;

/// One key of the file, as arguments.
#[derive(Debug, PartialEq, Eq)]
struct Setting {
    key: String,
    argv: Vec<OsString>,
}

/// The arguments after `dyno bench` (`typed`), with the settings of `path` put before them.
pub(crate) fn merge(path: &Path, typed: &[OsString]) -> Result<Vec<OsString>, UsageError> {
    let wrong = |message: String| UsageError::new("--config", message);
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST_FILE as u64 + 1).read_to_string(&mut text))
        .map_err(|error| wrong(crate::resolve::cannot_read(path, &error)))?;
    if text.len() > LARGEST_FILE {
        return Err(wrong(format!(
            "`{}` is over 1 MiB, too large for a settings file",
            path.display()
        )));
    }
    let file = path.display().to_string();
    let settings = settings(&file, &text)?;
    let mut argv = vec![OsString::from("dyno"), OsString::from("bench")];
    let replaced = typed_keys("bench", typed);
    for setting in settings.into_iter().filter(|setting| !replaced.contains(&setting.key)) {
        argv.extend(setting.argv);
    }
    argv.extend_from_slice(typed);
    Ok(argv)
}

/// The settings of a file's text, each checked separately so that an error names its line.
fn settings(file: &str, text: &str) -> Result<Vec<Setting>, UsageError> {
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        let message = error.message().to_owned();
        UsageError::new(format!("{file}:{line}"), format!("this is not TOML: {message}"))
    })?;
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut settings = Vec::new();
    for (key, value) in entries {
        let place = format!("{file}:{}", line_of(text, key.span().start));
        let key = key.get_ref().to_string();
        let argv = arguments(&key, value)
            .map_err(|error| UsageError { flag: format!("{place}: {key}"), ..error })?;
        settings.push(Setting { key, argv });
    }
    Ok(settings)
}

fn arguments(key: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<OsString>, UsageError> {
    if key == "api-key" {
        return Err(UsageError::new("", "keys do not belong in settings files")
            .hint("use api-key-file here, or DYNO_API_KEY in the environment"));
    }
    let bench = bench_command();
    let arg = bench.get_arguments().find(|arg| arg.get_id().as_str() == key.replace('-', "_"));
    let named = |arg: &&clap::Arg| arg.is_positional() || arg.get_long() == Some(key);
    let Some(arg) = arg.filter(named).filter(|_| !NOT_IN_FILES.contains(&key)) else {
        return Err(unknown(key));
    };
    let argv = match arg.get_action() {
        ArgAction::SetTrue => match value.get_ref() {
            DeValue::Boolean(true) => vec![format!("--{key}")],
            DeValue::Boolean(false) => Vec::new(),
            _ => return Err(UsageError::new("", "this is a switch; write true or false")),
        },
        ArgAction::Append => match value.get_ref() {
            DeValue::Array(items) => {
                let items = items.iter().map(|item| Ok(format!("--{key}={}", plain(item)?)));
                items.collect::<Result<_, UsageError>>()?
            }
            _ => vec![format!("--{key}={}", plain(value)?)],
        },
        _ if LOADS.contains(&key) => match value.get_ref() {
            DeValue::Array(items) => {
                let items: Result<Vec<_>, UsageError> = items.iter().map(plain).collect();
                vec![format!("--{key}={}", items?.join(","))]
            }
            _ => vec![format!("--{key}={}", plain(value)?)],
        },
        _ if arg.is_positional() => vec![plain(value)?],
        _ if key == "extra-body" && value.get_ref().is_table() => {
            vec![format!("--{key}={}", to_json(value.get_ref())?)]
        }
        _ => vec![format!("--{key}={}", plain(value)?)],
    };
    // A value that starts with a dash would be parsed as a flag.
    if arg.is_positional() && argv.iter().any(|text| text.starts_with('-')) {
        return Err(UsageError::new("", "this is not a URL; write http://host:port"));
    }
    let argv: Vec<OsString> = argv.into_iter().map(OsString::from).collect();
    let alone = ["dyno", "bench"].into_iter().map(OsString::from).chain(argv.iter().cloned());
    match Cli::command().try_get_matches_from(alone) {
        Ok(_) => Ok(argv),
        Err(error) => Err(from_clap(&error, "dyno bench")),
    }
}

fn unknown(key: &str) -> UsageError {
    let wrong = UsageError::new("", "there is no such setting");
    let probe = ["dyno".to_owned(), "bench".to_owned(), format!("--{}", key.replace('_', "-"))];
    let near = match Cli::command().try_get_matches_from(probe) {
        // An underscore instead of a dash.
        Ok(_) => Some(key.replace('_', "-")),
        Err(error) => match error.get(ContextKind::SuggestedArg) {
            Some(ContextValue::String(near)) => near.split(' ').next().map(str::to_owned),
            _ => match error.get(ContextKind::InvalidArg) {
                Some(ContextValue::String(arg)) if arg.contains(['<', '[']) => {
                    arg.split(' ').next().map(str::to_owned)
                }
                _ => None,
            },
        },
    };
    match near.map(|near| near.trim_start_matches('-').to_owned()) {
        Some(near) if !NOT_IN_FILES.contains(&near.as_str()) && near != key => {
            wrong.hint(format!("did you mean {near}?"))
        }
        _ => wrong.hint("settings are named like the flags of `dyno bench --help`, without --"),
    }
}

/// A string or number as it would be typed.
fn plain(value: &Spanned<DeValue<'_>>) -> Result<String, UsageError> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        DeValue::Integer(_) => Err(UsageError::new("", "write the number in decimal digits")),
        DeValue::Boolean(_) => Err(UsageError::new("", "this is not a switch; write a value")),
        DeValue::Array(_) => Err(UsageError::new("", "takes one value, not a list")),
        DeValue::Table(_) => Err(UsageError::new("", "takes a value, not a table")),
        DeValue::Datetime(_) => {
            Err(UsageError::new("", "does not take a date; quote it if it is text"))
        }
    }
}

fn to_json(value: &DeValue<'_>) -> Result<serde_json::Value, UsageError> {
    use serde_json::Value;
    let bad = |text: &str| UsageError::new("", format!("`{text}` has no JSON form"));
    Ok(match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(truth) => Value::from(*truth),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            Value::from(parsed.map_err(|_| bad(number.as_str()))?)
        }
        DeValue::Float(number) => {
            let parsed: f64 = number.as_str().parse().map_err(|_| bad(number.as_str()))?;
            serde_json::Number::from_f64(parsed)
                .map(Value::Number)
                .ok_or_else(|| bad(number.as_str()))?
        }
        DeValue::Datetime(date) => Value::from(date.to_string()),
        DeValue::Array(items) => {
            let items: Result<Vec<_>, _> =
                items.iter().map(|item| to_json(item.get_ref())).collect();
            Value::Array(items?)
        }
        DeValue::Table(table) => {
            let fields: Result<serde_json::Map<_, _>, _> = table
                .iter()
                .map(|(key, item)| Ok((key.get_ref().to_string(), to_json(item.get_ref())?)))
                .collect();
            Value::Object(fields?)
        }
    })
}

/// The keys that the command line replaces.
fn typed_keys(command: &str, typed: &[OsString]) -> Vec<String> {
    let argv = ["dyno", command].into_iter().map(OsString::from).chain(typed.iter().cloned());
    let Ok(matches) = Cli::command().try_get_matches_from(argv) else { return Vec::new() };
    let Some((_, bench)) = matches.subcommand() else { return Vec::new() };
    // Ids include those of groups of flags.
    let commands = Cli::command();
    let flags = commands.find_subcommand(command);
    let is_flag = |id: &clap::Id| {
        flags.is_some_and(|flags| flags.get_arguments().any(|flag| flag.get_id() == id))
    };
    let mut keys: Vec<String> = bench
        .ids()
        .filter(|id| {
            is_flag(id) && bench.value_source(id.as_str()) == Some(ValueSource::CommandLine)
        })
        .map(|id| id.as_str().replace('_', "-"))
        .collect();
    if keys.iter().any(|key| LOADS.contains(&key.as_str())) {
        keys.extend(LOADS.iter().map(|load| (*load).to_owned()));
    }
    for (typed, replaced) in OPPOSITES {
        if keys.iter().any(|key| key == typed) {
            keys.extend(replaced.iter().map(|key| (*key).to_owned()));
        }
    }
    keys
}

fn bench_command() -> clap::Command {
    let mut cli = Cli::command();
    cli.build();
    cli.find_subcommand("bench").cloned().unwrap_or_default()
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Reads the command line, and the file that its `--config` names.
pub(crate) fn parse(argv: Vec<OsString>) -> Result<Cli, clap::Error> {
    <Cli as clap::Parser>::try_parse_from(argv)
}

/// Merges the settings file into the command line, if there is one.
pub(crate) fn with_file(mut cli: Cli, argv: &[OsString]) -> Result<Cli, UsageError> {
    let elsewhere = match &cli.command {
        Command::Capacity(args) => args.output.config.is_some(),
        Command::Predict(args) => args.output.config.is_some(),
        _ => false,
    };
    if elsewhere {
        let message = "settings files work with `dyno bench` only; give the flags instead";
        return Err(UsageError::new("--config", message));
    }
    if let Command::Capacity(args) = &mut cli.command {
        let command = argv.iter().position(|arg| arg == "capacity").unwrap_or(1);
        args.output.given = typed_keys("capacity", argv.get(command + 1..).unwrap_or_default());
        return Ok(cli);
    }
    let Command::Bench(args) = &cli.command else { return Ok(cli) };
    let command = argv.iter().position(|arg| arg == "bench").unwrap_or(1);
    let typed = argv.get(command + 1..).unwrap_or_default();
    let (mut cli, given) = match &args.output.config {
        None => (cli, typed_keys("bench", typed)),
        Some(path) => {
            let merged = merge(path, typed)?;
            let given = typed_keys("bench", merged.get(2..).unwrap_or_default());
            (parse(merged).map_err(|error| from_clap(&error, "dyno bench"))?, given)
        }
    };
    if let Command::Bench(args) = &mut cli.command {
        args.output.given = given;
    }
    Ok(cli)
}

#[cfg(test)]
mod tests;
