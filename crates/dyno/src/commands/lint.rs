//! `dyno lint`: checks results, Dyno's own and other tools'.

use super::loaded::{self, Loaded};
use super::report::language;
use crate::args::import::{LintArgs, LintFormat};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::usage::UsageError;
use dyno_analysis::lint::{Lint, Place, Read, lint_read};
use dyno_model::diagnostic::Row;
use dyno_model::{Language, Severity};
use dyno_words::escape::escape;

/// Prints the findings; status 5 if one is an error.
pub(crate) fn run(args: &LintArgs, printer: &Printer) -> Exit {
    linted(args, printer).unwrap_or_else(|error| {
        printer.error(&error);
        error.exit
    })
}

fn linted(args: &LintArgs, printer: &Printer) -> Result<Exit, UsageError> {
    let all = loaded::all(&args.paths, "PATH")?;
    all.print_problems(true, printer);
    // JSON is always English: programs read it.
    let language = match args.format {
        LintFormat::Json => Language::English,
        _ => language(args.language),
    };
    let read: Vec<Read<'_>> = all.runs.iter().map(read).collect();
    let found = lint_read(&read, language);
    let printed = match args.format {
        LintFormat::Text => text(&found, read.len(), language),
        LintFormat::Github => found.iter().map(github).collect(),
        LintFormat::Json => match serde_json::to_string_pretty(&found) {
            Ok(json) => json + "\n",
            Err(error) => {
                printer.error(error);
                return Ok(Exit::Bug);
            }
        },
    };
    let bad = found.iter().any(|finding| finding.weight == Severity::Error);
    Ok(printer.result(&printed).and(if bad { Exit::BarNotMet } else { Exit::Fine }))
}

fn read(run: &Loaded) -> Read<'_> {
    let origin = run.summary.run.origin.as_ref();
    let place = origin.map_or(Place::Unknown, |origin| Place::of(&run.path, &origin.file));
    Read { summary: &run.summary, place }
}

/// The longest text of a file that is shown whole.
const LONGEST: usize = 2_000;

fn rows(finding: &Lint) -> String {
    let row = |row: &Row| {
        let line = row.line.map(|line| format!(":{line}")).unwrap_or_default();
        let label = escape(&row.label, 60);
        match &row.file {
            Some(file) => format!("{label} ({}{line})", escape(file, 200)),
            None => format!("{label}{line}"),
        }
    };
    finding.rows.iter().map(row).collect::<Vec<_>>().join(", ")
}

/// Whether its rows are in several files.
fn in_several(finding: &Lint) -> bool {
    let mut files = finding.rows.iter().map(|row| &row.file);
    let first = files.next();
    files.any(|file| Some(file) != first)
}

fn text(found: &[Lint], runs: usize, language: Language) -> String {
    let mut out = String::new();
    let mut before = None;
    for finding in found {
        // Where the rows are in several files, each names its own.
        let file = finding.file.as_ref().filter(|_| !in_several(finding));
        let run = (file, &finding.run);
        if before != Some(run) {
            let file = file.map(|file| format!("{}: ", escape(file, 200)));
            let name = escape(&finding.run, 200);
            out.push_str(&format!("{}{name}\n", file.unwrap_or_default()));
            before = Some(run);
        }
        let [weight, rows_are, cause] = labels(finding, language);
        out.push_str(&format!(
            "  {weight} [{}] {}\n    {rows_are} {}\n    {cause} {}\n",
            finding.check,
            escape(&finding.what, LONGEST),
            rows(finding),
            escape(&finding.cause, LONGEST),
        ));
    }
    let errors = found.iter().filter(|finding| finding.weight == Severity::Error).count();
    let warnings = found.len() - errors;
    out.push_str(&match language {
        Language::English => {
            let are = if runs == 1 { "run or table" } else { "runs and tables" };
            let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
            format!("{runs} {are}: {}, {}\n", count(errors, "error"), count(warnings, "warning"))
        }
        Language::Chinese => format!("{runs} 个结果：{errors} 个错误，{warnings} 个警告\n"),
    });
    out
}

fn labels(finding: &Lint, language: Language) -> [&'static str; 3] {
    use dyno_analysis::lint::Sure;
    let weight = match (finding.weight, language) {
        (Severity::Error, Language::English) => "error",
        (_, Language::English) => "warning",
        (Severity::Error, Language::Chinese) => "错误",
        (_, Language::Chinese) => "警告",
    };
    let cause = match (finding.sure, language) {
        (Sure::Certain, Language::English) => "cause (certain):",
        (Sure::Likely, Language::English) => "cause (likely):",
        (Sure::Possible, Language::English) => "cause (possible):",
        (Sure::Certain, Language::Chinese) => "原因（确定）：",
        (Sure::Likely, Language::Chinese) => "原因（很可能）：",
        (Sure::Possible, Language::Chinese) => "原因（可能）：",
    };
    let rows = match language {
        Language::English => "rows:",
        Language::Chinese => "行：",
    };
    [weight, rows, cause]
}

/// A GitHub workflow command that annotates a line of a file.
fn github(finding: &Lint) -> String {
    let path = finding.file.as_ref();
    let level = match finding.weight {
        Severity::Error => "error",
        _ => "warning",
    };
    // A line of a file that is not this one annotates nothing.
    let here = |row: &&Row| row.file.is_none() || row.file == finding.file;
    let line = finding.rows.iter().filter(here).find_map(|row| row.line);
    let place = [
        path.map(|path| format!("file={}", property(path))),
        line.map(|line| format!("line={line}")),
        Some(format!("title={}", property(&finding.check))),
    ];
    let place: Vec<String> = place.into_iter().flatten().collect();
    let message =
        format!("{}: {} [{}] {}", finding.run, finding.what, rows(finding), finding.cause);
    format!("::{level} {}::{}\n", place.join(","), data(&message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
