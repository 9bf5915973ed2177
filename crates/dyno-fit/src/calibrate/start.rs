//! Where the search starts: what the steps in the records show, and rough guesses from the lightest level
//! for the rest.

use crate::parameters::Parameter;
use crate::steps::{Coefficient, Known, LevelSteps, Planning, PrefillSteps, Term, step_costs};
use crate::trial::{Figures, Quantity, Trial};
use dyno_engine::core::Policy;
use std::collections::BTreeMap;

/// Steps show a coefficient no better than this, as a share of it: the model is not the server.
const FINEST: f64 = 0.04;

/// The spread of one launch, as a share of it.
const LAUNCHES: f64 = 0.6;

/// A first value, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Guess {
    pub(super) value: f64,
    /// The standard deviation of its logarithm.
    pub(super) spread: f64,
}

/// First guesses of coefficients and settings.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// Those that steps show.
    seen: BTreeMap<Parameter, Guess>,
    /// How steps are planned, if they show it.
    pub(super) steps_ahead: Option<u32>,
    /// Which prompts go with which tokens, if they show it.
    pub(super) policy: Option<Policy>,
    /// Tokens of the largest captured step, if they show it.
    pub(super) captured: Option<u32>,
    /// Milliseconds of a step, from the lightest level.
    step_ms: f64,
    /// Milliseconds to the first token there.
    first_ms: f64,
    /// Tokens of a prompt there.
    input: f64,
}

impl Start {
    /// Guesses from trials, and from the steps of those levels that have them.
    pub fn of(trials: &[Trial], steps: &[LevelSteps]) -> Self {
        let levels = trials.iter().filter_map(|trial| Some((trial, Figures::of(trial)?)));
        let lightest = levels
            .min_by(|(_, a), (_, b)| a.get(Quantity::ItlP50).total_cmp(&b.get(Quantity::ItlP50)));
        let Some((trial, figures)) = lightest else { return Self::default() };
        let count = trial.requests.len().max(1) as f64;
        let input = trial.requests.iter().map(|sent| f64::from(sent.input)).sum::<f64>() / count;
        let mut start = Self {
            step_ms: figures.get(Quantity::ItlP50).max(0.01),
            first_ms: figures.get(Quantity::TtftMean).max(0.01),
            input: input.max(1.0),
            ..Self::default()
        };
        start.look(steps);
        start
    }

    /// Takes over what steps show.
    fn look(&mut self, steps: &[LevelSteps]) {
        let planned = |planning: Planning| {
            let ahead = steps.iter().filter_map(|level| level.ahead);
            ahead.filter(|ahead| ahead.planning == planning).map(|ahead| ahead.count).sum::<usize>()
        };
        self.steps_ahead = match (planned(Planning::OneAhead), planned(Planning::InTime)) {
            (0, 0) => None,
            (ahead, in_time) if ahead > 2 * in_time => Some(1),
            (ahead, in_time) if in_time > 2 * ahead => Some(0),
            _ => None,
        };
        let with =
            |wanted: PrefillSteps| steps.iter().filter(|level| level.prefills == wanted).count();
        self.policy = match (with(PrefillSteps::Mixed), with(PrefillSteps::Separate)) {
            (0, 0) => None,
            (mixed, alone) if mixed > 2 * alone => Some(Policy::Chunked),
            (mixed, alone) if alone > 2 * mixed => Some(Policy::PrefillFirst),
            _ => None,
        };
        let Some(costs) = step_costs(&steps.iter().collect::<Vec<_>>()) else { return };
        // None is seen if all steps are larger.
        let isolated = planned(Planning::OneAhead);
        self.captured = costs.launch.map(|launch| launch.above).filter(|above| *above > 0);
        let shown = [
            (Parameter::Base, Term::Base, 1e3),
            (Parameter::Decode, Term::Sequence, 1e6),
            (Parameter::Kv, Term::Context, 1e9),
            (Parameter::PrefillToken, Term::PrefillToken, 1e6),
            (Parameter::Attention, Term::Attention, 1e9),
            (Parameter::LaunchLarge, Term::Launch, 1e3),
        ];
        for (parameter, term, per_second) in shown {
            let Coefficient { value, error, known, .. } = *costs.of(term);
            if let (Known::Yes, Some(error)) = (known, error) {
                let mut spread = (error / value).max(FINEST);
                if term == Term::Launch {
                    // Launches differ with what else the processor does; a few alone say little.
                    spread = spread.max(LAUNCHES / (isolated.max(1) as f64).sqrt());
                }
                self.seen.insert(parameter, Guess { value: per_second * value, spread });
            }
        }
    }

    /// What steps show of a parameter.
    pub(super) fn seen(&self, parameter: Parameter) -> Option<Guess> {
        self.seen.get(&parameter).copied().filter(|guess| guess.value > 0.0)
    }

    /// The first value of a parameter.
    pub(super) fn value(&self, parameter: Parameter) -> f64 {
        if let Some(seen) = self.seen(parameter) {
            return seen.value;
        }
        let prefill_us = 1e3 * 0.5 * self.first_ms / self.input;
        match parameter {
            Parameter::Base => 0.97 * self.step_ms,
            Parameter::Decode => 3.0 * self.step_ms,
            Parameter::PrefillToken => prefill_us,
            // One in six times the width of a model, and the bytes of a token over those of weights.
            Parameter::Attention => 2e-5 * 1e3 * prefill_us,
            Parameter::Kv => 2.3e-6 * 1e6 * self.step_ms,
            Parameter::FrontEnd | Parameter::FrontRequest => 0.1 * self.first_ms,
            Parameter::FrontInput => 1.0,
            Parameter::FrontChunk => 70.0,
            Parameter::LaunchPrefill => 0.4 * self.first_ms,
            Parameter::LaunchLarge => 0.8 * self.first_ms,
            Parameter::LaunchSequence => 20.0,
            _ => 1.0,
        }
    }
}
