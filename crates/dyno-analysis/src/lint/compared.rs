//! Two forms of the same results in one document: a table, and the blocks that it was made from.

use super::found::{Against, LintFindings, Sure, against, of_rows};
use super::near::Column;
use super::place::Read;
use super::rows::{LintRows, LintedLevel};
use dyno_model::diagnostic::CatalogueRow;
use dyno_model::metric::Time;
use dyno_model::summary::{LevelSummary, Summary};
use dyno_words::number::digits;
use dyno_words::{Defect, values};

/// Forms that stand next to each other in one document.
const PRINTED: [&str; 3] = ["block", "pivot", "table"];

/// Runs of one file and under the same headings, in different forms.
pub(super) fn pairs<'r, 'a>(read: &'r [Read<'a>]) -> Vec<(&'r Read<'a>, &'r Read<'a>)> {
    let mut found = Vec::new();
    for (i, a) in read.iter().enumerate() {
        for b in &read[i + 1..] {
            let origins = (&a.summary.run.origin, &b.summary.run.origin);
            let (Some(of_a), Some(of_b)) = origins else { continue };
            let same = of_a.file == of_b.file && of_a.headings == of_b.headings;
            let same = same && a.file() == b.file();
            // Files that programs wrote may have the same name in different folders.
            let printed = !of_a.headings.is_empty() || PRINTED.contains(&of_a.form.as_str());
            if same && printed && of_a.tool == of_b.tool && of_a.form != of_b.form {
                found.push((a, b));
            }
        }
    }
    found
}

type Figure = (&'static str, fn(&LevelSummary) -> Option<f64>);

const FIGURES: [Figure; 7] = [
    ("duration", |level| level.duration_s),
    ("requests/s", |level| level.throughput.requests_per_s),
    ("latency", |level| Some(level.times[Time::Latency].as_ref()?.mean? / 1e3)),
    ("tokens/s", |level| level.throughput.output_tokens_per_s),
    ("p50", |level| Some(level.times[Time::Latency].as_ref()?.p50? / 1e3)),
    ("p90", |level| Some(level.times[Time::Latency].as_ref()?.p90? / 1e3)),
    ("p99", |level| Some(level.times[Time::Latency].as_ref()?.p99? / 1e3)),
];

/// A difference that rounding to four digits does not explain; coarser digits are seen in the column.
const SLACK: f64 = 0.002;

/// Where the second form has other values than the first, at the same load.
pub(super) fn disagreements(a: &Summary, b: &Summary) -> Vec<LintFindings> {
    let other = a.run.origin.as_ref().map(|origin| origin.form.clone()).unwrap_or_default();
    let failed: Figure = ("failed", |level| level.requests.failed.map(|failed| failed as f64));
    let mut found = Vec::new();
    for (figure, value) in FIGURES.into_iter().chain([failed]) {
        let column = |of: &Summary| Column::of(&LintRows::of(of), 0, |level| value(level.0));
        let rounding = column(a).half() + column(b).half();
        // Counts are not rounded.
        let rounding = if figure == "failed" { 0.0 } else { rounding };
        let mut rows = Vec::new();
        for level in &b.levels {
            let same = |other: &&LevelSummary| other.load == level.load;
            let theirs = a.levels.iter().find(same).and_then(value);
            let (Some(expected), Some(is)) = (theirs, value(level)) else { continue };
            if (is - expected).abs() > SLACK * expected.abs().max(is.abs()) + rounding {
                rows.push(Against { row: LintedLevel(level).row(), found: is, expected });
            }
        }
        let values = values![figure, &other];
        found.extend(against(rows, |n| digits(n, 3), Defect::Disagree, Sure::Likely, values));
    }
    let alone = |levels: &[LevelSummary], others: &[LevelSummary]| -> Vec<CatalogueRow> {
        let known = |level: &&LevelSummary| !others.iter().any(|other| other.load == level.load);
        levels.iter().filter(known).map(|level| LintedLevel(level).row()).collect()
    };
    let rows = [alone(&a.levels, &b.levels), alone(&b.levels, &a.levels)].concat();
    found.extend(of_rows(rows, Defect::Unmatched, Sure::Certain, values![other]));
    found
}
