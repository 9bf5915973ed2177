//! Whether a difference between two systems is real: the change of a metric from A to B with its
//! interval, from one run of each or from several, the conclusion from it, and whether it passes a
//! gate.
//!
//! Metrics must be above 0, and changes are ratios: all arithmetic is on logarithms, so that
//! swapping A and B inverts a change, and units do not matter.

mod effect;
mod gate;
mod holm;
mod one_run;
mod power;
mod rounds;
mod student;
mod verdict;

pub use effect::{Basis, Effect};
pub use gate::{GateTest, Gated, gate};
pub use one_run::{
    BETWEEN_RUNS, BETWEEN_RUNS_AT_A_RATE, Loop, OneRunFigure, between_runs, one_run,
};
pub use power::MOST_MORE;
pub use rounds::{paired, rounds};
pub use verdict::{Better, ComparisonVerdict, Concluded, MARGIN, conclude};

/// How the runs of A and B were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideOrder {
    /// One side after the other, or on different days.
    Apart,
    /// In rounds of one run of each: the runs at the same place belong together.
    InRounds,
}

/// The change from A to B, by the best that the number of runs and their order allow: paired where
/// they were made in rounds, by the spread of the runs where at least one side has several, and
/// with an allowance of `assumed` (see [`between_runs`]) where there is one of each.
///
/// Absent where a side has no run, a metric is not above 0, or there is one run of each and nothing
/// may be assumed or one of them has no interval.
pub fn compare(
    a: &[OneRunFigure],
    b: &[OneRunFigure],
    order: SideOrder,
    assumed: Option<f64>,
) -> Option<Effect> {
    if let ([a], [b]) = (a, b) {
        return one_run(*a, *b, assumed?);
    }
    let values = |side: &[OneRunFigure]| side.iter().map(|figure| figure.value).collect::<Vec<_>>();
    match order {
        SideOrder::InRounds if a.len() == b.len() => paired(&values(a), &values(b)),
        _ => rounds(&values(a), &values(b)),
    }
}

#[cfg(test)]
mod tests;
