//! The trials, what was measured in each, and how far a model is from that.

use super::miss;
use crate::model::Model;
use crate::trial::{Figures, Quantity, Trial, rerun};
use dyno_engine::core::Core;

/// Requests of a trial that are enough to see where a search should go.
const ENOUGH: usize = 160;
/// The error of a figure that a model does not give at all: a factor of 20.
const ABSENT: f64 = 3.0;
/// Errors above this count linearly instead of squared: one impossible level must not decide.
const LARGE: f64 = 0.2;

/// What is compared, and how much it counts. Means and medians are certain; the highest percentiles of
/// short levels are not.
const WEIGHTS: [(Quantity, f64); 9] = [
    (Quantity::Rate, 2.0),
    (Quantity::TtftMean, 1.0),
    (Quantity::TtftP50, 0.5),
    (Quantity::TtftP90, 0.5),
    (Quantity::ItlMean, 1.0),
    (Quantity::ItlP50, 0.5),
    (Quantity::ItlP90, 0.25),
    (Quantity::LatencyP50, 1.0),
    (Quantity::LatencyP90, 1.0),
];

/// A trial and its values.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) trial: Trial,
    pub(super) measured: Figures,
}

/// All trials, whole and in brief.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    pub(super) whole: Vec<Level>,
    pub(super) brief: Vec<Level>,
}

impl Evidence {
    pub(super) fn new(trials: &[Trial]) -> Self {
        let level = |trial: Trial| Some(Level { measured: Figures::of(&trial)?, trial });
        let brief = |trial: &Trial| level(first_of(trial, ENOUGH)).or_else(|| level(trial.clone()));
        Self {
            whole: trials.iter().cloned().filter_map(level).collect(),
            brief: trials.iter().filter_map(brief).collect(),
        }
    }
}

/// The first requests of a trial. Nothing that is left waits for one that is not.
fn first_of(trial: &Trial, enough: usize) -> Trial {
    let mut requests = trial.requests.clone();
    requests.truncate(enough.max(3 * at_once(trial)));
    Trial { label: trial.label.clone(), kind: trial.kind, requests }
}

/// Requests that do not wait for others: the slots of a closed loop.
fn at_once(trial: &Trial) -> usize {
    use crate::trial::When;
    let waits = trial.requests.iter().any(|sent| matches!(sent.when, When::After { .. }));
    let alone = trial.requests.iter().filter(|sent| matches!(sent.when, When::At(_))).count();
    if waits { alone } else { 0 }
}

/// How far a model is from these levels: the sum of squared errors of the logarithms.
pub(super) fn misfit<'a>(model: &Model, levels: impl IntoIterator<Item = &'a Level>) -> f64 {
    levels.into_iter().map(|level| of_level(model, level)).sum()
}

fn of_level(model: &Model, level: &Level) -> f64 {
    let figures = simulated(&level.trial, model);
    let error = |(quantity, weight): &(Quantity, f64)| {
        let error =
            figures.as_ref().map_or(ABSENT, |figures| miss(&level.measured, figures, *quantity));
        if error.is_nan() {
            return 0.0;
        }
        weight * 2.0 * LARGE * LARGE * ((1.0 + (error / LARGE).powi(2)).sqrt() - 1.0)
    };
    WEIGHTS.iter().map(error).sum()
}

/// The number of independent values of so many levels, for judging how good a fit is.
pub(super) fn figures_of(levels: usize) -> f64 {
    WEIGHTS.iter().map(|(_, weight)| weight).sum::<f64>() * levels as f64
}

/// The values that a model gives for a trial.
pub(super) fn simulated(trial: &Trial, model: &Model) -> Option<Figures> {
    let core = Core::new(model.scheduler, model.cost, 1).ok()?;
    Figures::of(&rerun(trial, core)?)
}
