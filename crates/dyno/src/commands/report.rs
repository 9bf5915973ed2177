//! `dyno report`: the summaries of runs again, from their records alone, in the layout that was
//! asked for.

use super::RUNS;
use crate::args::report::ReportArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_record::{RecordError, RunDir};
use dyno_report::detail::Detail;
use dyno_report::layout::{Extras, Layout, Options, PrintError, Run, Table, notes_on, per_request};
use dyno_report::messages::Language;
use dyno_report::{DirSource, FrameSource, Summary, TextOptions, summarise};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Prints the runs that were named, or the latest.
pub(crate) fn run(args: &ReportArgs, printer: &Printer) -> Exit {
    report(args, printer).unwrap_or_else(|error| {
        printer.error(error);
        Exit::Usage
    })
}

fn report(args: &ReportArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let layout = if args.json { Layout::Json } else { args.format };
    let table = layout.table().filter(|_| args.per_request);
    if args.per_request && table.is_none() {
        let wrong = "it is for --format csv or parquet; add that, or leave --per-request out";
        return Err(UsageError::new("--per-request", wrong));
    }
    if layout.is_binary() && args.out.is_none() && printer.result_on_terminal() {
        let wrong = "this is no text for a terminal; add --out FILE";
        return Err(UsageError::new("--format", wrong));
    }
    let unreadable = |error: RecordError| UsageError::new("RUN", error.to_string());
    let dirs = opened(&args.runs).map_err(unreadable)?;
    if let Some(table) = table {
        // Whatever cannot be read is said before anything is written.
        let read = dirs.iter().map(|dir| load(dir, None)).collect::<Result<Vec<_>, _>>();
        let runs = read.map_err(unreadable)?;
        let notes = runs.iter().flat_map(|run| notes_on(&run.summary, language(args)));
        notes.for_each(|note| printer.warn(note));
        return give(args.out.as_deref(), printer, |out| rows(&dirs, &runs, table, out));
    }
    if layout.is_of_one_run() && dirs.len() > 1 {
        let wrong = "a page of charts is of one run; name one, or write one page for each";
        return Err(UsageError::new("--format", wrong));
    }
    let read = dirs.iter().map(|dir| load(dir, Some(layout))).collect::<Result<Vec<_>, _>>();
    let runs = read.map_err(unreadable)?;
    let options = Options { language: language(args), text: text_options(args, printer) };
    match layout.print(&runs, &options) {
        Ok(printed) => {
            printed.notes.iter().for_each(|note| printer.warn(note));
            give(args.out.as_deref(), printer, |out| out.write_all(&printed.bytes))
        }
        Err(PrintError::Png(error)) => Err(UsageError::new("--format", error.to_string())),
        Err(error) => {
            printer.error(error);
            Ok(Exit::Bug)
        }
    }
}

/// The summary of one run, or of the latest.
pub(super) fn read(dir: Option<&Path>) -> Result<Summary, RecordError> {
    let dir = match dir {
        Some(dir) => RunDir::open(dir)?,
        None => RunDir::latest(Path::new(RUNS))?,
    };
    Ok(load(&dir, None)?.summary)
}

fn opened(runs: &[std::path::PathBuf]) -> Result<Vec<RunDir>, RecordError> {
    if runs.is_empty() {
        return Ok(vec![RunDir::latest(Path::new(RUNS))?]);
    }
    runs.iter().map(RunDir::open).collect()
}

/// What a layout needs of a run.
fn load(dir: &RunDir, layout: Option<Layout>) -> Result<Run, RecordError> {
    let plan = dir.read_plan()?;
    let environment = dir.read_environment()?;
    let source = DirSource::open(dir)?;
    let summary = summarise(&plan, environment.as_ref(), &source);
    let extras = match layout.is_some_and(Layout::needs_extras) {
        true => Extras::gather(&plan, &source),
        false => Extras::default(),
    };
    let detail = layout.is_some_and(Layout::needs_detail).then(|| Detail::gather(&source));
    Ok(Run { summary, extras, detail })
}

fn rows(dirs: &[RunDir], runs: &[Run], table: Table, out: &mut dyn Write) -> io::Result<()> {
    let sources = dirs.iter().map(DirSource::open).collect::<Result<Vec<_>, _>>();
    let sources = sources.map_err(io::Error::other)?;
    let both = runs.iter().zip(&sources);
    let both: Vec<(&Summary, &dyn FrameSource)> =
        both.map(|(run, source)| (&run.summary, source as &dyn FrameSource)).collect();
    per_request(out, table, &both)
}

fn language(args: &ReportArgs) -> Language {
    args.lang.map_or_else(
        || {
            let set = ["LC_ALL", "LC_MESSAGES", "LANG"].map(|name| std::env::var(name).ok());
            Language::of_locale(set.each_ref().map(|value| value.as_deref()))
        },
        Language::from,
    )
}

fn text_options(args: &ReportArgs, printer: &Printer) -> TextOptions {
    match args.out {
        Some(_) => TextOptions::default(),
        None => TextOptions { width: printer.result_width(), color: printer.result_colour() },
    }
}

/// Writes the result to where it was asked for.
fn give(
    file: Option<&Path>,
    printer: &Printer,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Exit, UsageError> {
    let Some(path) = file else { return Ok(printer.result_by(write)) };
    let wrong = |error: io::Error| {
        UsageError::new("--out", format!("cannot write `{}`: {error}", path.display()))
    };
    let mut out = BufWriter::new(File::create(path).map_err(wrong)?);
    write(&mut out).and_then(|()| out.flush()).map_err(wrong)?;
    printer.note(format_args!("written to `{}`", path.display()));
    Ok(Exit::Fine)
}
