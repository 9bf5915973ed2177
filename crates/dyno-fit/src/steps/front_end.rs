//! The server's front end: it writes the chunks of a step one after another.

use super::served::ServedStep;
use dyno_stats::{by_rank, upper_median};

/// The fewest tokens of a step whose order says anything.
const TOKENS: u32 = 4;
/// The fewest such steps.
const STEPS: usize = 20;
/// Where the chunks of a step take this share of it, its end can be mistaken for that of another. Simulated
/// requests are placed right up to 0.8, but a real front end that is so busy sets the pace of what it
/// shows.
const HIDES: f64 = 0.7;

/// What the order of arrivals within steps shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedFrontEnd {
    /// Time for a chunk, in seconds.
    pub chunk: f64,
    /// The middle half of its values, over steps.
    pub quartiles: [f64; 2],
    /// Steps that it was taken from.
    pub steps: usize,
    /// Tokens of a typical one of them.
    pub tokens: u32,
    /// Tokens a step from which on the front end hides steps of this length; nothing if it takes no
    /// time.
    pub hides_from: Option<u32>,
}

/// The front end as steps that only decode show it. The median token of `n` comes `n / 2` chunks after
/// the earliest.
pub(super) fn front_end(steps: &[ServedStep]) -> Option<FittedFrontEnd> {
    let telling = |step: &&ServedStep| step.first_tokens == 0 && step.arrivals >= TOKENS;
    let telling: Vec<&ServedStep> = steps.iter().filter(telling).collect();
    if telling.len() < STEPS {
        return None;
    }
    let mut chunks: Vec<f64> =
        telling.iter().map(|step| 1e-6 * step.late_us / f64::from(step.arrivals / 2)).collect();
    let chunk = upper_median(&mut chunks)?;
    let quartiles = [by_rank(&mut chunks, 0.25)?, by_rank(&mut chunks, 0.75)?];
    let mut tokens: Vec<f64> = telling.iter().map(|step| f64::from(step.decodes)).collect();
    let tokens = upper_median(&mut tokens)? as u32;
    let mut times: Vec<f64> = telling.iter().filter_map(|step| step.time_us).collect();
    let step = 1e-6 * upper_median(&mut times)?;
    let hides_from = (chunk > 0.0).then(|| (HIDES * step / chunk).ceil().min(1e9) as u32);
    Some(FittedFrontEnd { chunk, quartiles, steps: telling.len(), tokens, hides_from })
}
