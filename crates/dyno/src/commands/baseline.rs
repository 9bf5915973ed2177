//! `dyno baseline`: summaries under names, in a small directory that suits git.

use super::loaded;
use super::{cannot_write, shown_json};
use crate::args::compare::BaselineAction;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_analysis::RunResults;
use dyno_model::message;
use dyno_words::escape::escape;
use std::fs;
use std::path::{Path, PathBuf};

/// Saves or lists.
pub(crate) fn run(action: &BaselineAction, printer: &Printer) -> Exit {
    let done = match action {
        BaselineAction::Save { name, run, force, baselines } => {
            save(name, run.as_ref(), *force, baselines, printer)
        }
        BaselineAction::List { baselines } => list(baselines, printer),
    };
    done.unwrap_or_else(|error| {
        printer.error(&error);
        error.exit
    })
}

/// The file of a baseline.
pub(super) fn file(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.json"))
}

/// The one run that an argument names.
pub(super) fn one(run: Option<&PathBuf>, argument: &str) -> Result<RunResults, UsageError> {
    let named: Vec<PathBuf> = run.into_iter().cloned().collect();
    let mut all = loaded::all(&named, argument)?.runs;
    match all.len() {
        1 => Ok(all.remove(0)),
        many => {
            let names: Vec<&str> = all.iter().map(RunResults::name).collect();
            let message = message!(
                "holds {many} runs or tables, and one is needed",
                "包含 {many} 个测试或表格，而此处需要一个"
            );
            Err(UsageError::new(argument, message).hint(message!(
                "pick one with PATH#NAME: {}",
                "请用 PATH#NAME 选择其一：{}",
                names.join("; ")
            )))
        }
    }
}

fn save(
    name: &str,
    run: Option<&PathBuf>,
    force: bool,
    baselines: &Path,
    printer: &Printer,
) -> Result<Exit, UsageError> {
    let run = one(run, "RUN")?;
    let path = file(baselines, name);
    if path.exists() && !force {
        let wrong = message!(
            "there is a baseline `{}` already, in `{}`",
            "基线 `{}` 已存在，位于 `{}`",
            name,
            path.display()
        );
        return Err(UsageError::new("NAME", wrong)
            .hint(message!("add --force to replace it", "如需替换，请加 --force")));
    }
    let unwritable =
        |error: std::io::Error| UsageError::new("--baselines", cannot_write(&path, &error));
    // Line by line, so that git shows what changed.
    let json = match shown_json(&run.summary) {
        Ok(json) => json + "\n",
        Err(error) => {
            printer.error(&error);
            return Ok(Exit::Bug);
        }
    };
    fs::create_dir_all(baselines).map_err(unwritable)?;
    fs::write(&path, json).map_err(unwritable)?;
    printer.note(&message!(
        "saved `{}` as baseline {}, in `{}`",
        "已将 `{}` 保存为基线 {}，位于 `{}`",
        run.path.display(),
        name,
        path.display()
    ));
    Ok(Exit::Fine)
}

fn list(baselines: &Path, printer: &Printer) -> Result<Exit, UsageError> {
    let wrong = |error: std::io::Error| {
        let message =
            message!("cannot list `{}`: {error}", "无法列出 `{}`：{error}", baselines.display(),);
        UsageError::new("--baselines", message).hint(message!(
            "dyno baseline save NAME creates it",
            "用 `dyno baseline save NAME` 创建"
        ))
    };
    let mut files: Vec<PathBuf> = fs::read_dir(baselines)
        .map_err(wrong)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let mut text = String::new();
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let run = one(Some(&path), "--baselines")?;
        let started = run.summary.run.started.as_deref().unwrap_or("-");
        let levels = run.summary.levels.len();
        let what = escape(run.name(), 60);
        let rows = if levels == 1 { "level " } else { "levels" };
        let rows = printer.language().choose([rows, "个档位"]);
        text.push_str(&format!(
            "{name:<20} {started:<20} {levels:>3} {rows}  {what}
"
        ));
    }
    Ok(printer.result(&text))
}
