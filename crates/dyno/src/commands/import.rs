//! `dyno import`: lists other tools' results, and saves them like runs of Dyno.

use super::loaded::{self, All, Loaded, SUMMARY};
use super::shown_json;
use crate::args::import::ImportArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_analysis::VecSource;
use dyno_import::{FileOutcome, Outcome};
use dyno_model::plan::Plan;
use dyno_model::summary::{Extras, Origin};
use dyno_model::{Language, Summary, Sure};
use dyno_record::{RecordError, Recorder, RunDir};
use dyno_words::columns::{cut_middle, left, right, width};
use dyno_words::escape::escape;
use dyno_words::{messages, translated};
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
        if let Some(doubt) = doubt(run, printer.language()) {
            printer.note(doubt);
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
                printer.error(error);
                Exit::Bug
            }
        });
    }
    let files = if all.files.len() > 1 { files(&all.files, printer) } else { String::new() };
    let exit = printer.result(&(files + &listed(&all, printer.language())));
    if let Some(out) = &args.out {
        printer.note(format_args!("saved in `{}`", out.display()));
    }
    Ok(exit.and(status))
}

/// Reads what the arguments name. Of several, one without results does not stop the others; its status is
/// that of the command.
fn each(named: &[PathBuf], printer: &Printer) -> Result<(All, Exit), UsageError> {
    let (mut all, mut wrong) = (All::default(), Vec::new());
    for path in named {
        match loaded::all(std::slice::from_ref(path), "FILE") {
            Ok(mut found) => {
                all.runs.append(&mut found.runs);
                all.problems.append(&mut found.problems);
                all.files.append(&mut found.files);
            }
            Err(error) => {
                let unknown = error.hint.is_some() && path.is_file();
                let reason = || Outcome::Unreadable(error.message.clone());
                let outcome = if unknown { Outcome::Unknown } else { reason() };
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
    wrong.iter().for_each(|error| printer.error(&error.message));
    Ok((all, exit))
}

/// A note on results that may be something else than they were taken for.
fn doubt(run: &Loaded, language: Language) -> Option<String> {
    let origin = run.summary.run.origin.as_ref()?;
    let recognised = origin.recognised.as_ref().filter(|one| one.sure == Sure::Possible)?;
    let by: Vec<String> = recognised.by.iter().map(|by| format!("`{}`", escape(by, 40))).collect();
    let place = escape(&origin.described(), 120);
    Some(Say::Doubt.with(language, &[&place, &by.join(", ")]))
}

messages! {
    /// What the command says.
    enum Say;

    Doubt: "{} was recognised by its shape only ({}), and may be something else: check the values",
        "{} 仅凭其形式识别（{}），可能并非该工具的结果：请核对数值";
    File: "file", "文件";
    Tool: "tool", "工具";
    Sureness: "recognised", "识别";
    Levels: "levels", "档位";
    What: "outcome", "结果";
    Read: "read", "已读入";
    Copy: "same results as {}", "与 {} 的结果相同";
    Empty: "no results in it", "其中没有结果";
    Unknown: "not recognised", "无法识别";
    Certain: "certain", "确定";
    Likely: "likely", "很可能";
    Possible: "possible", "可能";
    Counted: "{} files: {} read, {} with the same results, {} without results, {} not recognised, {} unreadable",
        "共 {} 个文件：已读入 {} 个，结果重复 {} 个，没有结果 {} 个，无法识别 {} 个，无法读取 {} 个";
}

/// The outcome of each file.
fn files(files: &[FileOutcome], printer: &Printer) -> String {
    let language = printer.language();
    let say = |say: Say| say.with(language, &[] as &[&str]);
    let mut rows = vec![[Say::File, Say::Tool, Say::Sureness, Say::Levels, Say::What].map(say)];
    let mut counts = [0_usize; 5];
    for file in files {
        let dash = || "–".to_owned();
        let sure = |sure: &Option<Sure>| {
            sure.map_or_else(dash, |sure| {
                say(match sure {
                    Sure::Certain => Say::Certain,
                    Sure::Likely => Say::Likely,
                    Sure::Possible => Say::Possible,
                })
            })
        };
        let shown = |tool: &String| if tool.is_empty() { dash() } else { tool.clone() };
        let (kind, rest) = match &file.outcome {
            Outcome::Read { tool, sure: how, levels } => {
                (0, [tool.clone(), sure(how), levels.to_string(), say(Say::Read)])
            }
            Outcome::Copy { tool, of } => {
                let same = Say::Copy.with(language, &[&escape(of, 80)]);
                (1, [tool.clone(), dash(), dash(), same])
            }
            Outcome::Empty { tool } => (2, [shown(tool), dash(), dash(), say(Say::Empty)]),
            Outcome::Unknown => (3, [dash(), dash(), dash(), say(Say::Unknown)]),
            Outcome::Unreadable(why) => {
                let why = escape(&translated(why, language), 120);
                (4, [dash(), dash(), dash(), why])
            }
        };
        counts[kind] += 1;
        let [tool, sure, levels, what] = rest;
        rows.push([escape(&file.file, 200), tool, sure, levels, what]);
    }
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths = [widest(0).min(NAME), widest(1), widest(2), widest(3)];
    let mut text = String::new();
    for [file, tool, sure, levels, what] in &rows {
        let cells = [
            left(&cut_middle(file, widths[0]), widths[0]),
            left(tool, widths[1]),
            left(sure, widths[2]),
            right(levels, widths[3]),
        ];
        text.push_str(format!("{}  {what}", cells.join("  ")).trim_end());
        text.push('\n');
    }
    let numbers = [&[files.len()], counts.as_slice()].concat().into_iter().map(|n| n.to_string());
    let numbers: Vec<String> = numbers.collect();
    text + &Say::Counted.with(language, &numbers) + "\n\n"
}

/// Columns of the names of files.
const NAME: usize = 60;

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
    let file =
        if run.path.is_file() { run.path.display().to_string() } else { origin.file.clone() };
    let origin = Origin { file, ..origin.clone() };
    format!("{name} ({})", escape(&origin.described(), 160))
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
