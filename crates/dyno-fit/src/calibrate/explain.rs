//! Which change of a twin would explain that a server differs from it.

use super::evidence::{EvidenceLevel, misfit};
use crate::model::Model;
use crate::trial::most_in_flight;

/// The factors by which a part of the model is changed, at first.
const FACTORS: [f64; 14] =
    [0.4, 0.5, 0.6, 0.7, 0.8, 0.88, 0.95, 1.06, 1.14, 1.25, 1.45, 1.7, 2.1, 2.8];
/// How often the best one is refined; each time the distance to its neighbours is halved.
const REFINED: usize = 5;
/// How far the neighbours of the best one are at first, as a logarithm.
const APART: f64 = 0.06;
/// An explanation has to remove this share of the misfit.
const EXPLAINS: f64 = 0.5;
/// Usual limits of a batch.
const CAPS: [u32; 11] = [8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024];

/// A part of a system that may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainedPart {
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
    pub part: ExplainedPart,
    /// By which factor its time is longer; for [`ExplainedPart::MaxSeqs`], the number of sequences.
    pub value: f64,
    /// The share of the misfit that it removes.
    pub removes: f64,
}

/// What would explain the levels, each change alone.
pub(super) fn explanations(model: &Model, levels: &[EvidenceLevel]) -> Vec<Explanation> {
    let now = misfit(model, levels);
    let parts = [
        ExplainedPart::Accelerator,
        ExplainedPart::Prefill,
        ExplainedPart::Decode,
        ExplainedPart::Launch,
        ExplainedPart::FrontEnd,
    ];
    let parts = parts.into_iter().filter(|part| scaled(model, *part, 2.0) != *model);
    let scaled = parts.map(|part| (part, factor(model, part, levels)));
    let capped = cap(model, levels).map(|found| (ExplainedPart::MaxSeqs, found));
    let mut all: Vec<Explanation> = scaled
        .chain(capped)
        .map(|(part, (value, left))| Explanation { part, value, removes: 1.0 - left / now })
        .filter(|explanation| explanation.removes >= EXPLAINS)
        .collect();
    all.sort_by(|a, b| b.removes.total_cmp(&a.removes));
    all
}

/// The factor of a part that comes closest, to two digits, and what it leaves.
fn factor(model: &Model, part: ExplainedPart, levels: &[EvidenceLevel]) -> (f64, f64) {
    let left = |factor: f64| (factor, misfit(&scaled(model, part, factor), levels));
    let better = |a: (f64, f64), b: (f64, f64)| if b.1 < a.1 { b } else { a };
    let mut best = FACTORS.into_iter().map(left).fold((1.0, f64::INFINITY), better);
    let mut apart = APART;
    for _ in 0..REFINED {
        let around = [-apart, apart].map(|by| left(best.0 * by.exp()));
        best = around.into_iter().fold(best, better);
        apart *= 0.5;
    }
    ((100.0 * best.0).round() / 100.0, best.1)
}

/// The limit of a batch that comes closest, and what it leaves.
fn cap(model: &Model, levels: &[EvidenceLevel]) -> Option<(f64, f64)> {
    let now = model.scheduler.max_seqs;
    let at_once = levels.iter().map(|level| most_in_flight(&level.trial)).max()?;
    let reached = now.min(at_once);
    let shares = FACTORS.into_iter().filter(|share| *share < 1.0);
    let shares = shares.map(|share| (share * f64::from(reached)).round() as u32);
    let tried = shares.chain(CAPS).filter(|cap| *cap > 0 && *cap != now);
    let left = |cap: u32| {
        let mut other = *model;
        other.scheduler.max_seqs = cap;
        (f64::from(cap), misfit(&other, levels))
    };
    tried.map(left).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The model with one part slower by a factor.
fn scaled(model: &Model, part: ExplainedPart, factor: f64) -> Model {
    let mut model = *model;
    let cost = &mut model.cost;
    if matches!(part, ExplainedPart::Accelerator | ExplainedPart::Decode) {
        slower([&mut cost.base, &mut cost.decode, &mut cost.kv], factor);
        if let Some(knee) = &mut cost.knee {
            slower([&mut knee.decode, &mut knee.jump], factor);
        }
        if let Some(rise) = &mut cost.rise {
            slower([&mut rise.time], factor);
        }
    }
    if matches!(part, ExplainedPart::Accelerator | ExplainedPart::Prefill) {
        slower([&mut cost.prefill_token, &mut cost.attention, &mut cost.prefill_base], factor);
    }
    if part == ExplainedPart::Launch {
        let launch = &mut cost.launch;
        let times =
            [&mut launch.decode, &mut launch.prefill, &mut launch.large, &mut launch.sequence];
        slower(times, factor);
    }
    if part == ExplainedPart::FrontEnd {
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
