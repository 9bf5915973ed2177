//! Where the search starts: what the steps in the records show, and rough guesses from the lightest level
//! for the rest.

use crate::parameters::Parameter;
use crate::steps::{Coefficient, KnownCosts, LevelSteps, Planning, PrefillSteps, Term, step_costs};
use crate::trial::{Figures, Quantity, Trial};
use dyno_engine::core::{Launch, Policy};
use dyno_stats::{by_rank, upper_median};
use std::collections::BTreeMap;

/// Steps show a coefficient no better than this, as a share of it: the model is not the server.
const FINEST: f64 = 0.04;
/// How much larger errors are than the windows of steps suggest, where coefficients share what they explain.
const SHARED: f64 = 2.0;
/// The spread of one launch, as a share of it.
const LAUNCHES: f64 = 0.6;
/// How much less is known of a term that steps hardly tell from another.
const ALIKE: f64 = 4.0;
/// The time of a chunk is known no better than this share and so many microseconds.
const CHUNK: (f64, f64) = (0.06, 2.0);
/// Tokens of a step whose order shows the time of a chunk well.
const MANY: u32 = 12;
/// The fewest pairs of steps that show noise.
const PAIRS: usize = 50;
/// A batch is as large as it can be if this share of the steps has at least this share of the most sequences
/// of any, in a level that has more in flight.
const FULL: (f64, f64) = (0.2, 0.97);
/// How many times as many have to be in flight.
const MORE: f64 = 1.15;
/// More noise than this is something else.
const LOUDEST: f64 = 0.15;
/// The share of steps with a prompt that may be shorter than the launch of one, by noise.
const SHORTEST: f64 = 0.1;
/// The fewest of them that show it.
const PROMPTS: usize = 10;

/// A value that steps show, and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Guess {
    pub(super) value: f64,
    pub(super) error: f64,
}

/// A step with a prompt.
#[derive(Debug, Clone, Copy)]
struct Prompted {
    /// Prefilled and decoded.
    tokens: u64,
    sequences: f64,
    time_ms: f64,
}

/// First guesses of coefficients and settings.
#[derive(Debug, Clone, Default)]
pub(super) struct Start {
    /// Those that steps show.
    seen: BTreeMap<Parameter, Guess>,
    /// How steps are planned, if they show it.
    pub(super) steps_ahead: Option<u32>,
    /// Which prompts go with which tokens, if they show it.
    pub(super) policy: Option<Policy>,
    /// Tokens of the largest captured step, if they show it.
    pub(super) captured: Option<u32>,
    /// The most sequences in a batch, if they show it.
    pub(super) max_seqs: Option<u32>,
    /// Steps with a prompt.
    prompts: Vec<Prompted>,
    /// How much the times of steps vary, as the standard deviation of their logarithms.
    pub(super) noise: f64,
    /// Milliseconds of a step, from the lightest level.
    step_ms: f64,
    /// Milliseconds to the first token there.
    pub(super) first_ms: f64,
    /// Tokens of a prompt there.
    input: f64,
}

impl Start {
    /// Guesses from trials, and from the steps of those levels that have them.
    pub(super) fn of(trials: &[Trial], steps: &[Option<LevelSteps>]) -> Self {
        let levels = trials.iter().filter_map(|trial| Some((trial, Figures::of(trial)?)));
        let lightest = levels
            .min_by(|(_, a), (_, b)| a.get(Quantity::ItlP50).total_cmp(&b.get(Quantity::ItlP50)));
        let Some((trial, figures)) = lightest else { return Self::default() };
        let count = trial.requests.len().max(1) as f64;
        let input = trial.requests.iter().map(|sent| f64::from(sent.input)).sum::<f64>() / count;
        let mut start = Self {
            step_ms: step_ms(&figures).max(0.01),
            first_ms: figures.get(Quantity::TtftMean).max(0.01),
            input: input.max(1.0),
            ..Self::default()
        };
        let steps: Vec<&LevelSteps> = steps.iter().flatten().collect();
        start.look(&steps);
        start.max_seqs = steps.iter().filter_map(|level| full_batch(level)).max();
        start.prompts = steps.iter().flat_map(|level| with_a_prompt(level)).collect();
        start
    }

    /// By which share launches are longer than steps that were seen: nearly all of those that graphs were captured
    /// for, and of larger ones. Below 0 if they are shorter; nothing where too few are seen.
    pub(super) fn too_long(&self, launch: &Launch) -> [Option<f64>; 2] {
        let captured = u64::from(launch.captured);
        let is_large = |step: &Prompted| captured > 0 && step.tokens > captured;
        [(false, launch.prefill), (true, launch.large)].map(|(large, time)| {
            let these = self.prompts.iter().filter(|step| is_large(step) == large);
            let longer = |step: &Prompted| {
                1e3 * (time + launch.sequence * step.sequences) / step.time_ms - 1.0
            };
            let mut all: Vec<f64> = these.map(longer).collect();
            by_rank(&mut all, 1.0 - SHORTEST).filter(|_| all.len() >= PROMPTS)
        })
    }

    /// Takes over what steps show.
    fn look(&mut self, steps: &[&LevelSteps]) {
        let planned = |planning: Planning| {
            let ahead = steps.iter().filter_map(|level| level.ahead);
            ahead.filter(|ahead| ahead.planning == planning).map(|ahead| ahead.count).sum::<usize>()
        };
        // Where work takes longer than launches, steps that are planned ahead look as if they were not.
        let (ahead, in_time) = (planned(Planning::OneAhead), planned(Planning::InTime));
        self.steps_ahead = (ahead > 4 * in_time).then_some(1);
        let with =
            |wanted: PrefillSteps| steps.iter().filter(|level| level.prefills == wanted).count();
        // Where launches delay what was produced before, separate steps look mixed.
        let (mixed, alone) = (with(PrefillSteps::Mixed), with(PrefillSteps::Separate));
        self.policy = (alone > 0 && mixed == 0).then_some(Policy::PrefillFirst);
        self.noise = steps
            .iter()
            .filter_map(|level| noise(level))
            .reduce(f64::min)
            .unwrap_or(0.0)
            .min(LOUDEST);
        self.look_at_front_end(steps);
        let Some(costs) = step_costs(steps) else { return };
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
            let (KnownCosts::Yes | KnownCosts::MayBeZero, Some(error)) = (known, error) else {
                continue;
            };
            let like = |other: &Coefficient| {
                other.error.is_some() && other.known == KnownCosts::Like(term)
            };
            let shared = match term {
                Term::Sequence | Term::Context | Term::Attention => SHARED,
                _ => 1.0,
            };
            let alike = if costs.coefficients.iter().any(like) { ALIKE } else { 1.0 };
            let mut error = (alike * shared * error).max(FINEST * value);
            if term == Term::Launch {
                // Launches differ with what else the processor does; a few alone say little.
                error = error.max(value * LAUNCHES / (isolated.max(1) as f64).sqrt());
            }
            if error > 0.0 {
                let guess = Guess { value: per_second * value, error: per_second * error };
                self.seen.insert(parameter, guess);
            }
        }
    }

    /// The time of a chunk, by the order within steps.
    fn look_at_front_end(&mut self, steps: &[&LevelSteps]) {
        let seen = || steps.iter().filter_map(|level| level.front_end);
        let many = seen().filter(|of| of.tokens >= MANY).map(|of| 1e6 * of.chunk);
        let mut chunks: Vec<f64> = many.collect();
        if chunks.is_empty() {
            chunks = seen().map(|of| 1e6 * of.chunk).collect();
        }
        if let Some(value) = upper_median(&mut chunks) {
            let most = chunks.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = chunks.iter().copied().fold(f64::INFINITY, f64::min);
            let spread = 0.5 * (most - least);
            let error = (CHUNK.0 * value + CHUNK.1).max(0.5 * spread);
            self.seen.insert(Parameter::FrontChunk, Guess { value, error });
        }
    }

    /// What steps show of a parameter.
    pub(super) fn seen(&self, parameter: Parameter) -> Option<Guess> {
        self.seen.get(&parameter).copied()
    }

    /// The first value of a parameter.
    pub(super) fn value(&self, parameter: Parameter) -> f64 {
        if let Some(seen) = self.seen(parameter) {
            return seen.value.max(0.3 * seen.error);
        }
        let prefill_us = 1e3 * 0.5 * self.first_ms / self.input;
        match parameter {
            Parameter::Base => 0.97 * self.step_ms,
            Parameter::Decode => 3.0 * self.step_ms,
            Parameter::PrefillToken => prefill_us,
            // One in six times the width of a model, and the bytes of a token over those of weights.
            Parameter::Attention => 2e-5 * 1e3 * prefill_us,
            Parameter::Kv => 2.3e-6 * 1e6 * self.step_ms,
            Parameter::FrontEnd | Parameter::FrontRequest => 0.05 * self.first_ms,
            Parameter::FrontInput => 0.1,
            Parameter::FrontChunk => 50.0,
            // Rather too long: where it is shorter than the work, nothing shows how long it is.
            Parameter::LaunchPrefill => 0.8 * self.first_ms,
            Parameter::LaunchLarge => 0.9 * self.first_ms,
            Parameter::LaunchSequence => 20.0,
            _ => 1.0,
        }
    }

    /// The value of a parameter that would make up all of the time that it is part of: of a step with some
    /// sequences, or to the first token.
    pub(super) fn scale(&self, parameter: Parameter) -> f64 {
        const SEQUENCES: f64 = 32.0;
        let sequence_us = 1e3 * self.step_ms / SEQUENCES;
        let token_us = 1e3 * self.first_ms / self.input;
        let scale = match parameter {
            Parameter::Base => self.step_ms,
            Parameter::Decode | Parameter::FrontChunk => sequence_us,
            Parameter::Kv => 1e3 * sequence_us / self.input,
            Parameter::PrefillToken | Parameter::FrontInput => token_us,
            Parameter::Attention => 1e3 * token_us / self.input,
            Parameter::LaunchSequence => 1e3 * self.first_ms / SEQUENCES,
            _ => self.first_ms,
        };
        scale.max(1e-9)
    }
}

/// Milliseconds of a step; responses of one token only show a step that prefills.
fn step_ms(figures: &Figures) -> f64 {
    let between = figures.get(Quantity::ItlP50);
    if between.is_finite() { between } else { 0.5 * figures.get(Quantity::TtftMean) }
}

/// How much the time of steps varies that only decode, from one to the next.
fn noise(level: &LevelSteps) -> Option<f64> {
    let quiet = level.steps.windows(3).filter(|of| of.iter().all(|step| step.first_tokens == 0));
    let change = quiet.filter_map(|of| Some((of[2].time_us? / of[1].time_us?).ln().abs()));
    let mut changes: Vec<f64> = change.filter(|change| change.is_finite()).collect();
    if changes.len() < PAIRS {
        return None;
    }
    // The median of sizes to the standard deviation, of one instead of the difference of two.
    Some(1.4826 * upper_median(&mut changes)? / std::f64::consts::SQRT_2)
}

/// The steps with a prompt after one without. A launch ahead may delay the output of the step before: what that took
/// longer than a step without prompts is part of it.
fn with_a_prompt(level: &LevelSteps) -> Vec<Prompted> {
    let alone = level.steps.iter().filter(|step| step.first_tokens == 0);
    let Some(decode) =
        upper_median(&mut alone.filter_map(|step| step.time_us).collect::<Vec<f64>>())
    else {
        return Vec::new();
    };
    let pairs = level.steps.windows(2).filter(|pair| pair[0].first_tokens == 0);
    let steps = pairs.filter(|pair| pair[1].first_tokens > 0).filter_map(|pair| {
        let [before, step] = pair else { return None };
        let time_us = step.time_us? + (before.time_us? - decode).max(0.0);
        Some(Prompted {
            tokens: u64::from(step.decodes) + step.prefill_tokens,
            sequences: f64::from(step.decodes + step.first_tokens),
            time_ms: 1e-3 * time_us,
        })
    });
    steps.filter(|step| step.time_ms > 0.0).collect()
}

/// The most sequences of a step, if most steps of a level have as many and more were in flight.
fn full_batch(level: &LevelSteps) -> Option<u32> {
    let most = level.steps.iter().map(|step| step.decodes).max()?;
    let enough = (FULL.1 * f64::from(most)).floor() as u32;
    let full = level.steps.iter().filter(|step| step.decodes >= enough).count();
    let is_full = full as f64 > FULL.0 * level.steps.len() as f64;
    (is_full && f64::from(level.most_in_flight) > MORE * f64::from(most)).then_some(most)
}
