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
mod order;
mod prefill;
mod rows;
mod tokens;

pub use dyno_model::Sure;
use dyno_model::diagnostic::Row;
use dyno_model::summary::Summary;
use dyno_model::{Language, Severity};
use found::Found;
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
    /// Its file, where it was read from one.
    pub file: Option<String>,
    /// The rows that it is about, in order.
    pub rows: Vec<Row>,
    /// The identity that does not hold, with its values.
    pub what: String,
    /// The likely cause.
    pub cause: String,
    /// The confidence in that cause.
    pub sure: Sure,
}

/// The defects of one run, worst first.
fn found(summary: &Summary) -> Vec<Found> {
    let rows = rows::Rows::of(summary);
    let alone = [
        load::not_streamed(&rows),
        counts::by_duration(&rows),
        little::above(&rows),
        little::stated(&rows),
        tokens::tokens(&rows),
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
        load::slow_at_low_rate(&rows),
        load::falls(&rows),
        load::timeouts(&rows),
        prefill::prefill(&rows),
        context::clamp(&rows),
    ];
    let pairs = [
        counts::zeros(&rows),
        counts::missing(&rows),
        little::below(&rows),
        load::above_offered(&rows),
    ];
    let checks = pairs.into_iter().flatten().chain(alone);
    let mut found: Vec<Found> = checks.flatten().collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.severity()));
    found
}

/// The defects of runs, each by itself, and where two forms of the same results disagree: a table and
/// the blocks that it was made from.
pub fn lint(summaries: &[&Summary], language: Language) -> Vec<Lint> {
    let mut all = Vec::new();
    for summary in summaries {
        all.extend(found(summary).iter().map(|found| found.lint(summary, language)));
    }
    for (a, b) in compared::pairs(summaries) {
        all.extend(compared::disagreements(a, b).iter().map(|found| found.lint(b, language)));
    }
    all
}
