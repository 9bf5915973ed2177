//! Compares the metrics of a level with SLOs and conditions. The decision about a single value is in
//! `decide.rs`.

use crate::decide::{KnownShare, Open, Sampled, decide};
use dyno_model::load::LoadKind;
use dyno_model::slo::{Condition, Metric, Slo, Statistic, Term};
use dyno_model::summary::{Distribution, LevelSummary, SloVerdict, Summary, TermVerdict, tidy};
use dyno_model::{Decision, Diagnostic, Severity, Verdict};
use dyno_search::Margin;
use dyno_stats::{PERCENTILES, Percentile};
use dyno_words::columns::number;
use dyno_words::{Undecided, severity, values};

/// A value of a level in the metric's unit: milliseconds, percent, or per second. Rates are those of
/// the steady window, where there is one. Times without a statistic have no value.
pub fn value(level: &LevelSummary, metric: Metric, statistic: Option<Statistic>) -> Option<f64> {
    let work = level.steady_throughput();
    match metric {
        Metric::RequestRate | Metric::OutputRate | Metric::InputRate | Metric::InputTokenRate => {
            work.rate(metric).or(level.throughput.rate(metric))
        }
        Metric::Time(_) => metric.distribution(level)?.get(statistic?),
        _ => tidy(metric.value(level)?),
    }
}

/// The percentile of a statistic; nothing for the mean.
pub(crate) fn percentile(statistic: Statistic) -> Option<Percentile> {
    let name = statistic.name().replace('.', "_");
    PERCENTILES.into_iter().find(|percentile| percentile.name == name)
}

/// The samples of a term's percentile; nothing where it does not bound one, or the level has no
/// samples.
fn sampled(level: &LevelSummary, term: &Term) -> Option<Sampled> {
    let percentile = percentile(term.statistic?)?;
    let distribution = term.metric.distribution(level)?;
    let count = distribution.count?;
    Some(Sampled {
        share: percentile.share(),
        count,
        needed: percentile.needed(),
        beyond: beyond(distribution, count, term),
        largest: distribution.max,
    })
}

/// How many samples break a bound, at least and at most, derived from the known percentiles: each lies
/// between two neighbouring samples.
fn beyond(distribution: &Distribution, count: u64, term: &Term) -> [u64; 2] {
    let last = count.saturating_sub(1);
    let (mut fewest, mut most) = (0, count);
    let mut learn = |value: f64, below: u64, above: u64| match term.holds(value) {
        true => most = most.min(last.saturating_sub(below)),
        false => fewest = fewest.max(count - above.min(last)),
    };
    let known = Statistic::ALL
        .iter()
        .filter_map(|statistic| percentile(*statistic).zip(distribution.get(*statistic)));
    for (percentile, value) in known {
        let place = last as f64 * percentile.share();
        learn(value, place.floor() as u64, place.ceil() as u64);
    }
    if let Some(min) = distribution.min {
        learn(min, 0, 0);
    }
    if let Some(max) = distribution.max {
        learn(max, last, last);
    }
    [fewest.min(most), most]
}

/// Whether a term's percentile has too few samples to be decided by itself.
fn few_samples(level: &LevelSummary, term: &Term) -> bool {
    sampled(level, term).is_some_and(|sampled| sampled.count < sampled.needed)
}

/// Reasons for an invalid level that concern only the accuracy of its times, or that there are none. If there are no
/// others, values far from their bounds are still on a known side, and failures are known.
const READ_BADLY: [&str; 5] =
    ["instrument_range", "send_lag", "read_lag", "engine_slip", "nothing_completed"];
/// The factor by which a value of such a level may be off where it has no instrument range.
const BADLY: f64 = 2.0;

/// Whether a level says nothing about the server, for example because records are missing.
fn meaningless(level: &LevelSummary) -> bool {
    let invalid = level.verdict == Verdict::Invalid;
    let mut errors =
        level.reasons.iter().filter(|reason| severity(reason) == Some(Severity::Error));
    invalid && !errors.all(|reason| READ_BADLY.contains(&reason.code.as_str()))
}

/// The range that contains the true value of a term.
fn range(level: &LevelSummary, term: &Term, value: Option<f64>) -> Option<[f64; 2]> {
    let known = level.instrument_range(term.metric, term.statistic);
    // Some statistics have a range only where they are not exact.
    let measured = term.metric.distribution(level).is_some_and(|of| of.instrument.is_some());
    if known.is_some() || measured {
        return known;
    }
    let value = value.filter(|_| level.verdict == Verdict::Invalid)?;
    Some([value / BADLY, value * BADLY])
}

/// Whether a level meets one term of an SLO.
pub fn judge_term(level: &LevelSummary, term: &Term) -> TermVerdict {
    let value = value(level, term.metric, term.statistic);
    let sampled = sampled(level, term);
    // Where the percentile itself is not shown, the largest sample may be off by the same.
    let read = value.or(sampled.and_then(|sampled| sampled.largest));
    let known = KnownShare { value, sampled, range: range(level, term, read) };
    let decided = decide(&known, |value| term.holds(value));
    let (outcome, why) = match decided {
        _ if meaningless(level) => (Decision::Inconclusive, Some(Undecided::LevelInvalid.into())),
        Ok(met) => (Decision::of(met), None),
        Err(open) => (Decision::Inconclusive, Some(undecided(level, term, &known, open))),
    };
    TermVerdict {
        term: term.to_string(),
        value,
        bound: term.limit(),
        unit: term.metric.unit().name().to_owned(),
        outcome,
        met: outcome.known(),
        few_samples: few_samples(level, term),
        uncertain: level.is_uncertain(term.metric, term.statistic),
        why: why.map(Box::new),
    }
}

/// Why a term is inconclusive, and what would decide it.
fn undecided(level: &LevelSummary, term: &Term, known: &KnownShare, open: Open) -> Diagnostic {
    match open {
        Open::NoFigure => Undecided::NoSuchFigure.with([term.figure()]),
        Open::FewSamples { more } => {
            let samples = known.sampled.map_or(0, |sampled| sampled.count);
            let requests = requests_for(level, samples, more);
            Undecided::TooFewSamples.with(values![term.figure(), samples, requests])
        }
        Open::InRange(_) if level.instrument_range(term.metric, term.statistic).is_none() => {
            Undecided::NearInInvalid.with(values![term.figure(), BADLY])
        }
        Open::InRange(ends) => {
            let [low, high] = ends.map(number);
            let unit = term.metric.unit().name();
            Undecided::BoundInRange.with(values![term.figure(), low, high, unit])
        }
    }
}

/// About how many requests give so many more samples; each gives many samples of ITL.
fn requests_for(level: &LevelSummary, samples: u64, more: u64) -> u64 {
    let each = match level.requests.completed {
        Some(completed) if completed > 0 => (samples as f64 / completed as f64).max(1.0),
        _ => 1.0,
    };
    (more as f64 / each).ceil() as u64
}

/// Whether a level meets an SLO.
pub fn judge(level: &LevelSummary, slo: &Slo) -> SloVerdict {
    SloVerdict::of(slo.terms().iter().map(|term| judge_term(level, term)).collect())
}

/// The factor by which a level has to be longer so that terms with too few samples can be decided;
/// nothing where something else is missing.
pub(crate) fn longer_by(level: &LevelSummary, slo: &Slo) -> Option<f64> {
    let of = |term: &Term| {
        let value = value(level, term.metric, term.statistic);
        let sampled = sampled(level, term)?;
        let known = KnownShare { value, sampled: Some(sampled), range: None };
        match decide(&known, |value| term.holds(value)) {
            Err(Open::FewSamples { more }) => Some(1.0 + more as f64 / sampled.count as f64),
            _ => None,
        }
    };
    slo.terms().iter().filter_map(of).max_by(f64::total_cmp)
}

/// How many requests a level needs so that no percentile of the SLO has too few samples. A
/// request counts as one sample, which is conservative for ITL, of which it gives many.
pub fn requests_needed(slo: &Slo) -> u64 {
    let needed = |term: &Term| percentile(term.statistic?).map(Percentile::needed);
    slo.terms().iter().filter_map(needed).max().unwrap_or(1)
}

/// Whether a stop condition is met. An absent value meets none.
pub fn met(level: &LevelSummary, condition: &Condition) -> bool {
    match condition {
        Condition::Above(term) => {
            let range = level
                .instrument_range(term.metric, term.statistic)
                .filter(|_| level.is_inconclusive(term.metric, term.statistic));
            let sure = range.is_none_or(|ends| ends.into_iter().all(|end| term.holds(end)));
            sure && value(level, term.metric, term.statistic).is_some_and(|value| term.holds(value))
        }
        Condition::Saturated => saturated(level),
    }
}

/// Whether more is offered than the server's capacity: at a fixed rate, by the saturation test, or
/// because a prediction knows that the rate is past capacity. Other loads cannot show it: a closed
/// loop offers no more than is served, and the load of a trace varies by itself.
fn saturated(level: &LevelSummary) -> bool {
    let past = level.reasons.iter().any(|reason| reason.code == "past_capacity");
    past || level.saturated == Some(true)
}

/// Of other tools' levels at a fixed rate, those are overloaded that completed less than this share of
/// the offered rate: these tools report no saturation. Some of what is missing is the time in which the
/// last responses came.
const KEPT_UP: f64 = 0.8;

/// The share of the offered rate that another tool's level completed; absent for other loads.
pub(crate) fn completed_share(level: &LevelSummary) -> Option<f64> {
    let offered = level.load.of(LoadKind::Rate).filter(|rate| *rate > 0.0)?;
    Some(level.throughput.requests_per_s? / offered)
}

/// Whether the server could not keep up with a level of a run: it is saturated, or another tool's level
/// that completed far less than was offered.
pub(crate) fn overloaded(run: &Summary, level: &LevelSummary) -> bool {
    let behind = || completed_share(level).is_some_and(|share| share < KEPT_UP);
    saturated(level) || run.run.origin.is_some() && behind()
}

/// How far a level is from its SLO, by the term that is nearest to failing or fails by most; absent
/// where a term cannot be decided.
pub(crate) fn margin(level: &LevelSummary, slo: &Slo) -> Option<Margin> {
    let of = |term: &Term| {
        let value = value(level, term.metric, term.statistic)?;
        if few_samples(level, term) || level.is_inconclusive(term.metric, term.statistic) {
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

/// The 95 % interval of a term's value, where there is one.
fn interval(level: &LevelSummary, term: &Term) -> Option<[f64; 2]> {
    term.metric.distribution(level)?.interval(term.statistic?)
}
