//! Loads that were not measured: what the true engine does with them, and what the fit predicts.

use super::judged::REQUESTS;
use super::loads::{Lengths, burst, closed, open, ramp, sessions};
use super::random::Draws;
use super::system::System;
use dyno_engine::core::Core;
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::Accuracy;
use dyno_fit::{Figures, Quantity, Trial, rerun};

/// More in flight than any level has.
const FULL: usize = 256;
/// Between the numbers of two noises of the true engine.
const AGAIN: u64 = 100;
/// Loads above this share of the capacity are not judged.
const BUSIEST: f64 = 0.9;
/// The fit's own interval of a prediction may be so many times as wide as the goal.
const HONEST: f64 = 3.0;

/// What is predicted, and the largest error, as a share.
pub(super) const GOALS: [(Quantity, f64); 7] = [
    (Quantity::Rate, 0.05),
    (Quantity::LatencyP50, 0.05),
    (Quantity::LatencyP90, 0.05),
    (Quantity::TtftP50, 0.10),
    (Quantity::TtftP90, 0.10),
    (Quantity::ItlP50, 0.10),
    (Quantity::ItlP90, 0.10),
];

/// A predicted value.
#[derive(Debug, Clone)]
pub(super) struct Prediction {
    pub(super) load: &'static str,
    pub(super) quantity: Quantity,
    /// Predicted over true, less 1.
    pub(super) error: f64,
    /// The same for the true engine with other noise: no prediction can be better.
    pub(super) again: f64,
    pub(super) goal: f64,
    /// Whether the fit's own interval is far wider than the goal.
    pub(super) named: bool,
    /// Whether the truth is within it; nothing for values that have none.
    pub(super) covered: Option<bool>,
}

/// The loads to predict, each with the highest throughput of its lengths.
fn unseen(system: &System) -> Vec<(&'static str, Trial, f64)> {
    let mut draws = Draws::new(system.seed, 3);
    let draws = &mut draws;
    let System { input, output, .. } = *system;
    let lengths = Lengths::fixed(input, output);
    let long = Lengths::fixed(4 * input, output / 2);
    let short = Lengths::fixed(input / 4, 2 * output);
    let [most, most_long, most_short] = [lengths, long, short].map(|of| capacity(system, of));
    let mut all = Vec::new();
    for share in [0.2, 0.45, 0.75] {
        all.push(("other rates", open(draws, share * most, REQUESTS, lengths), most));
    }
    all.push(("ramp", ramp(draws, [0.1 * most, 0.85 * most], REQUESTS, lengths), most));
    all.push(("burst", burst(draws, 40, lengths), f64::INFINITY));
    for users in [6, 20] {
        all.push((
            "sessions",
            sessions(draws, users, Lengths::fixed(input / 4, output)),
            f64::INFINITY,
        ));
    }
    all.push(("long prompts", open(draws, 0.5 * most_long, REQUESTS, long), most_long));
    all.push(("short prompts", open(draws, 0.5 * most_short, REQUESTS, short), most_short));
    for slots in [8, 32, 90] {
        all.push(("other concurrency", closed(draws, slots, 5 * slots, lengths), most));
    }
    all
}

/// The highest throughput with such lengths, in requests a second.
fn capacity(system: &System, lengths: Lengths) -> f64 {
    let full = closed(&mut Draws::new(system.seed, 4), FULL, 3 * FULL, lengths);
    let figures = system.core(99).and_then(|core| Figures::of(&rerun(&full, core)?));
    figures.map_or(f64::NAN, |figures| figures.get(Quantity::Rate))
}

/// All values of all loads.
pub(super) fn predictions(system: &System, twin: &Twin) -> Vec<Prediction> {
    let mut all = Vec::new();
    for (number, (load, trial, capacity)) in (50..).zip(unseen(system)) {
        let run = |core: Core| Figures::of(&rerun(&trial, core)?);
        let Some(truth) = system.core(number).and_then(run) else { continue };
        if truth.get(Quantity::Rate) > BUSIEST * capacity {
            continue;
        }
        let predicted = twin.core(number).ok().and_then(run);
        let again = system.core(number + AGAIN).and_then(run);
        for (quantity, goal) in GOALS {
            let error = |of: &Option<Figures>| {
                let share = |of: &Figures| of.get(quantity) / truth.get(quantity) - 1.0;
                of.as_ref().map_or(f64::INFINITY, share)
            };
            let (error, again) = (error(&predicted), error(&again));
            let own = twin.accuracy.map_or(f64::INFINITY, |accuracy| half(&accuracy, quantity));
            let named = own > HONEST * goal;
            // As it is printed: from the prediction divided by the factor to the prediction times it.
            let covered = match quantity {
                Quantity::ItlP90 => None,
                _ => Some(error.ln_1p().abs() <= own.ln_1p()),
            };
            all.push(Prediction { load, quantity, error, again, goal, named, covered });
        }
    }
    all
}

/// Half the width of the fit's own interval, as a share.
pub(super) fn half(accuracy: &Accuracy, quantity: Quantity) -> f64 {
    0.01 * match quantity {
        Quantity::Rate => accuracy.rate,
        Quantity::TtftMean | Quantity::TtftP50 | Quantity::TtftP90 => accuracy.ttft,
        Quantity::ItlMean | Quantity::ItlP50 | Quantity::ItlP90 => {
            accuracy.itl.unwrap_or(f64::INFINITY)
        }
        Quantity::LatencyMean | Quantity::LatencyP50 | Quantity::LatencyP90 => accuracy.latency,
    }
}
