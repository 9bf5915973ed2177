//! A system measured, fitted and predicted, beside the truth.

use super::found::{Coefficient, Setting, coefficients, settings};
use super::loads::{Lengths, closed, open};
use super::measured::{Measured, measure};
use super::predicted::{Prediction, predictions};
use super::random::Draws;
use super::system::System;
use dyno_engine::twin::Twin;
use dyno_fit::{CalibrateOptions, Figures, FitSettings, Quantity, Trial, calibrate};
use std::sync::Arc;

/// The slots and the requests of the measured ladder.
const LADDER: [(usize, usize); 5] = [(1, 12), (4, 40), (16, 96), (64, 256), (128, 384)];
/// The shares of the highest throughput that are measured as rates.
const RATES: [f64; 3] = [0.3, 0.6, 0.85];
/// Requests of an open level.
pub(super) const REQUESTS: usize = 200;

/// All that was found about a system.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) system: System,
    pub(super) residual: f64,
    pub(super) coefficients: Vec<Coefficient>,
    pub(super) settings: Vec<Setting>,
    pub(super) predictions: Vec<Prediction>,
    pub(super) seconds: f64,
    /// Levels whose steps are known.
    pub(super) with_steps: usize,
}

/// What a user measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// What the guide recommends.
    Recommended,
    /// The ladder of closed loops alone.
    Ladder,
}

/// A system measured as the guide recommends, and fitted.
pub(super) fn fitted(system: &System) -> Option<Twin> {
    let measured = user_measures(system, Runs::Recommended)?.into_iter();
    let (trials, steps): (Vec<Trial>, Vec<_>) =
        measured.map(|level| (level.trial, level.steps)).unzip();
    let options = CalibrateOptions { threads: 1, progress: Arc::default(), without: Vec::new() };
    Some(calibrate(&trials, &steps, &FitSettings::default(), &options)?.twin("fitted"))
}

/// Measures, fits and predicts a system.
pub(super) fn judge(system: System, runs: Runs) -> Option<Judged> {
    let measured = user_measures(&system, runs)?;
    let with_steps = measured.iter().filter(|level| level.steps.is_some()).count();
    let (trials, steps): (Vec<Trial>, Vec<_>) =
        measured.into_iter().map(|level| (level.trial, level.steps)).unzip();
    let began = std::time::Instant::now();
    let options = CalibrateOptions { threads: 1, progress: Arc::default(), without: Vec::new() };
    let found = calibrate(&trials, &steps, &FitSettings::default(), &options)?;
    let seconds = began.elapsed().as_secs_f64();
    let twin = found.twin("fitted");
    Some(Judged {
        system,
        residual: found.residual(),
        coefficients: coefficients(&system, &found),
        settings: settings(&system, &twin, &found),
        predictions: predictions(&system, &twin),
        seconds,
        with_steps,
    })
}

/// The measurements of a user.
fn user_measures(system: &System, runs: Runs) -> Option<Vec<Measured>> {
    let mut draws = Draws::new(system.seed, 2);
    let lengths = Lengths::fixed(system.input, system.output);
    let mut all: Vec<Measured> = Vec::new();
    let mut add = |load: &Trial| {
        all.extend(measure(system, load, all.len() as u64));
        all.last().and_then(|level| Figures::of(&level.trial)).map(|of| of.get(Quantity::Rate))
    };
    let mut most: f64 = 0.0;
    for (slots, requests) in LADDER {
        most = most.max(add(&closed(&mut draws, slots, requests, lengths))?);
    }
    if runs == Runs::Ladder {
        return Some(all);
    }
    for share in RATES {
        add(&open(&mut draws, share * most, REQUESTS, lengths))?;
    }
    let mixed = Lengths {
        input: [system.input / 8, 3 * system.input],
        output: [system.output / 8, 2 * system.output],
    };
    add(&closed(&mut draws, 16, 128, mixed))?;
    Some(all)
}
