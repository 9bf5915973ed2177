//! `dyno import`: lists other tools' results, and saves them like runs of Dyno.

use super::loaded::{self, All, Loaded, SUMMARY};
use crate::args::import::ImportArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_analysis::VecSource;
use dyno_model::plan::Plan;
use dyno_model::summary::Extras;
use dyno_model::{Language, Summary};
use dyno_record::{RecordError, Recorder, RunDir};
use dyno_words::escape::escape;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What some layouts need beyond a summary.
const EXTRAS: &str = "extras.json";

/// Reads, lists and saves.
pub(crate) fn run(args: &ImportArgs, printer: &Printer) -> Exit {
    imported(args, printer).unwrap_or_else(|error| {
        printer.error(error);
        Exit::Usage
    })
}

fn imported(args: &ImportArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let all = loaded::all(&args.files, "FILE")?;
    for (path, problem) in &all.problems {
        let message = loaded::problem(path, problem, printer.language());
        if problem.is_error() { printer.warn(message) } else { printer.note(message) }
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
        return Ok(match serde_json::to_string_pretty(&summaries) {
            Ok(json) => printer.result(&(json + "\n")),
            Err(error) => {
                printer.error(error);
                Exit::Bug
            }
        });
    }
    let exit = printer.result(&listed(&all, printer.language()));
    if let Some(out) = &args.out {
        printer.note(format_args!("saved in `{}`", out.display()));
    }
    Ok(exit)
}

/// One line per table.
fn listed(all: &All, language: Language) -> String {
    let mut text = String::new();
    for (place, run) in (1..).zip(&all.runs) {
        let levels = run.summary.levels.len();
        let rows = language.choose([if levels == 1 { "level " } else { "levels" }, "个档位"]);
        text.push_str(&format!("{place:>3}  {levels:>3} {rows}  {}\n", described(run)));
    }
    let levels: usize = all.runs.iter().map(|run| run.summary.levels.len()).sum();
    let runs = all.runs.len();
    text + &match language {
        Language::English => {
            let rows = if levels == 1 { "level" } else { "levels" };
            format!("{runs} in total, with {levels} {rows}\n")
        }
        Language::Chinese => format!("共 {runs} 个，{levels} 个档位\n"),
    }
}

/// The name of a result, and where it was found.
fn described(run: &Loaded) -> String {
    let name = escape(run.name(), 80);
    let Some(origin) = &run.summary.run.origin else { return name };
    format!("{name} ({})", escape(&origin.described(), 120))
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

fn keep(dir: &Path, run: &Loaded) -> Result<(), String> {
    let unwritable = |error: std::io::Error| format!("cannot write `{}`: {error}", dir.display());
    let encoded = |error: serde_json::Error| format!("cannot be written as JSON: {error}");
    if dir.exists() {
        return Err(format!("`{}` already exists; name another directory", dir.display()));
    }
    let kept = RunDir::create(dir).map_err(|error| error.to_string())?;
    if let Some((plan, records)) = &run.rebuilt {
        keep_records(&kept, plan, records).map_err(|error| error.to_string())?;
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
pub(super) fn read_extras(dir: &Path) -> Result<Extras, String> {
    let path = dir.join(EXTRAS);
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| format!("`{}` is damaged: {error}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Extras::default()),
        Err(error) => Err(format!("cannot read `{}`: {error}", path.display())),
    }
}
