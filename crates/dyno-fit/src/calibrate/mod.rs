//! Fits an engine to recorded runs: every request is sent again, as it was sent, to engines in virtual
//! time, until one gives the same times.
//!
//! What the steps in the records show directly ([`crate::steps`]) is where the search starts. Settings
//! that cannot be measured (the policy, steps ahead, the token budget, how the front end takes turns) are
//! tried. Levels and kinds of load are left out in turn to see how well the others predict them.

mod check;
mod choice;
mod coefficients;
mod descent;
mod evidence;
mod explain;
mod left_out;
mod next;
mod profile;
mod search;
mod start;
#[cfg(test)]
mod tests;
mod twin;
mod unknown;
mod without;

pub use check::{CheckedLevel, FitCheck, Shift, check};
pub use explain::{ExplainedPart, Explanation};
pub use left_out::{LeftOut, Missed};
pub use next::NextRun;
pub use unknown::Unknown;
pub use without::Without;

use super::model::Model;
use super::progress::FitProgress;
use super::steps::LevelSteps;
use super::trial::{Figures, Quantity, Trial};
use evidence::{Evidence, figures_of, misfit};
use search::CostSearch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The error of a typical value before any is known.
const TYPICAL: f64 = 0.05;

/// What is known of an engine besides its times.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FitSettings {
    /// How many sequences it runs at once.
    pub max_seqs: Option<u32>,
    /// How many tokens a step may process.
    pub token_budget: Option<u32>,
    /// How many tokens its KV cache holds.
    pub kv_tokens: Option<u64>,
    /// How many tokens a block of it has.
    pub block: Option<u32>,
    /// Whether it keeps the prefixes of prompts.
    pub prefix_cache: Option<bool>,
    /// How many tokens a prompt and its response may have together.
    pub context: Option<u32>,
}

/// How to fit.
#[derive(Debug, Clone)]
pub struct CalibrateOptions {
    /// Threads to use.
    pub threads: usize,
    /// Counts what has been done.
    pub progress: Arc<FitProgress>,
    /// Terms of the model that are left out.
    pub without: Vec<Without>,
}

/// An engine that was fitted, and how well it predicts what it was not fitted to.
#[derive(Debug, Clone)]
pub struct Calibrated {
    pub(crate) model: Model,
    /// Each trial and what the engine gives for it.
    pub levels: Vec<(Trial, Option<Figures>)>,
    /// How far levels and kinds of load are from what the others predict.
    pub left_out: LeftOut,
    /// The smallest and the largest value that the data allow, by the name of the parameter.
    pub intervals: BTreeMap<String, [f64; 2]>,
    /// What the trials do not show.
    pub unknown: Vec<Unknown>,
    /// The runs that would show it; none if none would help.
    pub next_runs: Vec<NextRun>,
    /// The mean squared error of the levels.
    square: f64,
}

/// The engine that gives the times of these trials, each with the steps that it shows; nothing if none
/// can.
pub fn calibrate(
    trials: &[Trial],
    steps: &[Option<LevelSteps>],
    known: &FitSettings,
    options: &CalibrateOptions,
) -> Option<Calibrated> {
    let mut evidence = Evidence::new(trials, steps);
    let start = &evidence.start();
    let first = CostSearch { evidence: &evidence, start, known, options, typical: TYPICAL };
    let ways = first.candidates();
    let model = ways.first().filter(|_| !evidence.whole.is_empty())?.model();
    evidence.weigh(&model);
    let square = misfit(&model, &evidence.brief) / figures_of(&evidence.brief);
    let typical = square.sqrt().clamp(search::FLOOR, TYPICAL);
    let search = CostSearch { evidence: &evidence, start, known, options, typical };
    let found = search.best(&ways)?;
    let left_out = left_out::leave_out(&search, &found);
    let model = found.model();
    let free = (figures_of(&evidence.whole) - found.parameters.len() as f64).max(1.0);
    let square = misfit(&model, &evidence.whole) / free;
    let noise = square.max(search::FLOOR * search::FLOOR);
    let intervals = profile::intervals(&search, &found, noise);
    let unknown = unknown::unknown(&search, &found, &intervals, noise);
    let levels = trials.iter().map(|trial| (trial.clone(), evidence::simulated(trial, &model)));
    Some(Calibrated {
        model,
        levels: levels.collect(),
        intervals: intervals.into_iter().map(|(name, of)| (name.to_owned(), of)).collect(),
        left_out,
        next_runs: next::runs(&unknown, &evidence, known),
        unknown,
        square,
    })
}

/// How far a simulated figure is from the measured one, as a logarithm.
pub(crate) fn miss(measured: &Figures, simulated: &Figures, quantity: Quantity) -> f64 {
    (simulated.get(quantity) / measured.get(quantity)).ln()
}
