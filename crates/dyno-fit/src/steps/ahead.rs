//! Whether the engine plans steps ahead: which gap before a first token is the long one.

use super::served::ServedStep;
use dyno_stats::upper_median;

/// Steps around a first token that must have no other.
const APART: usize = 4;
/// Steps before and after it in the pattern.
const SHOWN: usize = 3;
/// The fewest first tokens that are far enough from others.
const FEWEST: usize = 5;
/// The long gap must be this many times a step, or prompts are too short to tell.
const LONG: f64 = 1.3;
/// Share of the first tokens that must agree.
const AGREE: f64 = 0.7;

/// When the next step is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planning {
    /// When a step has ended: the step that prefills is long.
    InTime,
    /// While the step before runs: the output of that step waits until the next one has been
    /// launched, and the long gap comes before it.
    OneAhead,
    /// Gaps are too short, or of both kinds.
    Unclear,
}

/// The gaps around first tokens that are far from others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ahead {
    /// What they show.
    pub planning: Planning,
    /// How many first tokens there are.
    pub count: usize,
    /// Those whose long gap comes one step before.
    pub one_ahead: usize,
    /// Those whose long gap is that of their own step.
    pub in_time: usize,
    /// Median times of the steps from three before to three after, in seconds.
    pub pattern: [f64; 2 * SHOWN + 1],
    /// Where steps are planned ahead, the median of the long gaps: how long the launch of a step that
    /// prefills takes, in seconds.
    pub launch: Option<f64>,
    /// Median of all time beyond that of as many steps that only decode, in seconds.
    pub extra: f64,
}

/// The gaps around the isolated first tokens of a level.
pub(super) fn ahead(steps: &[ServedStep]) -> Option<Ahead> {
    let patterns: Vec<[f64; 2 * SHOWN + 1]> = steps
        .windows(2 * APART + 1)
        .filter(|around| around[APART].first_tokens == 1)
        .filter(|around| around.iter().map(|step| step.first_tokens).sum::<u32>() == 1)
        .filter_map(pattern)
        .collect();
    if patterns.len() < FEWEST {
        return None;
    }
    let middle = |of: &dyn Fn(&[f64; 2 * SHOWN + 1]) -> f64| {
        upper_median(&mut patterns.iter().map(of).collect::<Vec<f64>>())
    };
    let mut usual = [0.0; 2 * SHOWN + 1];
    for (place, value) in usual.iter_mut().enumerate() {
        *value = middle(&|pattern| pattern[place])?;
    }
    // Far enough from the prompt to know nothing of it.
    let step = 0.5 * (usual[0] + usual[2 * SHOWN]);
    let [before, own] = [SHOWN - 1, SHOWN];
    let one_ahead = patterns.iter().filter(|pattern| pattern[before] > pattern[own]).count();
    let (count, in_time) = (patterns.len(), patterns.len() - one_ahead);
    let agree = |these: usize| these as f64 >= AGREE * count as f64;
    let planning = match () {
        () if usual[before].max(usual[own]) < LONG * step => Planning::Unclear,
        () if agree(one_ahead) => Planning::OneAhead,
        () if agree(in_time) => Planning::InTime,
        () => Planning::Unclear,
    };
    let launch = (planning == Planning::OneAhead).then_some(usual[before]);
    let extra = middle(&|pattern| pattern.iter().map(|time| time - step).sum())?;
    Some(Ahead { planning, count, one_ahead, in_time, pattern: usual, launch, extra })
}

/// The times of the steps around the middle one; nothing if the engine was idle in between.
fn pattern(around: &[ServedStep]) -> Option<[f64; 2 * SHOWN + 1]> {
    let mut times = [0.0; 2 * SHOWN + 1];
    for (time, step) in times.iter_mut().zip(&around[APART - SHOWN..]) {
        *time = 1e-6 * step.time_us?;
    }
    Some(times)
}
