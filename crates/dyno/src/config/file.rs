//! A file of settings, in TOML or YAML, each named like its flag.

use super::{COMMANDS, Setting, key, setting};
use crate::args::Cli;
use crate::usage::UsageError;
use clap::{Arg, Command, CommandFactory};
use dyno_form::entries::{self, SettingEntry};
use dyno_model::nearest::nearest;
use dyno_model::{Message, message};
use std::io::Read;
use std::path::Path;

/// Flags that make no sense inside the file they name.
pub(super) const NOT_IN_FILES: [&str; 2] = ["config", "help"];
const LARGEST_FILE: usize = 1 << 20;

/// The settings of a file, and the keys that are for other commands.
pub(super) fn settings(
    command: &Command,
    path: &Path,
) -> Result<(Vec<Setting>, Vec<String>), UsageError> {
    let wrong = |message: Message| UsageError::new("--config", message);
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST_FILE as u64 + 1).read_to_string(&mut text))
        .map_err(|error| wrong(crate::resolve::cannot_read(path, &error)))?;
    if text.len() > LARGEST_FILE {
        return Err(wrong(message!(
            "`{}` is over 1 MiB, too large for a settings file",
            "`{}` 超过 1 MiB，作为设置文件过大",
            path.display()
        )));
    }
    let file = path.display().to_string();
    let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let entries = if is_yaml { entries::of_yaml(&text) } else { entries::of_toml(&text) };
    let entries = entries.map_err(|wrong| {
        let key = wrong.key.map(|key| format!(": {key}")).unwrap_or_default();
        UsageError::new(format!("{file}:{}{key}", wrong.line), wrong.what)
    })?;
    of_entries(command, &file, entries)
}

/// The settings that entries stand for, each checked separately so that an error names its line.
pub(super) fn of_entries(
    command: &Command,
    file: &str,
    entries: Vec<SettingEntry>,
) -> Result<(Vec<Setting>, Vec<String>), UsageError> {
    let (mut settings, mut ignored) = (Vec::new(), Vec::new());
    for SettingEntry { key, line, value } in entries {
        let place = format!("{file}:{line}: {key}");
        match command.get_arguments().find(|arg| may_be(arg, &key)) {
            Some(_) if key == "api-key" => {
                return Err(UsageError::new(
                    place,
                    message!("keys do not belong in settings files", "设置文件中不应包含密钥"),
                )
                .hint(message!(
                    "use api-key-file here, or DYNO_API_KEY in the environment",
                    "请在此使用 api-key-file，或设置环境变量 DYNO_API_KEY"
                )));
            }
            Some(arg) => settings.push(setting(command, arg, &place, &value)?),
            None if known().contains(&key) => ignored.push(key),
            None => return Err(unknown(place, &key, command)),
        }
    }
    Ok((settings, ignored))
}

/// Whether a key stands for an argument.
fn may_be(arg: &Arg, name: &str) -> bool {
    key(arg) == name && !NOT_IN_FILES.contains(&name)
}

/// The keys of all commands.
fn known() -> Vec<String> {
    let cli = Cli::command();
    let commands = COMMANDS.iter().filter_map(|name| cli.find_subcommand(name));
    let keys = commands.flat_map(Command::get_arguments).map(key);
    keys.filter(|key| !NOT_IN_FILES.contains(&key.as_str())).collect()
}

fn unknown(place: String, name: &str, command: &Command) -> UsageError {
    let wrong = UsageError::new(place, message!("there is no such setting", "没有这个设置"));
    let known = known();
    match nearest(name, &known.iter().map(String::as_str).collect::<Vec<_>>()) {
        Some(near) => wrong.hint(message!("did you mean {near}?", "是否想写 {near}？")),
        None => wrong.hint(message!(
            "settings are named like the flags of `dyno {} --help`, without --",
            "设置名与 `dyno {} --help` 中的参数相同，去掉 --",
            command.get_name()
        )),
    }
}
