//! Rounds of the same level, side by side.

use dyno_model::Verdict;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, LevelSummary, Repeated, Spread, round6};

/// The levels that were run more than once, in the order of their first round.
pub(super) fn repeats(levels: &[LevelSummary]) -> Vec<Repeated> {
    let mut names: Vec<String> = Vec::new();
    for name in levels.iter().filter_map(name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| repeated(name, levels)).collect()
}

/// The label of a level without its round.
fn name(level: &LevelSummary) -> Option<String> {
    level.repeat.map(|_| level.name().to_owned())
}

fn repeated(label: String, levels: &[LevelSummary]) -> Repeated {
    let is_round = |level: &&LevelSummary| {
        level.verdict != Verdict::Invalid && name(level).as_ref() == Some(&label)
    };
    let rounds: Vec<&LevelSummary> = levels.iter().filter(is_round).collect();
    let over = |figure: &dyn Fn(&LevelSummary) -> Option<f64>| {
        spread(rounds.iter().map(|level| figure(level)).collect::<Option<Vec<f64>>>()?)
    };
    let of = |distribution: &Option<Distribution>, figure: fn(&Distribution) -> Option<f64>| {
        distribution.as_ref().and_then(figure)
    };
    let steady = rounds.iter().all(|level| level.steady.is_some());
    let work = |level: &LevelSummary| match level.steady.filter(|_| steady) {
        Some(steady) => steady.throughput,
        None => level.throughput,
    };
    Repeated {
        rounds: rounds.len() as u64,
        requests_per_s: over(&|level| work(level).requests_per_s),
        output_tokens_per_s: over(&|level| work(level).output_tokens_per_s),
        inputs_per_s: over(&|level| work(level).inputs_per_s),
        ttft_p50_ms: over(&|level| of(&level.times[Time::Ttft], |d| d.p50)),
        ttft_p99_ms: over(&|level| of(&level.times[Time::Ttft], |d| d.p99)),
        itl_p50_ms: over(&|level| of(&level.times[Time::Itl], |d| d.p50)),
        latency_p50_ms: over(&|level| of(&level.times[Time::Latency], |d| d.p50)),
        latency_p99_ms: over(&|level| of(&level.times[Time::Latency], |d| d.p99)),
        label,
    }
}

/// Absent with fewer than two rounds.
fn spread(values: Vec<f64>) -> Option<Spread> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    Some(Spread {
        mean: round6(mean),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        deviation_percent: round6(100.0 * variance.sqrt() / mean.abs().max(f64::MIN_POSITIVE)),
    })
}
