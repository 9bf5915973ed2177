//! Settings that are not typed: of the environment, the file of `--config` and a preset. They become defaults
//! of the command's flags, so that names, checks and errors are the same, and argv is parsed once. A
//! setting has no effect where a flag is typed that replaces or contradicts it.

mod environment;
mod file;
pub(crate) mod presets;

use crate::args::Cli;
use crate::args::plan::SettingsArgs;
use crate::resolve::Notes;
use crate::usage::{UsageError, from_clap};
use clap::builder::{ArgPredicate, OsStr, Resettable};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches};
use dyno_model::message;
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The commands that make a plan, and take settings.
const COMMANDS: [&str; 3] = ["bench", "capacity", "predict"];
/// The kinds of load: at most one applies, so they replace each other.
const LOADS: [&str; 5] = ["concurrency", "rate", "ramp", "burst", "sweep"];

/// Why the arguments could not be read.
pub(crate) enum Unread {
    /// The command line, or help was asked for.
    Arguments(clap::Error),
    /// A setting that was not typed.
    Setting(UsageError),
}

/// What is known of the settings besides their values.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// Names of the flags that were typed, or are in the file.
    pub(crate) keys: Vec<String>,
    /// The variables that have an effect.
    variables: Vec<String>,
    /// Keys of the file that other commands have and this one has not.
    ignored: Vec<String>,
    /// Variables that look like misspelt settings, each with the right name.
    misspelt: Vec<(String, String)>,
}

impl Given {
    /// Says what was not typed and has an effect, and what has none.
    pub(crate) fn announce(&self, notes: &mut Notes) {
        if !self.variables.is_empty() {
            notes.push(message!(
                "settings from the environment: {}",
                "来自环境变量的设置：{}",
                self.variables.join(", ")
            ));
        }
        for (name, meant) in &self.misspelt {
            notes.push(message!(
                "{name} has no effect: there is no such setting; did you mean {meant}?",
                "{name} 无效：没有此设置；是否指 {meant}？"
            ));
        }
        if !self.ignored.is_empty() {
            notes.push(message!(
                "settings that this command does not have are ignored: {}",
                "已忽略此命令没有的设置：{}",
                self.ignored.join(", ")
            ));
        }
    }

    /// An error, with where the settings come from that were not typed: they may be at fault.
    pub(crate) fn blame(&self, from: &SettingsArgs, mut error: UsageError) -> UsageError {
        let file = from.config.as_ref().map(|file| format!("`{}`", file.display()));
        let preset = from.preset.as_ref().map(|name| format!("--preset {name}"));
        let others = file.into_iter().chain(preset);
        let sources: Vec<String> = self.variables.iter().cloned().chain(others).collect();
        if !sources.is_empty() {
            let sources = sources.join(", ");
            let (message, hint) = error.message.split_hint();
            let message = message!(
                "{message} (some settings come from {sources})",
                "{message}（部分设置来自 {sources}）"
            );
            error.message = match hint {
                Some(hint) => message.with_hint(hint),
                None => message,
            };
        }
        error
    }
}

/// A setting, as the flag that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    /// The id of the argument.
    id: String,
    /// Where it is: a variable, or file, line and key.
    place: String,
    texts: Vec<String>,
    /// A switch that is off contradicts nothing.
    is_off: bool,
}

impl Setting {
    /// As it would be typed, with a blank before each word.
    fn flags(&self) -> String {
        let flag = self.id.replace('_', "-");
        let flags = self.texts.iter().map(|text| match text.as_str() {
            "true" => format!(" --{flag}"),
            text => format!(" --{flag} {text}"),
        });
        flags.collect()
    }
}

/// Reads the command line, with the settings below it.
pub(crate) fn read(
    argv: &[OsString],
    variables: &[(OsString, OsString)],
) -> Result<(Cli, Given), Unread> {
    let mut definitions = Cli::command();
    let name = argv.get(1).and_then(|word| word.to_str()).filter(|name| COMMANDS.contains(name));
    let command = name.and_then(|name| definitions.find_subcommand(name)).cloned();
    let settings = command
        .as_ref()
        .map_or(Ok(Settings::default()), |command| Settings::below(command, argv, variables));
    if let (Some(name), Ok(settings)) = (name, &settings) {
        definitions = definitions.mut_subcommand(name, |command| settings.as_defaults(command));
    }
    // What is wrong with the command line, or that it asks for help, goes before settings.
    let matches = definitions.try_get_matches_from(argv).map_err(Unread::Arguments)?;
    let settings = settings.map_err(Unread::Setting)?;
    let given = match (&command, matches.subcommand()) {
        (Some(command), Some((_, matches))) => settings.given(command, matches),
        _ => Given::default(),
    };
    let cli = Cli::from_arg_matches(&matches).map_err(Unread::Arguments)?;
    Ok((cli, given))
}

/// The value of a flag, before anything is parsed.
pub(crate) fn typed(argv: &[OsString], flag: &str) -> Option<OsString> {
    let words: Vec<&OsString> = argv.iter().take_while(|word| *word != "--").collect();
    let value = |word: &OsString| {
        let value = word.as_bytes().strip_prefix(flag.as_bytes())?.strip_prefix(b"=")?;
        Some(OsString::from_vec(value.to_owned()))
    };
    let at = words.iter().rposition(|word| *word == flag || value(word).is_some())?;
    value(words[at]).or_else(|| words.get(at + 1).map(|word| (*word).clone()))
}

/// Settings below the command line: no two of them contradict each other.
#[derive(Debug, Default)]
struct Settings {
    all: Vec<Setting>,
    /// How many of them, from the first, are from the environment.
    variables: usize,
    /// How many follow from the file; the others are those of the preset.
    in_file: usize,
    ignored: Vec<String>,
    misspelt: Vec<(String, String)>,
}

impl Settings {
    /// Those of the environment, of the file, and of the preset.
    fn below(
        command: &Command,
        argv: &[OsString],
        variables: &[(OsString, OsString)],
    ) -> Result<Self, UsageError> {
        let mut settings = Self::default();
        settings.add(command, environment::settings(command, variables)?)?;
        settings.variables = settings.all.len();
        settings.misspelt = environment::misspelt(command, variables);
        if let Some(path) = settings.value(argv, "config") {
            let (found, ignored) = file::settings(command, Path::new(&path))?;
            settings.ignored = ignored;
            settings.add(command, found)?;
            settings.in_file = settings.all.len() - settings.variables;
        }
        let preset = settings.value(argv, "preset");
        if let Some(preset) = preset.as_ref().and_then(|name| presets::find(name.to_str()?)) {
            settings.add(command, preset.settings(command)?)?;
        }
        Ok(settings)
    }

    /// The value of a flag, as typed or set so far.
    fn value(&self, argv: &[OsString], key: &str) -> Option<OsString> {
        let set = || self.all.iter().find(|setting| setting.id == key)?.texts.first();
        typed(argv, &format!("--{key}")).or_else(|| set().map(OsString::from))
    }

    /// Adds those of one place, but what is replaced or contradicted by a place above it.
    fn add(&mut self, command: &Command, found: Vec<Setting>) -> Result<(), UsageError> {
        for (at, setting) in found.iter().enumerate() {
            if let Some(other) = found[..at].iter().find(|o| contradict(command, setting, o)) {
                let other = other.id.replace('_', "-");
                return Err(UsageError::new(
                    setting.place.as_str(),
                    message!(
                        "cannot be combined with {other}; remove one of them",
                        "不能与 {other} 同时使用；请去掉其中一个"
                    ),
                ));
            }
        }
        let above = self.all.clone();
        let replaced = |setting: &Setting| {
            let by =
                |above: &Setting| above.id == setting.id || contradict(command, above, setting);
            above.iter().any(by)
        };
        self.all.extend(found.into_iter().filter(|setting| !replaced(setting)));
        Ok(())
    }

    /// The command with the settings as defaults. A typed flag replaces its default; one that
    /// contradicts it brings the usual default back.
    fn as_defaults(&self, mut command: Command) -> Command {
        for setting in &self.all {
            let others: Vec<(String, ArgPredicate)> = command
                .get_arguments()
                .filter(|other| exclude(&command, &setting.id, other.get_id().as_str()))
                .map(|other| {
                    // A switch always has a value.
                    let typed = match other.get_action() {
                        ArgAction::SetTrue => ArgPredicate::Equals("true".into()),
                        _ => ArgPredicate::IsPresent,
                    };
                    (other.get_id().to_string(), typed)
                })
                .collect();
            command = command.mut_arg(&setting.id, |arg| {
                let usual = match arg.get_action() {
                    ArgAction::SetTrue => Some(OsStr::from("false")),
                    _ => arg.get_default_values().first().cloned(),
                };
                let others = others.iter().filter(|_| !setting.is_off);
                let takes_value = arg.get_action().takes_values();
                arg.default_value_ifs(others.map(|(id, typed)| {
                    (id.clone(), typed.clone(), Resettable::from(usual.clone()))
                }))
                .default_values(setting.texts.iter().map(OsStr::from))
                .hide_default_value(takes_value)
            });
        }
        command
    }

    /// What was typed, and which settings have an effect.
    fn given(&self, command: &Command, matches: &ArgMatches) -> Given {
        let typed: Vec<&str> = command
            .get_arguments()
            .map(|arg| arg.get_id().as_str())
            .filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine))
            .collect();
        let stands = |setting: &&Setting| {
            let replaced = |id: &&str| **id == setting.id || exclude(command, &setting.id, id);
            !typed.iter().any(replaced)
        };
        let (variables, rest) = self.all.split_at(self.variables);
        let in_file = rest.iter().take(self.in_file).filter(stands);
        let keys = typed.iter().copied().chain(in_file.map(|setting| setting.id.as_str()));
        Given {
            keys: keys.map(|id| id.replace('_', "-")).collect(),
            variables: variables.iter().filter(stands).map(|one| one.place.clone()).collect(),
            ignored: self.ignored.clone(),
            misspelt: self.misspelt.clone(),
        }
    }
}

/// Whether two settings cannot both apply.
fn contradict(command: &Command, one: &Setting, other: &Setting) -> bool {
    !one.is_off && !other.is_off && exclude(command, &one.id, &other.id)
}

/// Whether two flags cannot both be given.
fn exclude(command: &Command, one: &str, other: &str) -> bool {
    let conflicts = |one: &str, other: &str| {
        let arg = command.get_arguments().find(|arg| arg.get_id() == one);
        let conflicts = arg.map(|arg| command.get_arg_conflicts_with(arg)).unwrap_or_default();
        conflicts.iter().any(|arg| arg.get_id() == other)
    };
    let loads = one != other && LOADS.contains(&one) && LOADS.contains(&other);
    loads || conflicts(one, other) || conflicts(other, one)
}

/// A value as it would be typed after the flag, once it is known that the flag takes it.
fn setting(
    command: &Command,
    arg: &Arg,
    place: &str,
    value: &Value,
) -> Result<Setting, UsageError> {
    let at = |error: UsageError| UsageError { flag: place.to_owned(), ..error };
    let texts = texts(arg, value).map_err(at)?;
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
    let is_off = is_switch && texts == ["false"];
    let long = arg.get_long().unwrap_or_default();
    let argv: Vec<String> = match (is_switch, arg.is_positional()) {
        (true, _) => vec![format!("--{long}")],
        (_, true) => std::iter::once("--".to_owned()).chain(texts.clone()).collect(),
        _ => texts.iter().map(|text| format!("--{long}={text}")).collect(),
    };
    let alone = command.clone().no_binary_name(true).try_get_matches_from(argv);
    let name = format!("dyno {}", command.get_name());
    alone.map_err(|error| at(from_clap(&error, &name)))?;
    Ok(Setting { id: arg.get_id().to_string(), place: place.to_owned(), texts, is_off })
}

/// The texts that stand for a value: several where the flag may be repeated.
fn texts(arg: &Arg, value: &Value) -> Result<Vec<String>, UsageError> {
    let takes_list = || {
        let names = arg.get_value_names().unwrap_or_default();
        names.iter().any(|name| name.contains("[,"))
    };
    Ok(match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Bool(on)) => vec![on.to_string()],
        (ArgAction::SetTrue, _) => {
            return Err(UsageError::new(
                "",
                message!("this is a switch; write true or false", "这是开关；请写 true 或 false"),
            ));
        }
        (ArgAction::Append, Value::Array(items)) => {
            items.iter().map(plain).collect::<Result<_, _>>()?
        }
        (_, Value::Array(items)) if takes_list() => {
            vec![items.iter().map(plain).collect::<Result<Vec<_>, _>>()?.join(",")]
        }
        (_, Value::Object(_)) if arg.get_id() == "extra_body" => vec![value.to_string()],
        _ => vec![plain(value)?],
    })
}

/// A string or number as it would be typed.
fn plain(value: &Value) -> Result<String, UsageError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(match number.as_f64().filter(|_| number.is_f64()) {
            // Without an exponent, and without a fraction that is zero.
            Some(real) => real.to_string(),
            None => number.to_string(),
        }),
        Value::Bool(_) => Err(UsageError::new(
            "",
            message!("this is not a switch; write a value", "这不是开关；请写取值"),
        )),
        Value::Array(_) => Err(UsageError::new(
            "",
            message!("takes one value, not a list", "只接受一个取值，不接受列表"),
        )),
        Value::Object(_) => {
            Err(UsageError::new("", message!("takes a value, not a table", "只接受取值，不接受表")))
        }
        Value::Null => Err(UsageError::new("", message!("a value is missing", "缺少取值"))),
    }
}

/// The name of an argument outside the command line: its long flag, or that of its place.
fn key(arg: &Arg) -> String {
    arg.get_long().map_or_else(|| arg.get_id().to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
