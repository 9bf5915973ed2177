//! How well levels and kinds of load are predicted by the others.

use super::descent::{Descent, Point};
use super::evidence::{Level, simulated};
use super::miss;
use super::search::{Found, Search};
use crate::model::Model;
use crate::search::parallel;
use crate::trial::{Kind, Quantity};
use dyno_stats::rng::SplitMix;
use std::collections::BTreeMap;

/// Parts into which levels are divided, each to be predicted by the rest.
const FOLDS: usize = 5;

/// The parameters of the rest. Where few levels are left, what they do not show moves little.
const AGAIN: Descent = Descent { rounds: 4, steps: 3, damped: 0.03, threads: 1 };
/// How far from the parameters of all levels the search for those of the rest begins, as a share: it must
/// find its own way, or it remembers the levels that were left out.
const AWAY: f64 = 0.2;

/// A level that was left out, and how far the prediction was from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Missed {
    /// The level.
    pub label: String,
    /// Its kind of load.
    pub kind: Kind,
    /// Logarithms of simulated over measured values.
    pub by: BTreeMap<Quantity, f64>,
}

/// What leaving out showed.
#[derive(Debug, Clone, Default)]
pub struct LeftOut {
    /// Levels, each predicted by levels of all kinds.
    pub levels: Vec<Missed>,
    /// Levels, each predicted by levels of other kinds alone. Empty if all are of one kind.
    pub kinds: Vec<Missed>,
}

/// Leaves out one fold after the other, and one kind after the other.
pub(super) fn leave_out(search: &Search<'_>, found: &Found) -> LeftOut {
    let all = &search.evidence.whole;
    let mut kinds: Vec<Kind> = all.iter().map(|level| level.trial.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let folds = FOLDS.min(all.len());
    let mut parts: Vec<Vec<usize>> = match folds {
        0 | 1 => Vec::new(),
        folds => (0..folds).map(|fold| (fold..all.len()).step_by(folds).collect()).collect(),
    };
    let of_levels = parts.len();
    if kinds.len() > 1 {
        let of = |kind: &Kind| (0..all.len()).filter(|at| all[*at].trial.kind == *kind).collect();
        parts.extend(kinds.iter().map(of));
    }
    let models = parallel(search.options.threads, &parts, |part| refit(search, found, part));
    let missed = |(part, model): (&Vec<usize>, &Model)| {
        let levels: Vec<Missed> = part.iter().map(|at| missed(&all[*at], model)).collect();
        levels
    };
    let mut each: Vec<Vec<Missed>> = parts.iter().zip(&models).map(missed).collect();
    let kinds = each.split_off(of_levels).into_iter().flatten().collect();
    let levels = each.into_iter().flatten().collect();
    LeftOut { levels, kinds }
}

/// The model that is fitted to all levels but these.
fn refit(search: &Search<'_>, found: &Found, without: &[usize]) -> Model {
    let all = &search.evidence.whole;
    let rest = all.iter().enumerate().filter(|(at, _)| !without.contains(at));
    let levels: Vec<&Level> = rest.map(|(_, level)| level).collect();
    let mut signs = SplitMix::new(without.iter().fold(0, |seed, at| (seed << 5) ^ *at as u64));
    let moved = |at: &f64| match signs.next_u64() % 2 {
        0 => at * (1.0 + AWAY),
        _ => at / (1.0 + AWAY),
    };
    let start = Point::start(found.point.at.iter().map(moved).collect());
    found.at(&search.descend(found, start, &levels, AGAIN).at)
}

fn missed(level: &Level, model: &Model) -> Missed {
    let figures = simulated(&level.trial, model);
    let by = |quantity: &Quantity| {
        let miss = miss(&level.measured, figures.as_ref()?, *quantity);
        miss.is_finite().then_some((*quantity, miss))
    };
    Missed {
        label: level.trial.label.clone(),
        kind: level.trial.kind,
        by: Quantity::ALL.iter().filter_map(by).collect(),
    }
}

impl LeftOut {
    /// The mean absolute error of a value on levels that were left out, as a share.
    pub fn error(&self, quantity: Quantity) -> Option<f64> {
        let errors: Vec<f64> = self
            .levels
            .iter()
            .filter_map(|missed| Some((missed.by.get(&quantity)?.exp() - 1.0).abs()))
            .collect();
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    }
}
