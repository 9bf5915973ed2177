//! How a run is shown, and where it is kept.

use super::{ProcessEnv, versus};
use crate::args::bench::{OutputArgs, ProgressArg};
use crate::args::report::Written;
use crate::usage::UsageError;
use dyno_model::{Language, message};
use dyno_report::ReportSelection;
use dyno_report::layout::Layout;
use std::path::Path;

/// How a run is shown.
pub(crate) struct Showing {
    /// The summary goes to stdout as JSON.
    pub(crate) json: bool,
    /// The language of the summary that people read.
    pub(crate) language: Language,
    /// The columns of tables that were asked for.
    pub(crate) selection: ReportSelection,
    /// Every level is shown with its details.
    pub(crate) details: bool,
    /// The reports that are written into the run directory.
    pub(crate) reports: Vec<Layout>,
    /// No notes, no progress.
    pub(crate) quiet: bool,
    /// No progress.
    pub(crate) no_progress: bool,
    /// Progress and messages as JSON lines.
    pub(crate) json_progress: bool,
    /// A full-screen view while it runs.
    pub(crate) live: bool,
}

impl Showing {
    pub(super) fn of(output: &OutputArgs, surroundings: &ProcessEnv) -> Self {
        Self {
            json: output.json,
            language: output.language.or(surroundings.language),
            selection: output.columns.selection(),
            details: output.columns.details,
            reports: reports(&output.report),
            quiet: output.quiet,
            no_progress: output.no_progress,
            json_progress: output.progress == Some(ProgressArg::Json),
            live: output.live,
        }
    }
}

/// Each report once, in the order in which they were named.
fn reports(asked: &[Written]) -> Vec<Layout> {
    let mut reports = Vec::new();
    for written in asked {
        if let Written::As(layout) = written
            && !reports.contains(layout)
        {
            reports.push(*layout);
        }
    }
    reports
}

/// Refuses a directory that has something in it; with two runs, each has its own.
pub(super) fn check(out: Option<&Path>, two: bool) -> Result<(), UsageError> {
    let all = out.map(|dir| versus::directories(dir, two)).unwrap_or_default();
    all.iter().try_for_each(|dir| check_out(dir))
}

fn check_out(dir: &Path) -> Result<(), UsageError> {
    let wrong = |message| UsageError::new("--out", message);
    match std::fs::read_dir(dir).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(wrong(message!(
            "`{}` is not empty; name a new directory",
            "`{}` 不是空目录；请指定新目录",
            dir.display()
        ))
        .hint(message!("a run never overwrites another", "测试不会覆盖已有的测试"))),
        Ok(false) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(_) if dir.is_file() => Err(wrong(message!(
            "`{}` is a file; name a new directory",
            "`{}` 是文件；请指定新目录",
            dir.display()
        ))),
        Err(error) => Err(wrong(message!(
            "cannot use `{}`: {error}",
            "无法使用 `{}`：{error}",
            dir.display(),
        ))),
    }
}
