//! Where the search starts: what the records show directly, or rough guesses from the lightest level.

use crate::parameters::Parameter;
use crate::trial::{Figures, Quantity, Trial};
use std::collections::BTreeMap;

/// First guesses of coefficients, by their names in a twin file and in its units.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Start {
    /// Those that are known from steps.
    pub known: BTreeMap<&'static str, f64>,
    /// Milliseconds of a step, from the lightest level.
    step_ms: f64,
    /// Milliseconds to the first token there.
    first_ms: f64,
    /// Tokens of a prompt there.
    input: f64,
}

impl Start {
    /// Guesses from trials alone.
    pub fn of(trials: &[Trial]) -> Self {
        let levels = trials.iter().filter_map(|trial| Some((trial, Figures::of(trial)?)));
        let lightest = levels.min_by(|(_, a), (_, b)| {
            a.get(Quantity::ItlP50).total_cmp(&b.get(Quantity::ItlP50))
        });
        let Some((trial, figures)) = lightest else { return Self::default() };
        let count = trial.requests.len().max(1) as f64;
        let input = trial.requests.iter().map(|sent| f64::from(sent.input)).sum::<f64>() / count;
        Self {
            known: BTreeMap::new(),
            step_ms: figures.get(Quantity::ItlP50).max(0.01),
            first_ms: figures.get(Quantity::TtftMean).max(0.01),
            input: input.max(1.0),
        }
    }

    /// The first value of a parameter.
    pub(super) fn value(&self, parameter: Parameter) -> f64 {
        if let Some(known) = self.known.get(parameter.name()).filter(|known| **known > 0.0) {
            return *known;
        }
        let prefill_us = 1e3 * 0.5 * self.first_ms / self.input;
        match parameter {
            Parameter::Base => 0.97 * self.step_ms,
            Parameter::Decode => 3.0 * self.step_ms,
            Parameter::PrefillToken => prefill_us,
            // One in six times the width of a model, and the bytes of a token over those of weights.
            Parameter::Attention => 2e-5 * 1e3 * prefill_us,
            Parameter::Kv => 2.3e-6 * 1e6 * self.step_ms,
            Parameter::FrontEnd => 0.1 * self.first_ms,
            Parameter::FrontRequest => 0.1 * self.first_ms,
            Parameter::FrontInput => 1.0,
            Parameter::FrontChunk => 50.0,
            Parameter::LaunchPrefill => 0.4 * self.first_ms,
            Parameter::LaunchLarge => 0.8 * self.first_ms,
            Parameter::LaunchSequence => 20.0,
            _ => 1.0,
        }
    }
}
