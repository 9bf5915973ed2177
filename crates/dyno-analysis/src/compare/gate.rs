//! Whether a run is no worse than its baseline: each metric at each load, by the same statistics and
//! the same correction as a comparison, so that what fails here is called worse there.

use super::differences::{WhyDifferent, gates};
use super::metric::Compared;
use super::{Comparison, ComparisonNote, CurvePoint, refused};
use dyno_model::load::LoadKind;
use dyno_model::summary::round6;
use dyno_stats::compare::{self, Better, GateTest};
use serde::Serialize;

/// The answer of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateAnswer {
    /// Within the bound.
    Pass,
    /// Inconclusive; saved under the name that it had first.
    #[serde(rename = "cannot_tell")]
    Inconclusive,
    /// Beyond the bound.
    Fail,
}

/// One metric at one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateCheck {
    /// The label of the load in tables.
    pub load: String,
    /// The metric.
    pub metric: Compared,
    /// The answer.
    pub answer: GateAnswer,
    /// Baseline and run.
    pub values: [Option<f64>; 2],
    /// The run divided by the baseline, minus 1; absent where it could not be tested.
    pub change: Option<f64>,
    /// Its ends, each right with 95 %. The worse one has to be within the limit to pass, the better one
    /// beyond it to fail: where it seems so, it is that corrected for all tests, as in a comparison.
    pub interval: Option<[f64; 2]>,
    /// Rounds of the baseline and of the run.
    pub rounds: Option<[usize; 2]>,
    /// About how many more rounds of each would decide it.
    pub more_rounds: Option<u32>,
    /// Why it could not be tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<WhyDifferent>,
}

impl GateCheck {
    /// The end of the interval that decides, and whether it is the upper one; absent where it could not
    /// be tested or is inconclusive.
    pub fn bound(&self) -> Option<(f64, bool)> {
        let [low, high] = self.interval?;
        let worse_is_more = self.metric.better() == Better::Lower;
        let upper = match self.answer {
            GateAnswer::Pass => worse_is_more,
            GateAnswer::Fail => !worse_is_more,
            GateAnswer::Inconclusive => return None,
        };
        Some((if upper { high } else { low }, upper))
    }
}

/// The checks, and the answer that follows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gated {
    /// The worst answer of any check; inconclusive without checks.
    pub answer: GateAnswer,
    /// The most that a metric may be worse.
    pub max_regression: f64,
    /// Baseline and run.
    pub sides: [String; 2],
    /// Loads of the baseline that the run does not have.
    pub missing: Vec<String>,
    /// Every metric at every load that both have.
    pub checks: Vec<GateCheck>,
    /// What makes the two different work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<ComparisonNote>,
}

/// Checks the second side of a comparison against the first. If no metrics are chosen, all are used.
pub fn gated(comparison: &Comparison, chosen: &[Compared], max_regression: f64) -> Gated {
    // A server that refuses requests is quicker with the others, whatever metrics are chosen.
    let wanted = |metric: &Compared| match metric.is_share() {
        true => metric.is_shed(),
        false => chosen.is_empty() || chosen.contains(metric),
    };
    let gates = gates(&comparison.differences, max_regression);
    let mut checks = Vec::new();
    let mut missing = Vec::new();
    for (place, point) in comparison.points.iter().enumerate() {
        let [first, own] = [0, 1].map(|side| point.cells.get(side).and_then(Option::as_ref));
        let measured = |cell: &&super::ComparedCell| !cell.interpolated;
        match (first.filter(measured), own.filter(measured)) {
            (Some(_), None) => missing.push(point.label.clone()),
            (Some(_), Some(_)) => {
                let of = |metric| check(comparison, &gates, place, point, metric, max_regression);
                checks.extend(Compared::all().filter(wanted).filter_map(of));
            }
            _ => {}
        }
    }
    let worst = checks.iter().map(|check| check.answer).max();
    let sides = [0, 1]
        .map(|side| comparison.sides.get(side).map(|side| side.name.clone()).unwrap_or_default());
    let lost = if missing.is_empty() { GateAnswer::Pass } else { GateAnswer::Inconclusive };
    let answer = worst.map_or(GateAnswer::Inconclusive, |worst| worst.max(lost));
    let caveats = comparison.notes.iter().copied().filter(|note| note.is_caveat()).collect();
    Gated { answer, max_regression, sides, missing, checks, caveats }
}

fn check(
    comparison: &Comparison,
    gates: &[compare::Gated],
    place: usize,
    point: &CurvePoint,
    metric: Compared,
    max_regression: f64,
) -> Option<GateCheck> {
    let value = |side: usize| point.cells.get(side)?.as_ref()?.figures.get(&metric).copied();
    let values = [value(0), value(1)];
    values[0]?;
    if metric.is_shed() {
        return shed(point, metric, values, max_regression);
    }
    let test = comparison.place(1, place, metric);
    let (test, gated) = (test.map(|at| &comparison.differences[at]), test.map(|at| gates[at]));
    // An open loop completes what is offered, so its rate says nothing about the server.
    if test.is_none() && !metric.is_time() && point.load.kind != LoadKind::Concurrency {
        return None;
    }
    let (answer, more_rounds) = match gated.map(|gated| gated.gate) {
        Some(GateTest::Pass) => (GateAnswer::Pass, None),
        Some(GateTest::Fail) => (GateAnswer::Fail, None),
        Some(GateTest::Inconclusive { more_rounds }) => (GateAnswer::Inconclusive, more_rounds),
        None => (GateAnswer::Inconclusive, None),
    };
    Some(GateCheck {
        load: point.label.clone(),
        metric,
        answer,
        values,
        change: test.map(|test| test.change),
        interval: gated.map(|gated| gated.interval.map(round6)),
        rounds: test.map(|test| test.rounds),
        more_rounds,
        why: comparison.untested(1, place, metric),
    })
}

/// Whether the run sheds more requests; nothing where neither does.
fn shed(
    point: &CurvePoint,
    metric: Compared,
    values: [Option<f64>; 2],
    max_regression: f64,
) -> Option<GateCheck> {
    values.iter().flatten().find(|share| **share > 0.0)?;
    let [first, own] = [0, 1].map(|side| point.cells.get(side).and_then(Option::as_ref));
    let answer = refused::answer(first?, own?, max_regression)?;
    let load = point.label.clone();
    Some(GateCheck {
        load,
        metric,
        answer,
        values,
        change: None,
        interval: None,
        rounds: None,
        more_rounds: None,
        why: None,
    })
}
