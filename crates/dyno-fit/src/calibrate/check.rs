//! Whether a server is still what its twin says, and which change would explain it if it is not.

use super::evidence::{Evidence, Level, misfit, simulated};
use super::miss;
use crate::model::Model;
use crate::trial::{Quantity, Trial};
use dyno_engine::twin::Twin;
use std::collections::BTreeMap;

/// Differences below this share are no difference: runs repeat no better.
const SAME: f64 = 0.05;
/// The same for times to the first token and between tokens.
const SAME_TOKEN: f64 = 0.10;
/// The factors by which a part of the model is changed to explain a difference.
const FACTORS: [f64; 14] =
    [0.4, 0.5, 0.6, 0.7, 0.8, 0.88, 0.95, 1.06, 1.14, 1.25, 1.45, 1.7, 2.1, 2.8];
/// An explanation has to remove this share of the misfit.
const EXPLAINS: f64 = 0.5;

/// What is compared.
const COMPARED: [Quantity; 5] = [
    Quantity::Rate,
    Quantity::TtftP50,
    Quantity::ItlP50,
    Quantity::LatencyP50,
    Quantity::LatencyP90,
];

/// A twin against a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The levels, in order.
    pub levels: Vec<CheckedLevel>,
    /// Changes of the twin that would explain what differs, the best first.
    pub explanations: Vec<Explanation>,
}

impl Check {
    /// Whether no level differs.
    pub fn same(&self) -> bool {
        self.levels.iter().all(|level| level.differs.is_empty())
    }
}

/// A level of a run beside the twin.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedLevel {
    /// Its label.
    pub label: String,
    /// Measured and simulated values; the latter is absent if the twin cannot serve the level.
    pub figures: BTreeMap<Quantity, (f64, Option<f64>)>,
    /// The values that differ by more than runs and the twin's own errors do.
    pub differs: Vec<Quantity>,
}

/// A part of a system that may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All work of the accelerator: its clocks, or another accelerator.
    Accelerator,
    /// The work on prompts alone.
    Prefill,
    /// The work of decoding alone.
    Decode,
    /// The processor that launches steps.
    Launch,
    /// The front end: tokenizing, HTTP.
    FrontEnd,
    /// The most sequences in the batch.
    MaxSeqs,
}

/// A change that would explain a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Explanation {
    /// What changed.
    pub part: Part,
    /// By which factor its time is longer; for [`Part::MaxSeqs`], the number of sequences.
    pub value: f64,
    /// The share of the misfit that it removes.
    pub removes: f64,
}

/// Compares a twin with the levels of a run.
pub fn check(twin: &Twin, trials: &[Trial]) -> Check {
    let model = Model::of(twin);
    let evidence = Evidence::new(trials, &[]);
    let levels: Vec<CheckedLevel> =
        evidence.whole.iter().map(|level| checked(level, &model, twin)).collect();
    let same = levels.iter().all(|level| level.differs.is_empty());
    let explanations = if same { Vec::new() } else { explanations(&model, &evidence.brief) };
    Check { levels, explanations }
}

fn checked(level: &Level, model: &Model, twin: &Twin) -> CheckedLevel {
    let found = simulated(&level.trial, model);
    let figures = COMPARED.into_iter().map(|quantity| {
        let simulated = found.as_ref().map(|figures| figures.get(quantity));
        (quantity, (level.measured.get(quantity), simulated))
    });
    let differs = |quantity: &Quantity| match &found {
        None => true,
        Some(found) => miss(&level.measured, found, *quantity).abs() > tolerance(*quantity, twin),
    };
    CheckedLevel {
        label: level.trial.label.clone(),
        figures: figures.collect(),
        differs: COMPARED.into_iter().filter(differs).collect(),
    }
}

/// How far a figure may be from the twin's, as a logarithm.
fn tolerance(quantity: Quantity, twin: &Twin) -> f64 {
    let least = match quantity {
        Quantity::Rate | Quantity::LatencyMean | Quantity::LatencyP50 | Quantity::LatencyP90 => {
            SAME
        }
        _ => SAME_TOKEN,
    };
    let own = twin.accuracy.map_or(0.0, |accuracy| match quantity {
        Quantity::Rate => accuracy.rate,
        Quantity::LatencyMean | Quantity::LatencyP50 | Quantity::LatencyP90 => accuracy.latency,
        Quantity::TtftMean | Quantity::TtftP50 | Quantity::TtftP90 => accuracy.ttft,
        Quantity::ItlMean | Quantity::ItlP50 | Quantity::ItlP90 => accuracy.itl,
    });
    (1.0 + least.max(0.01 * own)).ln()
}

/// What would explain the levels, each change alone.
fn explanations(model: &Model, levels: &[Level]) -> Vec<Explanation> {
    let now = misfit(model, levels);
    let parts = [Part::Accelerator, Part::Prefill, Part::Decode, Part::Launch, Part::FrontEnd];
    let scaled = parts.into_iter().filter_map(|part| {
        let tried = FACTORS.map(|factor| (factor, misfit(&scaled(model, part, factor), levels)));
        Some((part, tried.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))?))
    });
    let caps = [8, 16, 32, 48, 64, 96, 128, 192, 256, 512].into_iter();
    let caps = caps.filter(|cap| *cap < model.scheduler.max_seqs).map(|cap| {
        let mut other = *model;
        other.scheduler.max_seqs = cap;
        (f64::from(cap), misfit(&other, levels))
    });
    let capped = caps.min_by(|a, b| a.1.total_cmp(&b.1)).map(|found| (Part::MaxSeqs, found));
    let mut all: Vec<Explanation> = scaled
        .chain(capped)
        .map(|(part, (value, left))| Explanation { part, value, removes: 1.0 - left / now })
        .filter(|explanation| explanation.removes >= EXPLAINS)
        .collect();
    all.sort_by(|a, b| b.removes.total_cmp(&a.removes));
    all
}

/// The model with one part slower by a factor.
fn scaled(model: &Model, part: Part, factor: f64) -> Model {
    let mut model = *model;
    let cost = &mut model.cost;
    if matches!(part, Part::Accelerator | Part::Decode) {
        slower([&mut cost.base, &mut cost.decode, &mut cost.kv], factor);
    }
    if matches!(part, Part::Accelerator | Part::Prefill) {
        slower([&mut cost.prefill_token, &mut cost.attention, &mut cost.prefill_base], factor);
    }
    if part == Part::Launch {
        let launch = &mut cost.launch;
        let times =
            [&mut launch.decode, &mut launch.prefill, &mut launch.large, &mut launch.sequence];
        slower(times, factor);
    }
    if part == Part::FrontEnd {
        let front = &mut cost.front;
        slower(
            [&mut cost.front_end, &mut front.request, &mut front.chunk, &mut front.input],
            factor,
        );
    }
    model
}

fn slower<const N: usize>(times: [&mut f64; N], factor: f64) {
    times.into_iter().for_each(|time| *time *= factor);
}
