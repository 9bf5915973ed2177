//! Loads results from any source: a run, imported results, a saved summary, or another tool's file.
//! `PATH#NAME` selects those whose name contains NAME.

use super::RUNS;
use crate::printer::Printer;
use crate::resolve::cannot_read;
use crate::usage::UsageError;
use dyno_analysis::{DirSource, RunResults, summarise};
use dyno_import::{FileOutcome, ImportError, ImportOutcome, Imported, natural_order};
use dyno_model::message::{clauses, joined};
use dyno_model::summary::SUMMARY_SCHEMA;
use dyno_model::{Diagnostic, Message, Summary, message};
use dyno_record::{RunDir, find_run};
use dyno_words::InLanguage;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The path that stands for standard input.
const STDIN: &str = "-";
/// The file of a summary in a directory.
pub(crate) const SUMMARY: &str = "summary.json";
/// The largest summary that is read, in bytes.
const LARGEST: u64 = 256 << 20;
/// How many levels of directories are searched for results.
const DEEPEST: usize = 6;

/// Everything that the arguments name, and problems with it.
#[derive(Debug, Default)]
pub(crate) struct LoadedRuns {
    pub(crate) runs: Vec<RunResults>,
    /// What could not be read, or had to be assumed, with its file.
    pub(crate) problems: Vec<(PathBuf, Diagnostic)>,
    /// What became of each file of another tool.
    pub(crate) files: Vec<FileOutcome>,
}

impl LoadedRuns {
    /// Prints what could not be read, and with `notes` what had to be assumed.
    pub(crate) fn print_problems(&self, notes: bool, printer: &Printer) {
        let mut kinds: BTreeMap<(&Path, &str), usize> = BTreeMap::new();
        for (path, one) in self.problems.iter().filter(|(_, one)| notes || one.is_error()) {
            let count = kinds.entry((path, &one.code)).or_default();
            *count += 1;
            // The thousandth line of the same kind says nothing new.
            if *count > SHOWN_OF_A_KIND {
                continue;
            }
            match one.is_error() {
                true => printer.warn(&problem(path, one)),
                false => printer.note(&problem(path, one)),
            }
        }
        for ((path, kind), count) in kinds.iter().filter(|(_, count)| **count > SHOWN_OF_A_KIND) {
            let (path, more) = (path.display(), count - SHOWN_OF_A_KIND);
            printer.warn(&message!(
                "`{path}`: {more} more of the same kind ({kind})",
                "`{path}`：另有 {more} 个同类问题（{kind}）"
            ));
        }
    }
}

/// Problems of one kind that are printed of a file.
const SHOWN_OF_A_KIND: usize = 5;

/// Loads what the arguments name; the latest run if there are none.
pub(crate) fn all(named: &[PathBuf], argument: &str) -> Result<LoadedRuns, UsageError> {
    let mut found = LoadedRuns::default();
    let wrong = |message: Message| UsageError::new(argument, message);
    if named.is_empty() {
        let dir = RunDir::latest(Path::new(RUNS)).map_err(|error| wrong(Message::of(error)))?;
        found.runs.push(own(dir).map_err(wrong)?);
    }
    for path in named {
        let (runs, problems) = (found.runs.len(), found.problems.len());
        let (path, part) = split_selector(path);
        let path = if path.as_os_str() == STDIN {
            path
        } else {
            resolve_run_name(&path).map_err(wrong)?
        };
        read(&path, &mut found)
            .map_err(|error| UsageError { flag: argument.to_owned(), ..error })?;
        if let Some(part) = part {
            pick(&mut found.runs, runs, &path, &part).map_err(wrong)?;
        }
        if found.runs.len() == runs {
            let problems = found.problems.get(problems..).unwrap_or_default();
            return Err(nothing(&path, problems, &found.files, argument));
        }
    }
    Ok(found)
}

/// What a file or folder without results contains instead.
fn nothing(
    path: &Path,
    problems: &[(PathBuf, Diagnostic)],
    files: &[FileOutcome],
    argument: &str,
) -> UsageError {
    let reason = |(_, one): &(PathBuf, Diagnostic)| {
        let what = Message::each(|language| one.in_language(language).what.clone());
        match one.line() {
            Some(line) => message!("line {line}: {what}", "第 {line} 行：{what}"),
            None => what,
        }
    };
    let mut reasons: Vec<Message> = problems.iter().map(reason).collect();
    let empty = files.iter().filter_map(|file| match &file.outcome {
        ImportOutcome::Empty { tool } if reasons.is_empty() => Some(message!(
            "`{}` has the form of {tool}, without any result",
            "`{}` 具有 {tool} 的形式，但没有任何结果",
            file.file
        )),
        _ => None,
    });
    let empty: Vec<Message> = empty.collect();
    reasons.extend(empty);
    if reasons.is_empty() && !files.is_empty() {
        let names: Vec<&str> = files.iter().take(SHOWN).map(|file| file.file.as_str()).collect();
        let (path, names) = (path.display(), names.join(", "));
        let message = message!(
            "none of the files in `{path}` is of a known tool: {names}",
            "`{path}` 中没有已知工具的文件：{names}"
        );
        return UsageError::new(argument, message).hint(known()).nothing_read();
    }
    if reasons.is_empty() {
        let message = message!("there are no results in `{}`", "`{}` 中没有结果", path.display());
        return UsageError::new(argument, message).hint(kinds()).nothing_read();
    }
    let more = reasons.len().saturating_sub(SHOWN);
    reasons.truncate(SHOWN);
    if more > 0 {
        reasons.push(message!("and {more} more", "另有 {more} 处"));
    }
    let message = message!(
        "nothing could be read from `{}`: {}",
        "无法从 `{}` 读取任何内容：{}",
        path.display(),
        clauses(&reasons)
    );
    UsageError::new(argument, message).nothing_read()
}

/// Reasons that are shown of a file in which nothing could be read.
const SHOWN: usize = 3;

/// What can be read.
fn known() -> Message {
    let kinds = joined(dyno_import::known_kinds(), ["\n    "; 2]);
    message!("these are read:\n    {kinds}", "可读取：\n    {kinds}")
}

fn kinds() -> Message {
    message!(
        "name a run, a directory of dyno import, a summary.json, or another tool's results",
        "请指定测试、dyno import 的目录、summary.json 或其他工具的结果"
    )
}

/// The path itself where there is something, else the run of that name in [`RUNS`].
pub(crate) fn resolve_run_name(path: &Path) -> Result<PathBuf, Message> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_file_name = extension.is_some_and(|extension| LOOSE.contains(&extension));
    let looks_like_a_name = path.components().count() == 1 && !is_file_name;
    match path.to_str().filter(|_| !path.exists()) {
        Some(name) if looks_like_a_name => find_run(Path::new(RUNS), name).map_err(Message::of),
        _ => Ok(path.to_owned()),
    }
}

/// Splits `PATH#NAME`, unless a file has that whole name.
fn split_selector(path: &Path) -> (PathBuf, Option<String>) {
    match path.to_str().and_then(|text| text.rsplit_once('#')) {
        Some((file, part)) if !path.exists() => (PathBuf::from(file), Some(part.to_owned())),
        _ => (path.to_owned(), None),
    }
}

/// Of the runs from index `from` on, keeps those whose name, headings or id contain all words of
/// `part`, or the one at that position, counted from 1.
fn pick(runs: &mut Vec<RunResults>, from: usize, path: &Path, part: &str) -> Result<(), Message> {
    if let Ok(place @ 1..) = part.parse::<usize>() {
        let there = runs.len() - from;
        if place > there {
            return Err(message!(
                "`{}` has {there} results, and no number {place}",
                "`{}` 有 {there} 个结果，没有第 {place} 个",
                path.display()
            ));
        }
        runs.swap(from, from + place - 1);
        runs.truncate(from + 1);
        return Ok(());
    }
    let words: Vec<String> = part.split_whitespace().map(str::to_lowercase).collect();
    let text = |run: &RunResults| {
        let origin = run.summary.run.origin.as_ref();
        let headings = origin.map(|origin| origin.headings.join(" ")).unwrap_or_default();
        let form = origin.map(|origin| origin.form.clone()).unwrap_or_default();
        format!("{} {} {headings} {form}", run.name(), run.summary.run.id).to_lowercase()
    };
    let names: Vec<String> = runs[from..].iter().map(|run| run.name().to_owned()).collect();
    let mut place = 0;
    runs.retain(|run| {
        place += 1;
        place <= from || words.iter().all(|word| text(run).contains(word.as_str()))
    });
    if runs.len() > from {
        return Ok(());
    }
    Err(message!(
        "no name in `{}` contains `{part}`; it has: {}",
        "`{}` 中没有名称包含 `{part}` 的结果；其中有：{}",
        path.display(),
        names.join("; ")
    ))
}

fn read(path: &Path, found: &mut LoadedRuns) -> Result<(), UsageError> {
    let wrong = |message: Message| UsageError::new("", message);
    if path.as_os_str() == STDIN {
        let piped = piped().map_err(wrong)?;
        let imported = dyno_import::import_bytes("stdin", &piped).map_err(unread)?;
        take(Path::new("stdin"), imported, found);
        return Ok(());
    }
    if path.is_dir() {
        return directory(path, found).map_err(wrong);
    }
    if !path.exists() {
        return Err(wrong(message!("there is no `{}`", "`{}` 不存在", path.display())));
    }
    if let Some(summary) = saved(path).map_err(wrong)? {
        found.runs.push(RunResults::of(path, summary));
        return Ok(());
    }
    let mut imported = dyno_import::import(path).map_err(unread)?;
    for file in &mut imported.files {
        file.file = path.display().to_string();
    }
    take(path, imported, found);
    Ok(())
}

/// What another tool printed into a pipe.
fn piped() -> Result<Vec<u8>, Message> {
    let mut bytes = Vec::new();
    let most = std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes);
    most.map_err(|error| {
        message!("cannot read standard input: {error}", "无法读取标准输入：{error}")
    })?;
    if bytes.len() as u64 > LARGEST {
        let most = LARGEST >> 20;
        return Err(message!(
            "more than {most} MiB on standard input; name a file",
            "标准输入超过 {most} MiB；请指定文件"
        ));
    }
    Ok(bytes)
}

/// Why nothing could be read.
fn unread(error: ImportError) -> UsageError {
    let known = matches!(error, ImportError::Unknown { .. }).then(known);
    let wrong = UsageError::new("", Message::of(error));
    match known {
        Some(known) => wrong.hint(known),
        None => wrong,
    }
}

fn take(path: &Path, imported: Imported, found: &mut LoadedRuns) {
    let runs = imported.runs.into_iter();
    found.runs.extend(runs.map(|run| RunResults { path: path.to_owned(), ..run }));
    found.problems.extend(imported.problems.into_iter().map(|problem| (path.to_owned(), problem)));
    found.files.extend(imported.files);
}

/// A run, imported results, or everything below: those first, then other tools' files.
fn directory(path: &Path, found: &mut LoadedRuns) -> Result<(), Message> {
    if let Some(run) = kept(path)? {
        found.runs.push(run);
        return Ok(());
    }
    let mut ours = Vec::new();
    own_below(path, DEEPEST, &mut ours, found)?;
    let is_ours = |folder: &Path| ours.iter().any(|one| one == folder);
    let imported = dyno_import::import_folder(path, &is_ours).map_err(Message::of)?;
    take(path, imported, found);
    Ok(())
}

/// The run, or the imported results, that a directory holds.
fn kept(path: &Path) -> Result<Option<RunResults>, Message> {
    let summary = path.join(SUMMARY);
    if summary.is_file()
        && let Some(summary) = saved(&summary)?
        && summary.run.origin.is_some()
    {
        let (extras, dir) = (super::import::read_extras(path)?, RunDir::open(path).ok());
        let summary = relabelled(summary, dir.as_ref())?;
        return Ok(Some(RunResults { extras, dir, ..RunResults::of(path, summary) }));
    }
    RunDir::open(path).ok().map(own).transpose()
}

/// Loads the runs and imported results below, in natural order, and lists their directories.
fn own_below(
    path: &Path,
    deep: usize,
    ours: &mut Vec<PathBuf>,
    found: &mut LoadedRuns,
) -> Result<(), Message> {
    let unreadable = |error: std::io::Error| {
        message!("cannot list `{}`: {error}", "无法列出 `{}`：{error}", path.display())
    };
    let entries = std::fs::read_dir(path).map_err(unreadable)?;
    // Links are not followed: they may form a loop.
    let folder = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        entry.file_type().ok()?.is_dir().then(|| entry.path())
    };
    let mut below: Vec<PathBuf> = entries.filter_map(folder).collect();
    below.sort_by_key(|path| natural_order(path));
    for folder in below {
        if let Some(run) = kept(&folder)? {
            found.runs.push(run);
            ours.push(folder);
        } else if deep > 0 {
            own_below(&folder, deep - 1, ours, found)?;
        }
    }
    Ok(())
}

/// The extensions of files that may hold results.
const LOOSE: [&str; 10] = ["md", "txt", "log", "out", "json", "jsonl", "csv", "db", "yaml", "yml"];

/// The summary in a file, if it is one of Dyno's.
fn saved(path: &Path) -> Result<Option<Summary>, Message> {
    if path.extension().is_none_or(|extension| extension != "json") {
        return Ok(None);
    }
    let unreadable = |error: std::io::Error| cannot_read(path, &error);
    if std::fs::metadata(path).map_err(unreadable)?.len() > LARGEST {
        return Ok(None);
    }
    let text = std::fs::read(path).map_err(unreadable)?;
    let head = String::from_utf8_lossy(&text[..text.len().min(400)]).into_owned();
    if !head.contains(SUMMARY_SCHEMA) {
        return Ok(None);
    }
    let wrong = |error: serde_json::Error| {
        message!(
            "`{}` is not a complete summary: {error}",
            "`{}` 不是完整的汇总：{error}",
            path.display(),
        )
    };
    dyno_record::parse_summary(&text).map(Some).map_err(wrong)
}

fn own(dir: RunDir) -> Result<RunResults, Message> {
    let message = |error: dyno_record::RecordError| Message::of(error);
    let (plan, environment) =
        (dir.read_plan().map_err(message)?, dir.read_environment().map_err(message)?);
    let summary = summarise(&plan, environment.as_ref(), &DirSource::open(&dir).map_err(message)?);
    let summary = relabelled(summary, Some(&dir))?;
    let path = dir.path().to_owned();
    Ok(RunResults { dir: Some(dir), ..RunResults::of(&path, summary) })
}

/// With the label that was set after the run, where there is one.
fn relabelled(mut summary: Summary, dir: Option<&RunDir>) -> Result<Summary, Message> {
    if let Some(dir) = dir {
        let annotations = dir.read_annotations().map_err(Message::of)?;
        summary.run.label = annotations.label_or(summary.run.label.as_deref());
    }
    Ok(summary)
}

/// A problem of a file, as a message.
pub(crate) fn problem(path: &Path, problem: &Diagnostic) -> Message {
    let path = path.display();
    let what = Message::each(|language| problem.in_language(language).what.clone());
    let advice =
        Message::each(|language| problem.in_language(language).advice.clone().unwrap_or_default());
    match problem.line() {
        Some(line) => message!(
            "`{path}`, line {line}: {what}; {advice}",
            "`{path}` 第 {line} 行：{what}；{advice}"
        ),
        None => message!("`{path}`: {what}; {advice}", "`{path}`：{what}；{advice}"),
    }
}
