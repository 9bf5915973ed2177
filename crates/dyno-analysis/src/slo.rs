//! SLOs and conditions against the figures of a level.

use dyno_model::slo::{Condition, Metric, Slo, Statistic, Term};
use dyno_model::summary::{LevelSummary, SloVerdict, TermVerdict, tidy};
use dyno_model::{Value, Verdict};
use dyno_search::Margin;
use dyno_stats::{PERCENTILES, Percentile, Presence};
use dyno_words::{Phrase, values};

/// A figure of a level in the metric's unit: milliseconds, percent, or per second. Work is that of
/// the steady window, where there is one. Times without a statistic have no figure.
pub fn value(level: &LevelSummary, metric: Metric, statistic: Option<Statistic>) -> Option<f64> {
    let steady = level.steady.map(|steady| steady.throughput);
    let work = steady.unwrap_or(level.throughput);
    match metric {
        Metric::RequestRate => work.requests_per_s.or(level.throughput.requests_per_s),
        Metric::OutputRate => work.output_tokens_per_s.or(level.throughput.output_tokens_per_s),
        Metric::Time(_) => metric.distribution(level)?.get(statistic?),
        _ => tidy(metric.value(level)?),
    }
}

/// The percentile that a statistic is; the mean is none.
fn percentile(statistic: Statistic) -> Option<Percentile> {
    let name = statistic.name().replace('.', "_");
    PERCENTILES.into_iter().find(|percentile| percentile.name == name)
}

/// What a term's percentile lacks of the samples that it needs, in words; nothing where the level
/// has no such figure at all.
pub(crate) fn few_samples(level: &LevelSummary, term: &Term) -> Option<Value> {
    let percentile = percentile(term.statistic?)?;
    let samples = term.metric.distribution(level)?.count?;
    let few = percentile.presence(samples) != Presence::Shown;
    let values = || values![term.figure(), samples, percentile.needed()];
    few.then(|| Phrase::SamplesOf.value(values()))
}

/// Whether a level keeps an SLO. A level that is invalid tells nothing of the server, so it
/// neither passes nor fails.
pub fn judge(level: &LevelSummary, slo: &Slo) -> SloVerdict {
    let terms: Vec<TermVerdict> = slo
        .terms()
        .iter()
        .map(|term| {
            let value = value(level, term.metric, term.statistic);
            TermVerdict {
                term: term.to_string(),
                value,
                bound: term.limit(),
                unit: term.metric.unit().name().to_owned(),
                met: value.map(|value| term.holds(value)),
                few_samples: few_samples(level, term).is_some(),
            }
        })
        .collect();
    let passed = match level.verdict {
        Verdict::Invalid => None,
        _ if terms.iter().any(|term| term.met == Some(false)) => Some(false),
        _ => terms.iter().all(|term| term.met.is_some()).then_some(true),
    };
    SloVerdict { passed, terms }
}

/// How many requests a level needs so that no percentile of the SLO has too few samples. A
/// request is taken for one sample: for ITL, of which it gives many, that is on the safe side.
pub fn requests_needed(slo: &Slo) -> u64 {
    let needed = |term: &Term| percentile(term.statistic?).map(Percentile::needed);
    slo.terms().iter().filter_map(needed).max().unwrap_or(1)
}

/// Whether a condition to stop is met. A figure that is absent meets none.
pub fn met(level: &LevelSummary, condition: &Condition) -> bool {
    match condition {
        Condition::Above(term) => {
            value(level, term.metric, term.statistic).is_some_and(|value| term.holds(value))
        }
        Condition::Saturated => saturated(level),
    }
}

/// More is offered than the server carries: at a fixed rate, by the test for it, or because a
/// prediction knows that the rate is past capacity. Other loads cannot show it: a closed loop
/// offers no more than is served, and a trace has busy hours of its own.
fn saturated(level: &LevelSummary) -> bool {
    let past = level.reasons.iter().any(|reason| reason.code == "past_capacity");
    past || level.saturated == Some(true)
}

/// How far a level is from its SLO, by the term that is nearest to failing or has failed by most;
/// absent where a term cannot be told.
pub(crate) fn margin(level: &LevelSummary, slo: &Slo) -> Option<Margin> {
    let of = |term: &Term| {
        let value = value(level, term.metric, term.statistic)?;
        if few_samples(level, term).is_some() {
            return None;
        }
        let margin = match term.metric.is_work() {
            true => Margin::floor(value, term.limit()),
            false => Margin::ceiling(value, term.limit()),
        };
        let error = interval(level, term).map(|[low, high]| (high / low).ln() / (2.0 * 1.96));
        match error.filter(|error| error.is_finite()) {
            Some(error) => margin.map(|margin| margin.with_error(error)),
            None => margin,
        }
    };
    let terms: Option<Vec<Margin>> = slo.terms().iter().map(of).collect();
    Margin::binding(terms?)
}

/// The 95 % interval of a term's figure, where there is one.
fn interval(level: &LevelSummary, term: &Term) -> Option<[f64; 2]> {
    term.metric.distribution(level)?.interval(term.statistic?)
}
