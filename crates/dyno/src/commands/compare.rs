//! `dyno compare`: runs side by side, and which differences are significant.

use super::loaded;
use super::report::{give, language, not_arranged, only_binary, only_pictures};
use super::shown_json;
use crate::args::compare::{CompareArgs, CompareFormat, TermArgs};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_analysis::RunResults;
use dyno_analysis::compare::{ComparedSide, Comparison, ComparisonNote, ComparisonTerms, compare};
use dyno_draw::{self as chart, ChartOptions};
use dyno_model::{Language, Message, message};
use dyno_report::compared::{markdown, rows, table};
use dyno_report::layout::LayoutTable;
use dyno_report::page;
use std::path::{Path, PathBuf};

/// Prints the comparison.
pub(crate) fn run(args: &CompareArgs, printer: &Printer) -> Exit {
    match compared(args, printer) {
        Ok(Exit::Inconclusive) => Exit::Inconclusive
            .because(message!("the runs have no load in common", "这些测试没有相同的负载"))
            .told(printer),
        Ok(exit) => exit,
        Err(error) => {
            printer.error(&error);
            error.exit
        }
    }
}

fn compared(args: &CompareArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let pictures = matches!(args.format, CompareFormat::Svg | CompareFormat::Png);
    if let Some(flag) = args.charts.given().filter(|_| !pictures) {
        return Err(UsageError::new(flag, only_pictures()));
    }
    let all = loaded::all(&args.runs, "RUN")?;
    all.print_problems(false, printer);
    let runs = all.runs;
    if runs.len() < 2 {
        let message = message!(
            "at least two runs are needed, and there is one",
            "至少需要两个测试，而现在只有一个"
        );
        return Err(UsageError::new("RUN", message)
            .hint(message!("dyno report prints a single run", "用 dyno report 打印单个测试")));
    }
    let names = names(&runs);
    let language = language(args.language);
    if args.pair.is_empty() {
        let every: Vec<usize> = (0..runs.len()).collect();
        let page = Page { runs: &runs, names: &names, places: &every, args, language };
        return page.give(args.out.as_deref(), printer);
    }
    for (a, b) in &args.pair {
        if let Some(wrong) = [a, b].into_iter().find(|place| **place > runs.len()) {
            let message = message!(
                "there is no run {wrong}; there are {}",
                "没有第 {wrong} 个测试；共有 {} 个",
                runs.len()
            );
            return Err(UsageError::new("--pair", message).hint(Message::quoted(listed(&names))));
        }
    }
    match args.format {
        CompareFormat::Svg | CompareFormat::Png => drawn(args, &runs, &names, language, printer),
        _ if args.pair.len() > 1 && (args.out.is_some() || args.format.is_one_document()) => {
            let message = message!(
                "this format holds one comparison; give one pair, or use svg or png",
                "此格式只能包含一组对比；请只给一对，或使用 svg 或 png"
            );
            Err(UsageError::new("--pair", message))
        }
        _ => {
            let mut exit = Exit::Fine;
            for (a, b) in &args.pair {
                let places = [a - 1, b - 1];
                let page = Page { runs: &runs, names: &names, places: &places, args, language };
                exit = exit.and(page.give(args.out.as_deref(), printer)?);
            }
            Ok(exit)
        }
    }
}

/// Several comparisons as pictures in a directory, and each run's own beside them.
fn drawn(
    args: &CompareArgs,
    runs: &[RunResults],
    names: &[String],
    language: Language,
    printer: &Printer,
) -> Result<Exit, UsageError> {
    let Some(dir) = &args.out else {
        let message =
            message!("several pictures need a directory; name one", "多张图片需要目录；请指定目录");
        return Err(UsageError::new("--out", message));
    };
    let wrong = |error: std::io::Error| {
        UsageError::new(
            "--out",
            message!("cannot create `{}`: {error}", "无法创建 `{}`：{error}", dir.display(),),
        )
    };
    std::fs::create_dir_all(dir).map_err(wrong)?;
    let mut exit = Exit::Fine;
    let extension = if args.format == CompareFormat::Png { "png" } else { "svg" };
    for (a, b) in &args.pair {
        let places = [a - 1, b - 1];
        let page = Page { runs, names, places: &places, args, language };
        let file = dir.join(format!("compare-{a}-{b}.{extension}"));
        exit = exit.and(page.give(Some(&file), printer)?);
    }
    let mut own: Vec<usize> = args.pair.iter().flat_map(|(a, b)| [a - 1, b - 1]).collect();
    own.sort_unstable();
    own.dedup();
    for place in own {
        let svg = chart::svg(&runs[place].summary, None, &ChartOptions { language });
        let path = dir.join(format!("run-{}.{extension}", place + 1));
        exit = exit.and(picture(&svg, args.format, Some(&path), printer)?);
    }
    Ok(exit)
}

fn picture(
    svg: &str,
    format: CompareFormat,
    out: Option<&Path>,
    printer: &Printer,
) -> Result<Exit, UsageError> {
    if format == CompareFormat::Svg {
        return give(out, printer, |out| out.write_all(svg.as_bytes()));
    }
    if out.is_none() && printer.result_on_terminal() {
        return Err(UsageError::new("--out", only_binary()));
    }
    match chart::picture(svg) {
        Ok(picture) => give(out, printer, |out| out.write_all(&picture.bytes)),
        Err(error) => {
            printer.error(&error);
            Ok(Exit::Bug)
        }
    }
}

/// Some of the runs side by side.
struct Page<'a> {
    runs: &'a [RunResults],
    names: &'a [String],
    places: &'a [usize],
    args: &'a CompareArgs,
    language: Language,
}

impl Page<'_> {
    fn give(&self, out: Option<&Path>, printer: &Printer) -> Result<Exit, UsageError> {
        let runs: Vec<&RunResults> = self.places.iter().map(|place| &self.runs[*place]).collect();
        let names: Vec<&str> = self.places.iter().map(|at| self.names[*at].as_str()).collect();
        let format = self.args.format;
        let terms = ComparisonTerms {
            margin: self.args.margin,
            slo: self.args.slo.clone(),
            ..terms(&self.args.terms, &runs)
        };
        let found = side_by_side(&names, &runs, &terms);
        let exit = decided(&found, printer);
        // A table would have nothing but dashes.
        if exit != Exit::Fine && format == CompareFormat::Table && out.is_none() {
            return Ok(exit);
        }
        let sides: Vec<_> =
            names.iter().copied().zip(runs.iter().map(|run| &run.summary)).collect();
        if matches!(format, CompareFormat::Svg | CompareFormat::Png) {
            let options = ChartOptions { language: self.language };
            let svg = chart::compared(&sides, &options, &self.args.charts.arrangement())
                .map_err(|error| not_arranged(&error))?;
            return Ok(exit.and(picture(&svg, format, out, printer)?));
        }
        if format == CompareFormat::Parquet && out.is_none() && printer.result_on_terminal() {
            return Err(UsageError::new("--out", only_binary()));
        }
        if format == CompareFormat::Html {
            let page = page::compared(&found, &sides, self.language);
            return Ok(exit.and(give(out, printer, |out| out.write_all(page.as_bytes()))?));
        }
        let to_file = out.is_some();
        let given = give(out, printer, |out| match format {
            CompareFormat::Markdown => out.write_all(markdown(&found, self.language).as_bytes()),
            CompareFormat::Csv => rows(&found, LayoutTable::Csv, out),
            CompareFormat::Parquet => rows(&found, LayoutTable::Parquet, out),
            CompareFormat::Json => {
                let json = shown_json(&found).map_err(std::io::Error::other)?;
                writeln!(out, "{json}")
            }
            _ => {
                let columns = printer.terminal_width().filter(|_| !to_file);
                out.write_all(table(&found, self.language, columns).as_bytes())
            }
        });
        Ok(exit.and(given?))
    }
}

/// Without a common load, nothing was compared: a script must not take that for "no difference".
fn decided(found: &Comparison, printer: &Printer) -> Exit {
    // With --slo, capacities are compared whatever the loads were.
    let capacities = found.capacity.as_ref().is_some_and(|at| at.sides.iter().all(Option::is_some));
    if capacities || !found.notes.contains(&ComparisonNote::NothingInCommon) {
        return Exit::Fine;
    }
    let texts = found.points.iter().any(|point| point.inputs_per_request.is_some());
    let hint = if found.notes.contains(&ComparisonNote::OtherApi) && texts {
        message!(
            "they used different APIs, which do different work; run both with the same --api",
            "它们使用了不同的 API，所做的工作不同；请以相同的 --api 运行两者"
        )
    } else if texts {
        message!(
            "run both with the same --concurrency or --rate, the same --inputs and the same \
             lengths",
            "请以相同的 --concurrency 或 --rate、相同的 --inputs 以及相同的长度运行两者"
        )
    } else {
        message!(
            "run both with the same --concurrency or --rate and the same lengths",
            "请以相同的 --concurrency 或 --rate 以及相同的长度运行两者"
        )
    };
    let warning = message!(
        "inconclusive: these runs have no load in common, so nothing was compared",
        "无法判定：这些测试没有相同的负载，未进行对比"
    );
    printer.warn(&warning.with_hint(hint));
    Exit::Inconclusive
}

/// Compares runs under these names.
pub(super) fn side_by_side(
    names: &[&str],
    runs: &[&RunResults],
    terms: &ComparisonTerms,
) -> Comparison {
    let sides: Vec<ComparedSide<'_>> = names
        .iter()
        .zip(runs)
        .map(|(name, run)| ComparedSide { name, summary: &run.summary })
        .collect();
    compare(&sides, terms)
}

/// How differences are tested. Runs that alternated are compared round by round.
pub(super) fn terms(args: &TermArgs, runs: &[&RunResults]) -> ComparisonTerms {
    let in_rounds = args.paired || alternated(runs);
    ComparisonTerms { between_runs: args.between_runs, in_rounds, ..ComparisonTerms::default() }
}

/// Whether these are two runs of `dyno bench --versus`, each of which names the other.
fn alternated(runs: &[&RunResults]) -> bool {
    let other = |run: &RunResults| {
        let plan = run.dir.as_ref()?.read_plan().ok()?;
        plan.course.versus.map(|versus| versus.other_run)
    };
    match runs {
        [a, b] => {
            let (of_a, of_b) = (other(a), other(b));
            of_a.as_ref() == Some(&b.summary.run.id) && of_b.as_ref() == Some(&a.summary.run.id)
        }
        _ => false,
    }
}

/// The comparison of two runs that alternated, as a table.
pub(super) fn alternating(
    dirs: [&Path; 2],
    names: [&str; 2],
    language: Language,
    columns: Option<usize>,
) -> Option<String> {
    let named = dirs.map(Path::to_owned);
    let all = loaded::all(&named, "RUN").ok()?;
    let runs: Vec<&RunResults> = all.runs.iter().collect();
    let terms = ComparisonTerms { in_rounds: true, ..ComparisonTerms::default() };
    (runs.len() == 2).then(|| table(&side_by_side(&names, &runs, &terms), language, columns))
}

/// A name for each run; equal names are numbered by position.
pub(super) fn names(runs: &[RunResults]) -> Vec<String> {
    let name = |run: &RunResults| match &run.summary.run.label {
        Some(label) if !label.trim().is_empty() => label.clone(),
        _ => run
            .path
            .file_name()
            .map_or_else(|| run.summary.run.id.clone(), |name| name.to_string_lossy().into_owned()),
    };
    let names: Vec<String> = runs.iter().map(name).collect();
    let alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    (1..)
        .zip(&names)
        .map(|(place, name)| if alone(name) { name.clone() } else { format!("{name} ({place})") })
        .collect()
}

fn listed(names: &[String]) -> String {
    let each = (1..).zip(names).map(|(place, name)| format!("{place} {name}"));
    each.collect::<Vec<_>>().join("; ")
}

/// The file of a saved baseline of that name, else the path itself.
pub(super) fn baseline(named: &Path, baselines: &Path) -> PathBuf {
    let kept = named.to_str().map(|name| super::baseline::file(baselines, name));
    match kept {
        Some(kept) if !named.exists() && kept.exists() => kept,
        _ => named.to_owned(),
    }
}
