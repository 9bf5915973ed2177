//! Usage errors: one format for everything that is wrong with flags and settings, naming the flag and
//! what would be valid.

mod elsewhere;

pub(crate) use elsewhere::on_command_line;

use crate::config::presets::find;
use crate::exit::Exit;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use dyno_model::{Language, Localized, Message, message};
use std::error::Error;
use std::fmt;

/// An error in what was asked for: it ends the command with status 2, or 3 if what was named contains
/// nothing that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageError {
    /// The flag, key or argument.
    pub(crate) flag: String,
    /// What is wrong with it, what would be valid, and what may help.
    pub(crate) message: Message,
    /// The status that the command ends with.
    pub(crate) exit: Exit,
}

impl UsageError {
    /// An error about one flag.
    pub(crate) fn new(flag: impl Into<String>, message: impl Localized) -> Self {
        Self { flag: flag.into(), message: message.message(), exit: Exit::Usage }
    }

    /// What was named was recognised, and contains no results.
    pub(crate) fn nothing_read(mut self) -> Self {
        self.exit = Exit::TargetUnusable;
        self
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: Message) -> Self {
        self.message = self.message.with_hint(hint);
        self
    }
}

/// Positional arguments as they stand in help pages.
const PLACEHOLDERS: [&str; 5] = ["RUN", "SPEC", "NAME", "FILE", "NAME|FILE"];

impl Localized for UsageError {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        // The placeholder of a positional argument says nothing: the message names what was typed.
        if !self.flag.is_empty() && !PLACEHOLDERS.contains(&self.flag.as_str()) {
            // The place of a setting is a file with a line, and a key.
            let colon = language.colon();
            write!(f, "{}{colon}", self.flag.replace(": ", colon))?;
        }
        self.message.fmt_in(f, language)
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
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
    let help =
        message!("`{command} --help` lists the flags", "运行 `{command} --help` 查看全部参数");
    match error.kind() {
        ErrorKind::ValueValidation => {
            let why = error.source().and_then(|why| why.downcast_ref::<Message>().cloned());
            UsageError::new(flag, why.unwrap_or_else(|| Message::quoted(error)))
        }
        ErrorKind::InvalidValue => {
            let right = text(ContextKind::ValidValue).unwrap_or_default();
            match text(ContextKind::InvalidValue).filter(|value| !value.is_empty()) {
                Some(value) if right.is_empty() => UsageError::new(
                    flag,
                    message!("`{value}` is not a valid value", "`{value}` 不是有效的取值"),
                )
                .hint(help),
                Some(value) => {
                    let wrong = message!(
                        "`{value}` is not a valid value; write one of {right}",
                        "`{value}` 不是有效的取值；请写以下之一：{right}"
                    );
                    UsageError::new(flag, wrong)
                }
                None if right.is_empty() => {
                    UsageError::new(flag, message!("a value is missing", "缺少取值")).hint(help)
                }
                None => UsageError::new(
                    flag,
                    message!(
                        "a value is missing; write one of {right}",
                        "缺少取值；请写以下之一：{right}"
                    ),
                ),
            }
        }
        ErrorKind::UnknownArgument => unknown(&flag, text(ContextKind::SuggestedArg), command),
        ErrorKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            // Several suggestions are guesses.
            let near = text(ContextKind::SuggestedSubcommand).filter(|near| !near.contains(','));
            if command != "dyno" {
                let wrong = UsageError::new(
                    "",
                    message!(
                        "`{typed}` is not a command of {command}",
                        "`{typed}` 不是 {command} 的子命令"
                    ),
                );
                let meant = match near {
                    Some(near) => format!("{command} {near}"),
                    None if command == "dyno twins" => format!("{command} show {typed}"),
                    None => {
                        return wrong.hint(message!(
                            "`{command} --help` lists its commands",
                            "`{command} --help` 列出其子命令"
                        ));
                    }
                };
                return wrong.hint(message!("did you mean `{meant}`?", "是否想写 `{meant}`？"));
            }
            let wrong = UsageError::new(
                "",
                message!("`{typed}` is not a dyno command", "dyno 没有 `{typed}` 这个命令"),
            );
            let known =
                elsewhere::COMMANDS.iter().find(|(names, _)| names.contains(&typed.as_str()));
            match known.map(|(_, ours)| (*ours).to_owned()).or(near) {
                // Several that are equally far away are no suggestion.
                Some(near) if !near.contains(", ") => {
                    wrong.hint(message!("did you mean `dyno {near}`?", "是否想写 `dyno {near}`？"))
                }
                _ => wrong.hint(message!(
                    "`dyno --help` lists the commands",
                    "运行 `dyno --help` 查看全部命令"
                )),
            }
        }
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).map(|arg| bare_name(&arg)).unwrap_or_default();
            if other.is_empty() || other == flag {
                UsageError::new(
                    flag,
                    message!("given more than once; give it once", "重复指定；请只写一次"),
                )
            } else {
                UsageError::new(
                    flag,
                    message!(
                        "cannot be combined with {other}; remove one of them",
                        "不能与 {other} 同时使用；请去掉其中一个"
                    ),
                )
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let usage = match error.get(ContextKind::Usage) {
                Some(ContextValue::StyledStr(usage)) => usage.to_string(),
                _ => String::new(),
            };
            let usage = usage
                .trim()
                .strip_prefix("Usage: ")
                .map(|usage| message!("usage: {usage}", "用法：{usage}"));
            UsageError::new("", message!("the argument {flag} is missing", "缺少参数 {flag}"))
                .hint(usage.unwrap_or(help))
        }
        ErrorKind::TooManyValues => {
            let value = text(ContextKind::InvalidValue).unwrap_or_default();
            UsageError::new(
                flag,
                message!(
                    "takes no value, but `{value}` was given",
                    "不接受取值，但给出了 `{value}`"
                ),
            )
        }
        ErrorKind::InvalidUtf8 => UsageError::new(
            "",
            message!(
                "an argument is not UTF-8; only file names may be",
                "有参数不是 UTF-8；只有文件名可以不是"
            ),
        ),
        _ => {
            let rendered = error.render().to_string();
            let first = rendered.lines().next().unwrap_or_default();
            let message = first.strip_prefix("error: ").unwrap_or(first);
            UsageError::new("", Message::quoted(message)).hint(help)
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
        return UsageError::new(
            "",
            message!(
                "dyno predict takes no target: it simulates a twin",
                "dyno predict 不接受目标：它模拟的是孪生模型"
            ),
        )
        .hint(message!(
            "--twin chooses the twin; `dyno bench URL` measures a server",
            "用 --twin 选择孪生模型；用 `dyno bench URL` 测试服务器"
        ));
    }
    if !flag.starts_with('-') {
        // The argument is not repeated: it may be a header value that was not quoted.
        let message = message!("too many arguments for {command}", "{command} 的参数过多");
        let hint = match command == "dyno presets" && find(flag).is_some() {
            true => message!("did you mean `{command} {flag}`?", "是否想写 `{command} {flag}`？"),
            false => message!(
                "quote values that contain blanks, and separate lists with commas: 8,16,32",
                "含空格的取值请加引号，列表请用逗号分隔：8,16,32"
            ),
        };
        return UsageError::new("", message).hint(hint);
    }
    let wrong = UsageError::new(
        "",
        message!("`{flag}` is not a flag of {command}", "{command} 没有 `{flag}` 这个参数"),
    );
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
        let said =
            |error: UsageError| error.message.hint().map(ToString::to_string).unwrap_or_default();
        let hint =
            |flag: &str, near: &str| said(unknown(flag, Some(near.to_owned()), "dyno bench"));
        assert!(hint("--request-rate", "--requests").ends_with("--rate"));
        assert!(hint("--port", "--report").ends_with("TARGET"));
        assert_eq!(hint("--concurency", "--concurrency"), "did you mean --concurrency?");
        assert_eq!(hint("--turns", ""), "in Dyno this is --data session,turns=N");
        let of = |flag: &str, command: &str| said(unknown(flag, None, command));
        assert!(of("--concurrency", "dyno capacity").starts_with("--over concurrency "));
        assert!(of("--lang", "dyno doctor").starts_with("LC_ALL selects the language"));
        assert_eq!(hint("--colour", "--rate"), "`dyno bench --help` lists the flags");
        assert_eq!(of("-q", "dyno bench"), "in Dyno this is --quiet");
        assert_eq!(
            of("-q", "dyno init"),
            "`dyno init --help` lists the flags",
            "it has no --quiet"
        );
        assert_eq!(of("quick", "dyno presets"), "did you mean `dyno presets quick`?");
        assert!(of("mine", "dyno presets").starts_with("quote values"));
    }
}
