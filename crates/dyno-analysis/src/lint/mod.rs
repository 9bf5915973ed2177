//! Checks of results that hold for any server: identities between metrics, and how they change with
//! load. They work on Dyno's own runs and on other tools' results. Each file has one kind of check,
//! which reports its findings by a row of the catalogue.

mod compared;
mod context;
mod copied;
mod counts;
mod found;
mod gaps;
mod grid;
mod little;
mod load;
mod near;
mod offered;
mod order;
mod place;
mod prefill;
mod rows;
mod slowest;
mod tokens;

pub use dyno_model::Sure;
use dyno_model::diagnostic::CatalogueRow;
use dyno_model::summary::Summary;
use dyno_model::{Language, Severity};
use found::LintFindings;
pub use place::{Read, StatedPlace};
use serde::Serialize;

/// A finding of `dyno lint`, as text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lint {
    /// A stable name of the check.
    pub check: String,
    /// How bad it is.
    pub weight: Severity,
    /// What was checked: the run's name, or the table's.
    pub run: String,
    /// The file of its rows, or of the first of them where each names its own; absent for Dyno's runs.
    pub file: Option<String>,
    /// The rows that it is about, in order.
    pub rows: Vec<CatalogueRow>,
    /// The identity that does not hold, with its values.
    pub what: String,
    /// The likely cause.
    pub cause: String,
    /// The confidence in that cause.
    pub sure: Sure,
}

/// The defects of one run, worst first.
fn found(summary: &Summary) -> Vec<LintFindings> {
    let rows = rows::LintRows::of(summary);
    let alone = [
        load::not_streamed(&rows),
        counts::by_duration(&rows),
        little::stated(&rows),
        tokens::tokens(&rows),
        tokens::total(&rows),
        tokens::beyond_length(&rows),
        tokens::runaway(&rows),
        gaps::by_itl(&rows),
        gaps::by_tpot(&rows),
        gaps::swapped(&rows),
        order::percentiles(&rows),
        order::latency_below_ttft(&rows),
        order::ttft_below_token(&rows),
        copied::copied(&rows),
        grid::grid(&rows),
        offered::below(&rows),
        load::slow_at_low_rate(&rows),
        load::falls(&rows),
        load::timeouts(&rows),
        prefill::prefill(&rows),
        context::clamp(&rows),
    ];
    let split = counts::zeros(&rows).into_iter().chain(counts::missing(&rows));
    let split = split.chain(little::above(&rows)).chain(little::below(&rows));
    let checks = split.chain(offered::above(&rows)).chain(alone);
    let mut found: Vec<LintFindings> = checks.flatten().collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.severity()));
    found
}

/// The labels of the levels of a run that have an error.
pub(crate) fn errors(summary: &Summary) -> Vec<String> {
    let found = found(summary);
    let errors = found.iter().filter(|found| found.severity() == Severity::Error);
    errors.flat_map(|found| found.rows().iter().map(|row| row.label.clone())).collect()
}

/// The defects of runs, each by itself, and where two forms of the same results disagree: a table and
/// the blocks that it was made from. Files are named as the results name them.
pub fn lint(summaries: &[&Summary], language: Language) -> Vec<Lint> {
    let read = summaries.iter().map(|summary| Read { summary, place: StatedPlace::Unknown });
    lint_read(&read.collect::<Vec<_>>(), language)
}

/// The same of results whose places are known.
pub fn lint_read(read: &[Read<'_>], language: Language) -> Vec<Lint> {
    let mut all = Vec::new();
    for one in read {
        all.extend(found(one.summary).iter().map(|found| found.lint(one, language)));
    }
    for (a, b) in compared::pairs(read) {
        let disagreements = compared::disagreements(a.summary, b.summary);
        all.extend(disagreements.iter().map(|found| found.lint(b, language)));
    }
    all
}
