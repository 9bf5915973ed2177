//! The trials, what was measured in each, and how far a model is from that.

use super::miss;
use super::start::Start;
use crate::model::Model;
use crate::steps::LevelSteps;
use crate::trial::{Figures, Quantity, Trial, TrialKind, rerun, sent_times};
use dyno_engine::core::Core;

/// Requests of a trial that are enough to see where a search should go.
const ENOUGH: usize = 160;
/// The error of a figure that a model does not give at all: a factor of 20.
const ABSENT: f64 = 3.0;
/// Errors above this count linearly instead of squared: one impossible level must not decide.
const LARGE: f64 = 0.2;
/// A model is no closer to a server than this. Values that repeat no better count less.
const REPEATS: f64 = 0.03;
/// Runs of the same engine with other noise that show how well values repeat.
const RUNS: u64 = 4;
/// How much more or less a level counts for the number of others of its kind.
const BALANCED: f64 = 2.5;
/// The noise of the engines that are compared with the server.
pub(super) const SEED: u64 = 1;
/// The ratio of the longest to the shortest prompt from which on short and long ones are compared.
const LENGTHS_DIFFER: u32 = 2;

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
/// The mean TTFT of short and of long prompts, where they differ.
const BY_LENGTH: [f64; 2] = [1.0, 1.0];
/// The values of a level.
const ROWS: usize = WEIGHTS.len() + BY_LENGTH.len();

/// A trial and its values.
#[derive(Debug, Clone)]
pub(super) struct EvidenceLevel {
    pub(super) trial: Trial,
    pub(super) measured: Figures,
    /// Prompts up to the first length are short, from the second on long; none if all are alike.
    lengths: Option<[u32; 2]>,
    by_length: [f64; 2],
    weights: [f64; ROWS],
}

impl EvidenceLevel {
    fn new(trial: Trial) -> Option<Self> {
        let measured = Figures::of(&trial)?;
        let lengths = short_and_long(&trial);
        let mut weights = [0.0; ROWS];
        let all = WEIGHTS.iter().map(|(_, weight)| *weight).chain(BY_LENGTH);
        weights.iter_mut().zip(all).for_each(|(weight, of)| *weight = of);
        let by_length = by_length(&trial, lengths);
        Some(Self { trial, measured, lengths, by_length, weights })
    }

    /// The weighted errors of a model, large ones less than in proportion.
    fn rows(&self, model: &Model, seed: u64) -> [f64; ROWS] {
        let errors = self.errors(model, seed);
        let mut rows = [0.0; ROWS];
        for ((row, error), weight) in rows.iter_mut().zip(errors).zip(self.weights) {
            let size = 2.0 * LARGE * LARGE * ((1.0 + (error / LARGE).powi(2)).sqrt() - 1.0);
            *row = (weight * size).sqrt() * error.signum();
        }
        rows
    }

    /// The logarithms of simulated over measured values.
    fn errors(&self, model: &Model, seed: u64) -> [f64; ROWS] {
        let mut errors = [ABSENT; ROWS];
        let found = rerun_with(&self.trial, model, seed);
        let Some((found, figures)) = found.and_then(|of| Some((Figures::of(&of)?, of))) else {
            return errors;
        };
        for (error, (quantity, _)) in errors.iter_mut().zip(WEIGHTS) {
            *error = miss(&self.measured, &found, quantity);
        }
        let by_length = by_length(&figures, self.lengths);
        for (place, (found, measured)) in by_length.iter().zip(self.by_length).enumerate() {
            errors[WEIGHTS.len() + place] = (found / measured).ln();
        }
        errors.map(|error| if error.is_nan() { 0.0 } else { error })
    }

    /// Values that change with the noise of the engine count less.
    fn weigh(&mut self, model: &Model) {
        let runs: Vec<[f64; ROWS]> = (1..=RUNS).map(|seed| self.errors(model, seed)).collect();
        for (place, weight) in self.weights.iter_mut().enumerate() {
            let mean = runs.iter().map(|run| run[place]).sum::<f64>() / RUNS as f64;
            let squares = runs.iter().map(|run| (run[place] - mean).powi(2)).sum::<f64>();
            let variance = squares / (RUNS - 1) as f64;
            *weight *= REPEATS * REPEATS / (REPEATS * REPEATS + variance);
        }
    }
}

/// The lengths of the shortest and the longest third of the prompts.
fn short_and_long(trial: &Trial) -> Option<[u32; 2]> {
    let mut lengths: Vec<u32> =
        trial.requests.iter().filter(|sent| sent.measured).map(|sent| sent.input).collect();
    lengths.sort_unstable();
    let third = lengths.len() / 3;
    let (short, long) = (*lengths.get(third)?, *lengths.get(lengths.len() - 1 - third)?);
    (long >= LENGTHS_DIFFER * short.max(1)).then_some([short, long])
}

/// The mean TTFT of short and of long prompts; not a number where all are alike.
fn by_length(trial: &Trial, lengths: Option<[u32; 2]>) -> [f64; 2] {
    let Some([short, long]) = lengths else { return [f64::NAN; 2] };
    let mean = |wanted: &dyn Fn(u32) -> bool| {
        let counted = trial.requests.iter().filter(|sent| sent.measured && wanted(sent.input));
        let firsts = counted.filter_map(|sent| sent.seen.first());
        let (sum, count) =
            firsts.fold((0.0, 0.0), |(sum, count), first| (sum + first.after as f64, count + 1.0));
        sum / count
    };
    [mean(&|input| input <= short), mean(&|input| input >= long)]
}

/// All trials, whole and in brief.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    pub(super) whole: Vec<EvidenceLevel>,
    pub(super) brief: Vec<EvidenceLevel>,
    /// The steps that each level shows.
    steps: Vec<Option<LevelSteps>>,
}

impl Evidence {
    pub(super) fn new(trials: &[Trial], steps: &[Option<LevelSteps>]) -> Self {
        let mut all = Self { whole: Vec::new(), brief: Vec::new(), steps: Vec::new() };
        for (place, trial) in trials.iter().enumerate() {
            let Some(whole) = EvidenceLevel::new(trial.clone()) else { continue };
            let brief = EvidenceLevel::new(first_of(trial, ENOUGH));
            all.brief.push(brief.unwrap_or_else(|| whole.clone()));
            all.whole.push(whole);
            all.steps.push(steps.get(place).cloned().flatten());
        }
        all.balance();
        all
    }

    /// All but some of the levels. They count as much as before.
    pub(super) fn without(&self, left_out: &[usize]) -> Self {
        fn rest<T: Clone>(all: &[T], left_out: &[usize]) -> Vec<T> {
            let rest = all.iter().enumerate().filter(|(place, _)| !left_out.contains(place));
            rest.map(|(_, of)| of.clone()).collect()
        }
        Self {
            whole: rest(&self.whole, left_out),
            brief: rest(&self.brief, left_out),
            steps: rest(&self.steps, left_out),
        }
    }

    /// What the levels show before any search.
    pub(super) fn start(&self) -> Start {
        let trials: Vec<Trial> = self.whole.iter().map(|level| level.trial.clone()).collect();
        Start::of(&trials, &self.steps)
    }

    /// Kinds of load count alike, within limits, however many levels there are of each: what is to be
    /// predicted may be of any kind.
    fn balance(&mut self) {
        let kinds: Vec<TrialKind> = self.whole.iter().map(|level| level.trial.kind).collect();
        let mut distinct = kinds.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let mean = kinds.len() as f64 / distinct.len().max(1) as f64;
        for level in self.whole.iter_mut().chain(&mut self.brief) {
            let same = kinds.iter().filter(|kind| **kind == level.trial.kind).count();
            let factor = (mean / same as f64).clamp(1.0 / BALANCED, BALANCED);
            level.weights.iter_mut().for_each(|weight| *weight *= factor);
        }
    }

    /// Sets the weights by how well values repeat with an engine like this.
    pub(super) fn weigh(&mut self, model: &Model) {
        for (whole, brief) in self.whole.iter_mut().zip(&mut self.brief) {
            brief.weigh(model);
            whole.weights = brief.weights;
        }
    }
}

/// The first requests of a trial. Nothing that is left waits for one that is not.
fn first_of(trial: &Trial, enough: usize) -> Trial {
    let mut requests = trial.requests.clone();
    let enough = enough.max(3 * at_once(trial));
    let until = trial.until.map(|until| sent_times(trial).get(enough).copied().unwrap_or(until));
    requests.truncate(enough);
    Trial { label: trial.label.clone(), kind: trial.kind, requests, until }
}

/// Requests that do not wait for others: the slots of a closed loop.
fn at_once(trial: &Trial) -> usize {
    use crate::trial::TrialTime;
    let waits = trial.requests.iter().any(|sent| matches!(sent.when, TrialTime::After { .. }));
    let alone = trial.requests.iter().filter(|sent| matches!(sent.when, TrialTime::At(_))).count();
    if waits { alone } else { 0 }
}

/// How far a model is from these levels, value by value.
pub(super) fn rows<'a>(
    model: &Model,
    levels: impl IntoIterator<Item = &'a EvidenceLevel>,
    seed: u64,
) -> Vec<f64> {
    levels.into_iter().flat_map(|level| level.rows(model, seed)).collect()
}

/// The sum of the squared errors of the logarithms.
pub(super) fn misfit<'a>(
    model: &Model,
    levels: impl IntoIterator<Item = &'a EvidenceLevel>,
) -> f64 {
    rows(model, levels, SEED).iter().map(|row| row * row).sum()
}

/// The number of values of these levels, each as much as it counts.
pub(super) fn figures_of<'a>(levels: impl IntoIterator<Item = &'a EvidenceLevel>) -> f64 {
    levels.into_iter().flat_map(|level| level.weights).sum()
}

/// The values that a model gives for a trial with several noises of the engine.
pub(super) fn repeated(trial: &Trial, model: &Model) -> Vec<Figures> {
    (1..=RUNS).filter_map(|seed| Figures::of(&rerun_with(trial, model, seed)?)).collect()
}

/// The values that a model gives for a trial.
pub(super) fn simulated(trial: &Trial, model: &Model) -> Option<Figures> {
    Figures::of(&rerun_with(trial, model, SEED)?)
}

fn rerun_with(trial: &Trial, model: &Model, seed: u64) -> Option<Trial> {
    rerun(trial, Core::new(model.scheduler, model.cost, seed).ok()?)
}
