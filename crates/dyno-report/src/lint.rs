//! The findings of `dyno lint`, as text and as annotations.

use dyno_analysis::lint::Lint;
use dyno_model::diagnostic::CatalogueRow;
use dyno_model::message::{In, list};
use dyno_model::{Language, Message, Severity, Sure, message};
use dyno_words::escape::escape;

/// The longest text of a file that is shown whole.
const LONGEST: usize = 2_000;

fn rows(finding: &Lint) -> String {
    let row = |row: &CatalogueRow| {
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

/// As text: the findings of each run, and a line of counts.
pub fn text(found: &[Lint], runs: usize, language: Language) -> String {
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
    out.push_str(&format!("{}\n", In(&counted(runs, errors, warnings), language)));
    out
}

fn counted(runs: usize, errors: usize, warnings: usize) -> Message {
    let errors = match errors {
        1 => message!("1 error", "1 个错误"),
        n => message!("{n} errors", "{n} 个错误"),
    };
    let warnings = match warnings {
        1 => message!("1 warning", "1 个警告"),
        n => message!("{n} warnings", "{n} 个警告"),
    };
    let counts = list([errors, warnings]);
    match runs {
        1 => message!("1 run or table: {counts}", "1 个结果：{counts}"),
        n => message!("{n} runs and tables: {counts}", "{n} 个结果：{counts}"),
    }
}

fn labels(finding: &Lint, language: Language) -> [&'static str; 3] {
    let weight = match finding.weight {
        Severity::Error => ["error", "错误"],
        _ => ["warning", "警告"],
    };
    let cause = match finding.sure {
        Sure::Certain => ["cause (certain):", "原因（确定）："],
        Sure::Likely => ["cause (likely):", "原因（很可能）："],
        Sure::Possible => ["cause (possible):", "原因（可能）："],
    };
    [weight, ["rows:", "行："], cause].map(|label| language.choose(label))
}

/// As GitHub workflow commands, each of which annotates a line of a file.
pub fn github(found: &[Lint]) -> String {
    found.iter().map(annotation).collect()
}

fn annotation(finding: &Lint) -> String {
    let path = finding.file.as_ref();
    let level = match finding.weight {
        Severity::Error => "error",
        _ => "warning",
    };
    // A line of a file that is not this one annotates nothing.
    let here = |row: &&CatalogueRow| row.file.is_none() || row.file == finding.file;
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
