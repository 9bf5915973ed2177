//! Whether a run may replace the one it is held against: each figure at each load, by the same
//! statistics as a comparison.

use super::differences::Difference;
use super::metric::Compared;
use super::{Comparison, Point};
use dyno_model::load::LoadKind;
use dyno_stats::compare::Gate;
use serde::Serialize;

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Surely within the bound.
    Pass,
    /// It may be either.
    CannotTell,
    /// Surely beyond the bound.
    Fail,
}

/// One figure at one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// What tables call the load.
    pub load: String,
    /// The figure.
    pub metric: Compared,
    /// What the gate says.
    pub answer: Answer,
    /// Baseline and run.
    pub values: [Option<f64>; 2],
    /// Run over baseline, less 1; absent where it could not be tested.
    pub change: Option<f64>,
    /// The 95 % interval of it.
    pub interval: Option<[f64; 2]>,
    /// About so many more rounds of each would settle it.
    pub more_runs: Option<u32>,
}

/// The checks, and what they come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gated {
    /// The worst answer of any check. Without a check nothing can be told.
    pub answer: Answer,
    /// The most that a figure may be worse.
    pub max_regression: f64,
    /// Baseline and run.
    pub sides: [String; 2],
    /// Loads of the baseline that the run does not have.
    pub missing: Vec<String>,
    /// Every figure at every load that both have.
    pub checks: Vec<Check>,
}

/// Holds the second side of a comparison against the first. No figures chosen: all.
pub fn gated(comparison: &Comparison, chosen: &[Compared], max_regression: f64) -> Gated {
    let wanted =
        |metric: &Compared| !metric.is_failures() && (chosen.is_empty() || chosen.contains(metric));
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    for (place, point) in comparison.points.iter().enumerate() {
        let [first, own] = [0, 1].map(|side| point.cells.get(side).and_then(Option::as_ref));
        let measured = |cell: &&super::Cell| !cell.interpolated;
        match (first.filter(measured), own.filter(measured)) {
            (Some(_), None) => missing.push(point.label.clone()),
            (Some(_), Some(_)) => {
                let of = |metric| check(comparison, place, point, metric, max_regression);
                checks.extend(Compared::all().filter(wanted).filter_map(of));
            }
            _ => {}
        }
    }
    let worst = checks.iter().map(|check| check.answer).max();
    let sides = [0, 1]
        .map(|side| comparison.sides.get(side).map(|side| side.name.clone()).unwrap_or_default());
    let lost = if missing.is_empty() { Answer::Pass } else { Answer::CannotTell };
    let answer = worst.map_or(Answer::CannotTell, |worst| worst.max(lost));
    Gated { answer, max_regression, sides, missing, checks }
}

fn check(
    comparison: &Comparison,
    place: usize,
    point: &Point,
    metric: Compared,
    max_regression: f64,
) -> Option<Check> {
    let value = |side: usize| point.cells.get(side)?.as_ref()?.figures.get(&metric).copied();
    let values = [value(0), value(1)];
    values[0]?;
    let test: Option<&Difference> = comparison.test(1, place, metric);
    // An open loop completes what is offered: its rate is no figure of the server's.
    if test.is_none() && !metric.is_time() && point.load.kind != LoadKind::Concurrency {
        return None;
    }
    let (answer, more_runs) = match test.map(|test| test.gate(max_regression)) {
        Some(Gate::Pass) => (Answer::Pass, None),
        Some(Gate::Fail) => (Answer::Fail, None),
        Some(Gate::CannotTell { more_runs }) => (Answer::CannotTell, more_runs),
        None => (Answer::CannotTell, None),
    };
    Some(Check {
        load: point.label.clone(),
        metric,
        answer,
        values,
        change: test.map(|test| test.change),
        interval: test.map(|test| test.interval),
        more_runs,
    })
}
