//! Checks of results by what must be so whatever the server: identities between figures, and what
//! load does to them. They work on Dyno's own runs and on other tools' results alike. Each room has
//! one kind of check; [`Defect`] is what they find, and `words.rs` says it.

mod compared;
mod context;
mod defect;
mod gaps;
mod grid;
mod little;
mod load;
mod prefill;
mod rows;
mod tokens;
mod words;

pub use defect::{Defect, Row, Sure, Weight};

use dyno_model::Language;
use dyno_model::summary::Summary;
use serde::Serialize;

/// A finding of `dyno lint`, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lint {
    /// A stable name of the check.
    pub check: &'static str,
    /// How bad it is.
    pub weight: Weight,
    /// What was checked: the run's name, or the table's.
    pub run: String,
    /// Its file, where it was read from one.
    pub file: Option<String>,
    /// The rows that it is about, in the order in which they stand.
    pub rows: Vec<Row>,
    /// The identity that fails, with its figures.
    pub what: String,
    /// The likely cause.
    pub cause: String,
    /// How sure that cause is.
    pub sure: Sure,
}

/// What is wrong within one run, worst first.
pub fn defects(summary: &Summary) -> Vec<Defect> {
    let rows = rows::Rows::of(summary);
    let checks = [
        load::zeros(&rows),
        load::not_streamed(&rows),
        load::missing(&rows),
        little::little(&rows),
        tokens::tokens(&rows),
        tokens::runaway(&rows),
        gaps::gaps(&rows),
        grid::grid(&rows),
        load::above_offered(&rows),
        load::slow_at_low_rate(&rows),
        load::falls(&rows),
        load::timeouts(&rows),
        prefill::prefill(&rows),
        context::clamp(&rows),
    ];
    let mut found: Vec<Defect> = checks.into_iter().flatten().collect();
    found.sort_by_key(|defect| defect.weight());
    found
}

/// What is wrong with runs, each by itself, and where two of them that stand for the same thing
/// disagree: a table and the blocks that it was made from.
pub fn lint(summaries: &[&Summary], language: Language) -> Vec<Lint> {
    let mut found = Vec::new();
    for summary in summaries {
        found.extend(defects(summary).iter().map(|defect| defect.lint(summary, language)));
    }
    for (a, b) in compared::pairs(summaries) {
        found.extend(compared::disagreements(a, b).iter().map(|defect| defect.lint(b, language)));
    }
    found
}
