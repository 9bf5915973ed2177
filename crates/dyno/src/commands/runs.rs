//! `dyno runs`: lists, labels, tags and deletes runs. Reading and deleting them is `dyno-record`'s
//! part.

use super::shown_json;
use super::{RUNS, bench, open};
use crate::args::runs::{OpenArgs, RunsAction, RunsArgs, Since};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::resolve::ProcessEnv;
use crate::usage::UsageError;
use dyno_model::nearest::nearest;
use dyno_model::run_entry::{RunEntry, RunState};
use dyno_model::{Language, Localized, message};
use dyno_record::{Annotations, RunDir, RunFilter, delete_run, find_run, list_runs};
use dyno_words::escape::{escape, shell};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Lists the runs, or does what was asked with one.
pub(crate) fn run(args: &RunsArgs, printer: &Printer) -> Exit {
    let language = args.language.or(ProcessEnv::of_process().language);
    let done = match &args.action {
        None => list(args, language, printer),
        Some(RunsAction::Open(open)) => {
            let name = open.run.as_ref().map_or("latest".into(), |run| run.to_string_lossy());
            named(&args.dir, &name).map(|path| {
                let args = OpenArgs { run: Some(path), ..open.clone() };
                open::run(&args, printer)
            })
        }
        Some(RunsAction::Label { run, text }) => label(&args.dir, run, text, printer),
        Some(RunsAction::Tag { run, tags }) => tag(&args.dir, run, tags, printer),
        Some(RunsAction::Command { run }) => command(&args.dir, run, printer),
        Some(RunsAction::Delete { runs, yes }) => delete(&args.dir, runs, *yes, language, printer),
    };
    done.unwrap_or_else(|error| {
        printer.error(&error);
        Exit::Usage
    })
}

fn about(argument: &str) -> impl Fn(dyno_record::RecordError) -> UsageError {
    move |error| UsageError::new(argument, error)
}

/// The run that a name means: in `root` before anywhere else.
fn named(root: &Path, name: &str) -> Result<PathBuf, UsageError> {
    let own = root.join(name);
    match Path::new(name).components().count() == 1 && own.is_dir() {
        true => Ok(own),
        false => find_run(root, name).map_err(about("RUN")),
    }
}

fn list(args: &RunsArgs, language: Language, printer: &Printer) -> Result<Exit, UsageError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let filter = RunFilter {
        tags: args.tag.clone(),
        label: args.label.clone(),
        model: args.model.clone(),
        since_unix_ns: args.since.map(|since| match since {
            Since::Ago(nanos) => now.saturating_sub(nanos),
            Since::At(nanos) => nanos,
        }),
        verdict: args.verdict,
        words: args.words.clone(),
    };
    // Where nothing was measured yet there is no default directory; another one was misspelt.
    if args.dir != Path::new(RUNS) && !args.dir.exists() {
        let wrong = message!("there is no directory `{}`", "目录 `{}` 不存在", args.dir.display());
        return Err(UsageError::new("--dir", wrong));
    }
    let mut runs = list_runs(&args.dir).map_err(about("--dir"))?;
    let (all, dir) = (runs.len(), args.dir.display().to_string());
    runs.retain(|run| filter.matches(run));
    if args.json {
        return match shown_json(&runs) {
            Ok(json) => Ok(printer.result(&(json + "\n"))),
            Err(error) => {
                printer.error(&error);
                Ok(Exit::Bug)
            }
        };
    }
    match (all, runs.is_empty()) {
        (0, _) => printer.note(&message!(
            "no runs in `{dir}`; `dyno bench` makes one",
            "`{dir}` 中没有测试；可用 `dyno bench` 进行测试"
        )),
        (_, true) if meant_action(&args.words).is_some() => {
            let (typed, near) = meant_action(&args.words).unwrap_or_default();
            let message = message!(
                "`{typed}` is not a command of dyno runs, and no run matches it",
                "dyno runs 没有 `{typed}` 这个命令，也没有符合它的测试"
            );
            let hint = message!("did you mean `dyno {near}`?", "是否想写 `dyno {near}`？");
            return Err(UsageError::new("", message).hint(hint));
        }
        (_, true) => printer.note(&message!(
            "none of the {all} runs in `{dir}` matches",
            "`{dir}` 中的 {all} 次测试均不符合条件"
        )),
        _ => {
            // In a pipe nothing is left out: it is searched.
            let width = printer.terminal_width().unwrap_or(usize::MAX);
            let exit = printer.result(&dyno_report::runs::table(&runs, now, language, width));
            rests(&runs, printer);
            return Ok(exit);
        }
    }
    Ok(Exit::Fine)
}

/// How to run the rest of what stopped early: the newest such run stands for all.
fn rests(runs: &[RunEntry], printer: &Printer) {
    let stopped =
        |run: &&RunEntry| matches!(run.state, RunState::Unfinished | RunState::Interrupted);
    let line = |run: &RunEntry| {
        let plan = RunDir::open(&run.path).and_then(|dir| dir.read_plan()).ok()?;
        bench::say::resuming(&run.path, &plan).map(bench::say::to_resume)
    };
    runs.iter().filter(stopped).find_map(line).iter().for_each(|line| printer.remark(line));
}

/// What lists of other programs call commands, and what they are here.
const ELSEWHERE: [(&[&str], &str); 4] = [
    (&["list", "ls"], "runs"),
    (&["show", "report", "info"], "report RUN"),
    (&["rm", "remove"], "runs delete RUN"),
    (&["resume", "continue"], "bench --resume RUN"),
];

/// The first word and the command that it stands for or is a misspelling of.
fn meant_action(words: &[String]) -> Option<(&str, String)> {
    let first = words.first()?.as_str();
    let known = ELSEWHERE.iter().find(|(names, _)| names.contains(&first));
    let near = || nearest(first, &["label", "tag", "delete", "open", "command"]);
    let meant = known.map(|(_, ours)| (*ours).to_owned());
    Some((first, meant.or_else(|| near().map(|near| format!("runs {near}")))?))
}

/// Changes the annotations of the run that `name` means; returns its name for messages.
fn annotate(
    root: &Path,
    name: &str,
    change: impl FnOnce(&mut Annotations) -> Result<(), dyno_record::RecordError>,
) -> Result<String, UsageError> {
    let path = named(root, name)?;
    let dir = RunDir::open(&path).map_err(about("RUN"))?;
    let mut annotations = dir.read_annotations().map_err(about("RUN"))?;
    change(&mut annotations).map_err(about(""))?;
    dir.write_annotations(&annotations).map_err(about("RUN"))?;
    Ok(shown(&path))
}

fn shown(path: &Path) -> String {
    escape(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy(), 80)
}

/// Prints the command line that made a run.
fn command(root: &Path, run: &str, printer: &Printer) -> Result<Exit, UsageError> {
    let path = named(root, run)?;
    let dir = RunDir::open(&path).map_err(about("RUN"))?;
    let made = dir.read_environment().map_err(about("RUN"))?.map(|found| found.made.command);
    match made.and_then(|words| shell(&words)) {
        Some(line) => Ok(printer.result(&format!("{line}\n"))),
        None => Err(UsageError::new(
            "RUN",
            message!(
                "the command line of {} is not known: an older version made it, or another tool",
                "不知道 {} 的命令行：它由旧版本或其他工具生成",
                shown(&path)
            ),
        )),
    }
}

fn label(root: &Path, run: &str, text: &str, printer: &Printer) -> Result<Exit, UsageError> {
    let name = annotate(root, run, |annotations| annotations.set_label(text))?;
    printer.note(&match text.trim() {
        "" => message!("{name} has no label now", "{name} 现在没有标签"),
        text => {
            message!("{name} is now labelled `{}`", "{name} 的标签现为 `{}`", escape(text, 200))
        }
    });
    Ok(Exit::Fine)
}

fn tag(root: &Path, run: &str, tags: &[String], printer: &Printer) -> Result<Exit, UsageError> {
    let (mut after, mut missing) = (String::new(), Vec::new());
    let name = annotate(root, run, |annotations| {
        for tag in tags {
            match tag.strip_prefix('-') {
                // A flag behind the tags must not become one of them.
                Some(flag) if flag.starts_with('-') => {
                    return Err(dyno_record::RecordError::BadTag(tag.clone()));
                }
                Some(tag) if annotations.remove_tag(tag) => {}
                Some(tag) => missing.push(escape(tag, 64)),
                None => drop(annotations.add_tag(tag.strip_prefix('+').unwrap_or(tag))?),
            }
        }
        after = annotations.tags.iter().cloned().collect::<Vec<_>>().join(" ");
        Ok(())
    })?;
    for tag in missing {
        printer
            .warn(&message!("{name} did not have the tag `{tag}`", "{name} 原本没有标记 `{tag}`"));
    }
    printer.note(&match after.is_empty() {
        true => message!("{name} has no tags now", "{name} 现在没有标记"),
        false => message!("{name} has the tags: {after}", "{name} 的标记：{after}"),
    });
    Ok(Exit::Fine)
}

fn delete(
    root: &Path,
    runs: &[String],
    yes: bool,
    language: Language,
    printer: &Printer,
) -> Result<Exit, UsageError> {
    let mut paths = runs.iter().map(|run| named(root, run)).collect::<Result<Vec<PathBuf>, _>>()?;
    paths.sort();
    paths.dedup();
    if !yes {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Err(UsageError::new(
                "",
                message!(
                    "there is no terminal to ask on; add --yes to delete without asking",
                    "没有可供询问的终端；如需直接删除，请加 --yes"
                ),
            ));
        }
        let names = paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
        let mut answer = String::new();
        let _ = write!(
            io::stderr(),
            "{}",
            message!("Delete {names} for good? [y/N] ", "永久删除 {names}？[y/N] ").text(language)
        );
        let read = io::stdin().lock().read_line(&mut answer);
        if read.is_err() || !matches!(answer.trim(), "y" | "Y" | "yes") {
            printer.note(&message!("nothing was deleted", "未删除任何内容"));
            return Ok(Exit::Fine);
        }
    }
    for path in &paths {
        delete_run(root, path).map_err(about("RUN"))?;
        printer.note(&message!("deleted {}", "已删除 {}", shown(path)));
    }
    Ok(Exit::Fine)
}
