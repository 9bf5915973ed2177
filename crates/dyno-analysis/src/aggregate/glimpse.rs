//! A running level: its metrics so far, by the definitions and rules of the summary. The metrics of a
//! running level are approximate, so that they are cheap; those of a finished level are exact.

use super::figures::figures;
use super::gather::Span;
use super::instrument::bounds;
use super::judge::too_many_failures;
use super::timeline::for_each_gap;
use super::tokens::TokenSum;
use super::trust;
use crate::counts::Counts;
use dyno_model::Diagnostic;
use dyno_model::lag::LagHistogram;
use dyno_model::metric::{PerTime, Time};
use dyno_model::record::RequestRecord;
use dyno_model::units::to_s;
use dyno_stats::{Counted, PERCENTILES, Percentile, Presence, Tally};
use dyno_words::Finding;

/// Collects the requests of one level as they end.
#[derive(Debug, Clone, Default)]
pub struct Glimpse {
    counts: Counts,
    span: Span,
    output: TokenSum,
    ttft: Samples,
    tpot: Samples,
    /// The least and the most that the sum of all TTFTs may have been, and the sum.
    first_token: [u128; 3],
    itl: Tally,
    rough_itl: LagHistogram,
}

/// The metrics of a level so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Glimpsed {
    /// The outcomes of the measured requests; `planned` is how many have ended.
    pub counts: Counts,
    /// Completed requests per second.
    pub requests_per_s: Option<f64>,
    /// Output tokens of completed requests per second.
    pub output_tokens_per_s: Option<f64>,
    /// TTFT, ITL and TPOT, in milliseconds; the other times are not watched.
    pub times: PerTime<Spread>,
    /// Reasons to doubt the level, as far as known before the summary.
    pub findings: Vec<Diagnostic>,
}

/// Two percentiles; either may be absent for lack of samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Fewer than ten samples lie beyond `p99`.
    pub p99_marked: bool,
}

/// Exact and approximate samples.
#[derive(Debug, Clone, Default)]
struct Samples {
    exact: Vec<u64>,
    rough: LagHistogram,
}

impl Samples {
    fn extend(&mut self, value: Option<u64>) {
        self.exact.extend(value);
        value.into_iter().for_each(|value| self.rough.record(value));
    }

    fn spread(&self, exact: bool) -> Spread {
        if exact {
            spread_of(&Counted::from_samples(self.exact.clone()))
        } else {
            rough(&self.rough)
        }
    }
}

impl Spread {
    fn new(count: u64, quantile: impl Fn(f64) -> Option<f64>) -> Self {
        let [p50, p99] = ["p50", "p99"].map(|name| {
            let percentile = PERCENTILES.iter().find(|percentile| percentile.name == name);
            percentile.map(|p: &Percentile| (p.presence(count), quantile(p.share())))
        });
        let shown = |found: Option<(Presence, Option<f64>)>| {
            found.filter(|(presence, _)| *presence != Presence::Absent).and_then(|(_, value)| value)
        };
        let p99_marked = p99.is_some_and(|(presence, _)| presence == Presence::Marked);
        Self { p50: shown(p50), p99: shown(p99), p99_marked }
    }
}

fn spread_of(counted: &Counted) -> Spread {
    Spread::new(counted.count(), |q| counted.quantile(q).map(|ns| ns / 1e6))
}

/// Percentiles, accurate to about a sixteenth.
pub fn rough(histogram: &LagHistogram) -> Spread {
    Spread::new(histogram.count(), |q| histogram.quantile(q).map(|ns| ns as f64 / 1e6))
}

/// The times between the tokens of a completed request, where they are known: nanoseconds, and
/// for how many tokens.
pub fn for_each_itl(record: &RequestRecord, mut each: impl FnMut(u64, u64)) {
    if record.is_completed() {
        for_each_gap(record, |gap| {
            if let Some((time, tokens)) = gap.per_token() {
                each(time, tokens);
            }
        });
    }
}

/// Time to first token of a completed, streamed request, in nanoseconds.
pub fn ttft(record: &RequestRecord) -> Option<u64> {
    figures(record)[Time::Ttft]
}

impl Glimpse {
    /// A request has ended.
    pub fn add(&mut self, record: &RequestRecord) {
        if !record.phase.is_measured() {
            return;
        }
        self.counts.planned += 1;
        self.counts.add(record);
        self.span.add(record);
        if !record.is_completed() {
            return;
        }
        let found = figures(record);
        self.ttft.extend(found[Time::Ttft]);
        self.tpot.extend(found[Time::Tpot]);
        if let Some([low, high]) = bounds(record).and_then(|bounds| bounds[Time::Ttft]) {
            let printed = found[Time::Ttft].unwrap_or(high);
            [low, high, printed].into_iter().zip(&mut self.first_token).for_each(|(time, sum)| {
                *sum += u128::from(time);
            });
        }
        self.output.add(record.output);
        for_each_itl(record, |time, tokens| {
            self.itl.add(time, tokens);
            (0..tokens).for_each(|_| self.rough_itl.record(time));
        });
    }

    /// The metrics so far; percentiles are accurate to about a sixteenth.
    pub fn so_far(&self, allow_failures: f64) -> Glimpsed {
        self.look(allow_failures, false)
    }

    /// The metrics of a finished level.
    pub fn settled(&self, allow_failures: f64) -> Glimpsed {
        self.look(allow_failures, true)
    }

    /// Whether the client cannot even measure the mean TTFT precisely.
    fn uncertain(&self) -> Option<Diagnostic> {
        let count = self.ttft.exact.len().max(1) as f64;
        let [low, high, mean] = self.first_token.map(|sum| sum as f64 / count / 1e6);
        trust::mean_ttft(mean, [low, high])
    }

    fn look(&self, allow_failures: f64, exact: bool) -> Glimpsed {
        let duration = self.span.duration().filter(|_| self.counts.completed > 0);
        let per_s = |n: u64| duration.map(|ns| n as f64 / to_s(ns));
        let times = PerTime::new(|time| match time {
            Time::Ttft => self.ttft.spread(exact),
            Time::Tpot => self.tpot.spread(exact),
            Time::Itl if exact => spread_of(&self.itl.clone().freeze()),
            Time::Itl => rough(&self.rough_itl),
            _ => Spread::default(),
        });
        let counts = Counts { planned: 0, ..self.counts.clone() };
        // That nothing completed can only be known when the level is over.
        let nothing = exact && self.counts.planned > 0 && counts.completed == 0;
        let findings = [
            self.uncertain(),
            nothing.then(|| Finding::NothingCompleted.into()),
            too_many_failures(&counts, allow_failures),
        ];
        Glimpsed {
            counts: self.counts.clone(),
            requests_per_s: per_s(self.counts.completed),
            output_tokens_per_s: self.output.total().and_then(per_s),
            times,
            findings: findings.into_iter().flatten().collect(),
        }
    }
}
