//! `dyno report`: reports of runs, computed from their records, in the requested format.

use super::bench::say;
use super::loaded;
use super::{cannot_write, show};
use crate::args::language::LanguageArgs;
use crate::args::report::ReportArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::ProcessEnv;
use crate::usage::UsageError;
use dyno_analysis::RunResults;
use dyno_analysis::detail::Detail;
use dyno_analysis::{DirSource, FrameSource, VecSource};
use dyno_draw::ArrangementError;
use dyno_model::Summary;
use dyno_model::frame::Ending;
use dyno_model::plan::Plan;
use dyno_model::{Language, Message, message};
use dyno_record::RecordError;
use dyno_report::TextOptions;
use dyno_report::layout::{
    Layout, LayoutTable, Options, PrintError, RunToPrint, notes_on, per_request,
};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// What is wrong with `--charts` and its like beside another format.
pub(super) fn only_pictures() -> Message {
    message!(
        "this is for --format svg and png; add one, or remove it",
        "仅用于 --format svg 和 png；请加上其一，或去掉该选项"
    )
}

/// What is wrong with a terminal as the place for a format.
pub(super) fn only_binary() -> Message {
    message!("binary output; use --out FILE", "输出为二进制；请使用 --out FILE")
}

/// Charts that cannot be arranged, with the flag that asked for it.
pub(super) fn not_arranged(error: &ArrangementError) -> UsageError {
    let flag = match error {
        ArrangementError::Unknown { .. } => "--charts",
        ArrangementError::TooMany { .. } => "--layout",
        ArrangementError::TooSmall { .. } => "--size",
    };
    UsageError::new(flag, error)
}

/// Reports the named runs, or the latest.
pub(crate) fn run(args: &ReportArgs, printer: &Printer) -> Exit {
    report(args, printer).unwrap_or_else(|error| {
        printer.error(&error);
        error.exit
    })
}

fn report(args: &ReportArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let layout = if args.json { Layout::Json } else { args.format };
    let table = layout.table().filter(|_| args.per_request);
    if args.per_request && table.is_none() {
        let wrong = message!(
            "needs --format csv or parquet; add one, or remove --per-request",
            "需要 --format csv 或 parquet；请加上其一，或去掉 --per-request"
        );
        return Err(UsageError::new("--per-request", wrong));
    }
    if layout.is_binary() && args.out.is_none() && printer.result_on_terminal() {
        return Err(UsageError::new("--format", only_binary()));
    }
    if !args.columns.selection().is_default() && !matches!(layout, Layout::Table | Layout::Markdown)
    {
        let wrong = message!(
            "these are for --format table and markdown; other formats have fixed columns",
            "仅用于 --format table 和 markdown；其他格式的列是固定的"
        );
        return Err(UsageError::new("--columns, --percentiles", wrong));
    }
    if let Some(flag) = args.charts.given().filter(|_| !matches!(layout, Layout::Svg | Layout::Png))
    {
        return Err(UsageError::new(flag, only_pictures()));
    }
    if args.columns.details && layout != Layout::Table {
        let wrong = message!(
            "this is for --format table; other formats have a fixed content",
            "仅用于 --format table；其他格式的内容是固定的"
        );
        return Err(UsageError::new("--details", wrong));
    }
    let all = loaded::all(&args.runs, "RUN")?;
    all.print_problems(false, printer);
    let found = all.runs;
    if let Some(table) = table {
        let notes = found.iter().flat_map(|run| notes_on(&run.summary, language(args.language)));
        notes.for_each(|note| printer.warn(&Message::quoted(note)));
        if let Some(without) = found.iter().find(|run| run.dir.is_none()) {
            let wrong = message!(
                "`{}` has no records of single requests",
                "`{}` 没有单个请求的记录",
                without.path.display()
            );
            return Err(UsageError::new("--per-request", wrong));
        }
        return give(args.out.as_deref(), printer, |out| rows(&found, table, out));
    }
    if layout.needs_detail() && found.len() > 1 {
        let wrong = message!(
            "this format shows one run; name one, or write one file for each",
            "此格式只显示一个测试；请指定一个，或为每个测试各写一个文件"
        );
        return Err(UsageError::new("--format", wrong)
            .hint(message!("PATH#NAME selects one of several", "用 PATH#NAME 选择其中一个")));
    }
    let rests: Vec<Message> = match (layout, &args.out) {
        (Layout::Table, None) => found.iter().filter_map(rest).collect(),
        _ => vec![],
    };
    let unreadable = |error: RecordError| UsageError::new("RUN", error);
    let read = found.into_iter().map(|run| load(run, layout)).collect::<Result<Vec<_>, _>>();
    let runs = read.map_err(unreadable)?;
    let options = Options {
        language: language(args.language),
        text: text_options(args, printer),
        arrangement: args.charts.arrangement(),
    };
    match layout.print(&runs, &options) {
        Ok(printed) => {
            printed.notes.iter().for_each(|note| printer.warn(&Message::quoted(note)));
            let given = give(args.out.as_deref(), printer, |out| out.write_all(&printed.bytes));
            rests.iter().for_each(|line| printer.remark(line));
            given
        }
        Err(PrintError::Arrangement(error)) => Err(not_arranged(&error)),
        Err(PrintError::Png(error)) => Err(UsageError::new("--format", error)),
        Err(error) => {
            printer.error(&error);
            Ok(Exit::Bug)
        }
    }
}

/// How to run the rest of a run that stopped early.
fn rest(run: &RunResults) -> Option<Message> {
    let dir = run.dir.as_ref()?;
    let whole = run.summary.run.ending.is_some_and(Ending::carried_out);
    if whole || run.summary.run.origin.is_some() || dir.is_being_written() {
        return None;
    }
    say::resuming(dir.path(), &dir.read_plan().ok()?).map(say::to_resume)
}

/// Loads what a layout needs of a run.
pub(super) fn load(run: RunResults, layout: Layout) -> Result<RunToPrint, RecordError> {
    let RunResults { summary, mut extras, dir, rebuilt, .. } = run;
    let Some(dir) = dir else {
        let gather = |(_, records): &(Plan, VecSource)| Detail::gather(records);
        let detail = rebuilt.as_ref().filter(|_| layout.needs_detail()).map(gather);
        return Ok(RunToPrint { summary, extras, detail, plan: None, environment: None });
    };
    let plan = dir.read_plan()?;
    let source = DirSource::open(&dir)?;
    let imported = summary.run.origin.is_some();
    if layout.needs_extras() && !imported {
        extras = dyno_analysis::extras(&plan, &source);
    }
    let detail = layout.needs_detail().then(|| Detail::gather(&source));
    let environment = dir.read_environment()?;
    Ok(RunToPrint { summary, extras, detail, plan: Some(plan).filter(|_| !imported), environment })
}

fn rows(runs: &[RunResults], table: LayoutTable, out: &mut dyn Write) -> io::Result<()> {
    let dirs = runs.iter().filter_map(|run| run.dir.as_ref());
    let sources = dirs.map(DirSource::open).collect::<Result<Vec<_>, _>>();
    let sources = sources.map_err(io::Error::other)?;
    let both = runs.iter().zip(&sources);
    let both: Vec<(&Summary, &dyn FrameSource)> =
        both.map(|(run, source)| (&run.summary, source as &dyn FrameSource)).collect();
    per_request(out, table, &both)
}

/// The requested language, else that of the locale.
pub(super) fn language(asked: LanguageArgs) -> Language {
    asked.or(ProcessEnv::of_process().language)
}

fn text_options(args: &ReportArgs, printer: &Printer) -> TextOptions {
    let (selection, details) = (args.columns.selection(), args.columns.details);
    match args.out {
        Some(_) => TextOptions { selection, details, ..TextOptions::default() },
        None => show::text_options(language(args.language), &selection, details, printer),
    }
}

/// Writes the result to the requested file, or to stdout.
pub(super) fn give(
    file: Option<&Path>,
    printer: &Printer,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Exit, UsageError> {
    let Some(path) = file else { return Ok(printer.result_by(write)) };
    let wrong = |error: io::Error| UsageError::new("--out", cannot_write(path, &error));
    let mut out = BufWriter::new(File::create(path).map_err(wrong)?);
    write(&mut out).and_then(|()| out.flush()).map_err(wrong)?;
    printer.note(&message!("written to `{}`", "已写入 `{}`", path.display()));
    Ok(Exit::Fine)
}
