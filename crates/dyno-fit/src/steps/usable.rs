//! Whether the records of a level can show the engine's steps, before and after they are recovered.

use super::LevelRecords;
use super::front_end::FittedFrontEnd;
use super::offsets::Solved;
use super::refusal::Refusal;
use super::served::ServedStep;
use super::traffic;
use crate::trial::unknown_hits;
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_stats::upper_median;
use std::collections::BTreeSet;

/// The fewest requests with at least two tokens.
const FEWEST: usize = 8;
/// Share of the requests that may fail.
const FAILED: f64 = 0.01;
/// Share of the tokens that may come several to a chunk.
const TOGETHER: f64 = 0.25;
/// Share of the requests that may not fit the steps of the others.
const UNFIT: f64 = 0.05;

/// Arrivals in a step from which on a wide gap between them is no chance.
const ARRIVALS: u32 = 8;
/// The share of their spread that such a gap has.
const APART: f64 = 0.4;

/// What the records show without looking for steps.
pub(super) fn refusals(level: LevelRecords<'_>) -> Vec<Refusal> {
    let requests = level.requests;
    let mut refusals = Vec::new();
    let with_output: Vec<&RequestRecord> =
        requests.iter().filter(|request| !request.chunks.is_empty()).collect();
    let unknown = with_output.iter().filter(|request| !request.chunk_tokens_known).count();
    if unknown > 0 {
        refusals.push(Refusal::TokensUnknown { requests: unknown, of: with_output.len() });
    }
    let found = with_output.iter().filter(|request| request.chunks.tokens() >= 2).count();
    if found < FEWEST {
        refusals.push(Refusal::TooFewRequests { found, needed: FEWEST });
    }
    let failed = requests
        .iter()
        .filter(|of| matches!(of.outcome, Outcome::Failed(_) | Outcome::Unconfirmed))
        .count();
    if failed as f64 > FAILED * requests.len() as f64 {
        refusals.push(Refusal::Failed { requests: failed, of: requests.len() });
    }
    if unknown == 0
        && let Some(share) = together(&with_output).filter(|share| *share > TOGETHER)
    {
        refusals.push(Refusal::SeveralTokens { share });
    }
    let addresses: BTreeSet<u8> = requests.iter().filter_map(|request| request.address).collect();
    if addresses.len() > 1 {
        refusals.push(Refusal::SeveralAddresses { addresses: addresses.len() });
    }
    refusals.extend(cached_unknown(unknown_hits(requests, level.samples, level.shared)));
    refusals.extend(traffic::refusals(requests, level.samples));
    refusals
}

/// The refusal of so many prompts of which an unknown part was cached.
fn cached_unknown(requests: usize) -> Option<Refusal> {
    (requests > 0).then_some(Refusal::CachedUnknown { requests })
}

/// The share of all tokens that came with others in one chunk.
fn together(requests: &[&RequestRecord]) -> Option<f64> {
    let odd = requests.iter().flat_map(|request| request.chunks.odd());
    let together: u64 = odd.map(|(_, tokens)| u64::from(*tokens)).filter(|n| *n > 1).sum();
    let all: u64 = requests.iter().map(|request| request.chunks.tokens()).sum();
    (all > 0).then(|| together as f64 / all as f64)
}

/// What the recovered steps show: whether they can be steps at all.
pub(super) fn hidden(
    solved: &Solved,
    steps: &[ServedStep],
    front_end: Option<&FittedFrontEnd>,
) -> Option<Refusal> {
    let (requests, of) = solved.unfit();
    if requests as f64 > UNFIT * of as f64 {
        return Some(Refusal::NoCommonSteps { requests, of });
    }
    if let Some(gap) = typical_gap(steps).filter(|gap| *gap > APART) {
        return Some(Refusal::ArrivalsInGroups { gap });
    }
    let FittedFrontEnd { chunk, tokens, hides_from, .. } = *front_end?;
    let from = hides_from.filter(|from| tokens >= *from)?;
    Some(Refusal::FrontEndHidesSteps { chunk, tokens, from })
}

/// The widest gap in a typical step with enough arrivals, as a share of their spread.
fn typical_gap(steps: &[ServedStep]) -> Option<f64> {
    let telling = steps.iter().filter(|step| step.arrivals >= ARRIVALS && step.spread_us > 0.0);
    let mut gaps: Vec<f64> = telling.map(|step| step.gap_us / step.spread_us).collect();
    upper_median(&mut gaps)
}
