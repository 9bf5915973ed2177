//! `dyno import`: lists other tools' results, and saves them like runs of Dyno.

use super::loaded::{self, LoadedRuns, SUMMARY};
use super::{cannot_write, shown_json};
use crate::args::import::ImportArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::cannot_read;
use crate::usage::UsageError;
use dyno_analysis::RunResults;
use dyno_analysis::VecSource;
use dyno_import::{FileOutcome, ImportOutcome};
use dyno_model::plan::Plan;
use dyno_model::summary::Extras;
use dyno_model::{Message, Summary, Sure, message};
use dyno_record::{RecordError, Recorder, RunDir};
use dyno_report::imported::{files, results};
use dyno_words::escape::escape;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What some layouts need beyond a summary.
const EXTRAS: &str = "extras.json";

/// Reads, lists and saves.
pub(crate) fn run(args: &ImportArgs, printer: &Printer) -> Exit {
    imported(args, printer).unwrap_or_else(|error| {
        printer.error(&error);
        error.exit
    })
}

fn imported(args: &ImportArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let (all, status) = each(&args.files, printer)?;
    all.print_problems(true, printer);
    for run in &all.runs {
        if let Some(doubt) = doubt(run) {
            printer.note(&doubt);
        }
    }
    if let Some(out) = &args.out {
        let wrong = |message| UsageError::new("--out", message);
        let mut taken = BTreeSet::new();
        for run in &all.runs {
            keep(&out.join(free(&run.summary.run.id, &mut taken)), run).map_err(wrong)?;
        }
    }
    if args.json {
        let summaries: Vec<&Summary> = all.runs.iter().map(|run| &run.summary).collect();
        return Ok(match shown_json(&summaries) {
            Ok(json) => printer.result(&(json + "\n")).and(status),
            Err(error) => {
                printer.error(&error);
                Exit::Bug
            }
        });
    }
    let language = printer.language();
    let files = if all.files.len() > 1 { files(&all.files, language) } else { String::new() };
    let file = |run: &RunResults| run.path.is_file().then(|| run.path.display().to_string());
    let found: Vec<_> = all.runs.iter().map(|run| (&run.summary, file(run))).collect();
    let exit = printer.result(&(files + &results(&found, language)));
    if let Some(out) = &args.out {
        printer.note(&message!("saved in `{}`", "已保存到 `{}`", out.display()));
    }
    Ok(exit.and(status))
}

/// Reads what the arguments name. Of several, one without results does not stop the others; its status is
/// that of the command.
fn each(named: &[PathBuf], printer: &Printer) -> Result<(LoadedRuns, Exit), UsageError> {
    let (mut all, mut wrong) = (LoadedRuns::default(), Vec::new());
    for path in named {
        match loaded::all(std::slice::from_ref(path), "FILE") {
            Ok(mut found) => {
                all.runs.append(&mut found.runs);
                all.problems.append(&mut found.problems);
                all.files.append(&mut found.files);
            }
            Err(error) => {
                let unknown = error.message.hint().is_some() && path.is_file();
                let reason = || ImportOutcome::Unreadable(error.message.clone());
                let outcome = if unknown { ImportOutcome::Unknown } else { reason() };
                let file = path.display().to_string();
                all.files.push(FileOutcome { file, outcome });
                wrong.push(error);
            }
        }
    }
    let exit = wrong.iter().map(|error| error.exit).max().unwrap_or(Exit::Fine);
    if named.len() == 1
        && let Some(error) = wrong.pop()
    {
        return Err(error);
    }
    wrong.into_iter().for_each(|error| printer.error(&error.message.split_hint().0));
    Ok((all, exit))
}

/// A note on results that may be something else than they were taken for.
fn doubt(run: &RunResults) -> Option<Message> {
    let origin = run.summary.run.origin.as_ref()?;
    let recognised = origin.recognised.as_ref().filter(|one| one.sure == Sure::Possible)?;
    let by: Vec<String> = recognised.by.iter().map(|by| format!("`{}`", escape(by, 40))).collect();
    let (place, by) = (escape(&origin.described(), 120), by.join(", "));
    Some(message!(
        "{place} was recognised by its shape only ({by}), and may be something else: check the \
         values",
        "{place} 仅凭其形式识别（{by}），可能并非该工具的结果：请核对数值"
    ))
}

/// A directory name that no other run of this import has.
fn free(id: &str, taken: &mut BTreeSet<String>) -> String {
    let name = folder(id);
    let others = (2..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.clone()).chain(others).find(|name| !taken.contains(name));
    let free = free.unwrap_or(name);
    taken.insert(free.clone());
    free
}

fn keep(dir: &Path, run: &RunResults) -> Result<(), Message> {
    let unwritable = |error: std::io::Error| cannot_write(dir, &error);
    let encoded = |error: serde_json::Error| {
        message!("cannot be written as JSON: {error}", "无法写成 JSON：{error}")
    };
    if dir.exists() {
        return Err(message!(
            "`{}` already exists; name another directory",
            "`{}` 已存在；请指定其他目录",
            dir.display()
        ));
    }
    let kept = RunDir::create(dir).map_err(Message::of)?;
    if let Some((plan, records)) = &run.rebuilt {
        keep_records(&kept, plan, records).map_err(Message::of)?;
    }
    let summary = serde_json::to_vec_pretty(&run.summary).map_err(encoded)?;
    fs::write(dir.join(SUMMARY), summary).map_err(unwritable)?;
    if run.extras != Extras::default() {
        let extras = serde_json::to_vec_pretty(&run.extras).map_err(encoded)?;
        fs::write(dir.join(EXTRAS), extras).map_err(unwritable)?;
    }
    Ok(())
}

/// Writes rebuilt records as a run would.
fn keep_records(dir: &RunDir, plan: &Plan, records: &VecSource) -> Result<(), RecordError> {
    dir.write_plan(plan)?;
    let recorder = Recorder::start(dir, records.header.clone())?;
    records.frames.iter().cloned().for_each(|frame| recorder.send(frame));
    recorder.finish().error.map_or(Ok(()), Err)
}

/// An id as a safe directory name.
fn folder(id: &str) -> String {
    let fit = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = id.chars().map(fit).take(80).collect();
    name.trim_start_matches('.').to_owned()
}

/// The extras saved next to a summary.
pub(super) fn read_extras(dir: &Path) -> Result<Extras, Message> {
    let path = dir.join(EXTRAS);
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            message!("`{}` is damaged: {error}", "`{}` 已损坏：{error}", path.display())
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Extras::default()),
        Err(error) => Err(cannot_read(&path, &error)),
    }
}
