//! Keys and header values: where they come from. They are never printed.

use super::notes::Notes;
use super::{ProcessEnv, cannot_read};
use crate::args::bench::ConnectionArgs;
use crate::args::values::{Secret, api_key};
use crate::usage::UsageError;
use dyno_model::{Message, message};
use dyno_run::Secrets;
use std::io::Read;
use std::path::Path;

/// A longer file does not hold a key.
const LONGEST_KEY: u64 = 64 * 1024;

/// The key, in order of precedence from `--api-key-file`, `--api-key` or `DYNO_API_KEY`, and the
/// headers. `DYNO_API_KEY` is not sent to the embedded engine.
pub(super) fn gather(
    args: &ConnectionArgs,
    surroundings: &ProcessEnv,
    has_target: bool,
    notes: &mut Notes,
    warnings: &mut Vec<Message>,
) -> Result<Secrets, UsageError> {
    let headers: Vec<(String, String)> =
        args.header.iter().map(|h| (h.name.clone(), h.value.0.clone())).collect();
    let authorised = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));

    let mut key = None;
    if args.api_key.is_some() {
        warnings.push(message!(
            "--api-key is visible in the process list and the shell history; use --api-key-file \
             or DYNO_API_KEY",
            "--api-key 会出现在进程列表和命令历史中；请使用 --api-key-file 或 DYNO_API_KEY"
        ));
    }
    if let Some(path) = &args.api_key_file {
        key = Some(("--api-key-file", read_key(path)?));
        if args.api_key.is_some() {
            notes.push(message!(
                "--api-key is ignored: --api-key-file takes precedence",
                "已忽略 --api-key：以 --api-key-file 为准"
            ));
        }
    } else if let Some(typed) = &args.api_key {
        key = Some(("--api-key", typed.clone()));
    }
    if let (Some((flag, _)), true) = (&key, authorised) {
        return Err(UsageError::new(
            *flag,
            message!(
                "the key and --header both set Authorization; remove one of them",
                "密钥和 --header 都设置了 Authorization；请去掉其中一个"
            ),
        ));
    }
    if key.is_none() && has_target {
        key = match &surroundings.api_key {
            Some(_) if authorised => {
                notes.push(message!(
                    "DYNO_API_KEY is ignored: --header sets Authorization",
                    "已忽略 DYNO_API_KEY：--header 已设置 Authorization"
                ));
                None
            }
            Some(found) => Some(("DYNO_API_KEY", from_environment(found)?)),
            None => None,
        };
    }
    Ok(Secrets { api_key: key.map(|(_, key)| key.0), headers })
}

fn from_environment(found: &Result<Secret, ()>) -> Result<Secret, UsageError> {
    let wrong = |message: Message| UsageError::new("DYNO_API_KEY", message);
    let text = found
        .as_ref()
        .map_err(|()| wrong(message!("the variable is not UTF-8", "该变量不是 UTF-8")))?;
    api_key(text.0.trim()).map_err(wrong)
}

fn read_key(path: &Path) -> Result<Secret, UsageError> {
    let wrong = |message: Message| UsageError::new("--api-key-file", message);
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LONGEST_KEY).read_to_string(&mut text))
        .map_err(|error| wrong(cannot_read(path, &error)))?;
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return Err(wrong(message!(
            "the first line of `{}` is empty; it must hold the key",
            "`{}` 的第一行为空；密钥应写在第一行",
            path.display()
        )));
    }
    api_key(line)
        .map_err(|why| wrong(message!("in `{}`: {why}", "在 `{}` 中：{why}", path.display())))
}
