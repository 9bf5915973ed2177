//! A level while it runs: its metrics, findings, SLO and verdict so far, by the definitions and
//! rules of the summary. Everything here grows with the number of distinct values and not with the
//! number of requests, and a look costs a millisecond or so, because it takes CPU time from the
//! client that measures. What only the end of a level decides, such as its steady window, is not
//! judged here.

mod rounded;

use super::client::exact_lag;
use super::gather::{Gathered, Span};
use super::instrument::{Effective, Gaps, bounds};
use super::judge::{mixed_sources, put_in_order, too_many_failures, verdict};
use super::level::{past_capacity, throughput};
use super::overload;
use super::request_times::{for_each_gap_sample, request_times};
use super::slo::meets;
use super::timeline::for_each_gap;
use super::tokens::TokenSum;
use super::trust::{self, WorkBounds};
use crate::counts::Counts;
use crate::slo::judge;
use dyno_model::lag::DelayHistogram;
use dyno_model::metric::{PerTime, Time};
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::record::RequestRecord;
use dyno_model::slo::Slo;
use dyno_model::summary::{Distribution, LevelSummary, SloVerdict, Times};
use dyno_model::{Diagnostic, Verdict};
use dyno_stats::{Counted, PERCENTILES, Percentile, Presence, Tally};
use rounded::Rounded;

/// What a level is judged by.
#[derive(Debug, Clone, Default)]
pub struct LevelTerms {
    /// What the level does, where that is known.
    pub level: Option<Box<LevelPlan>>,
    /// It runs in virtual time.
    pub predicted: bool,
    /// Share of failed requests that is allowed.
    pub allow_failures: f64,
    /// The SLO of the run.
    pub slo: Option<Slo>,
}

/// Collects the requests of one level as they end.
#[derive(Debug, Clone, Default)]
pub struct RunningLevel {
    terms: LevelTerms,
    counts: Counts,
    span: Span,
    effective: Effective,
    /// When the level started: its first request was due then.
    started: Option<u64>,
    /// Completed requests whose records do not say how exact their times are.
    unmeasured: u64,
    input: TokenSum,
    output: TokenSum,
    /// Texts, where nothing is generated.
    inputs: u64,
    /// Requests carry such texts, whether they completed or not.
    embeds: bool,
    /// Times that a request has once.
    own: PerTime<Rounded>,
    /// Times between events, exact.
    gaps: PerTime<Tally>,
    loose: Gaps,
    /// TTFT and TPOT in full, for the level's last look.
    exact: [Vec<u64>; 2],
    /// Of a burst: send delays, and the latencies of completed requests.
    burst: [Vec<u64>; 2],
    /// Completed requests that met every term of the SLO, and that missed one.
    met: u64,
    missed: u64,
}

/// What is known of a level.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LevelSoFar {
    /// Outcomes of the measured requests; `planned` is how many have ended.
    pub counts: Counts,
    /// Completed requests per second.
    pub requests_per_s: Option<f64>,
    /// Output tokens of completed requests per second.
    pub output_tokens_per_s: Option<f64>,
    /// Texts of completed requests per second, where nothing is generated.
    pub inputs_per_s: Option<f64>,
    /// Texts are embedded or ranked, and nothing is generated.
    pub embeds: bool,
    /// TTFT, ITL and TPOT, in milliseconds, or the latency where nothing is streamed; other times are
    /// not shown.
    pub times: PerTime<LatencySpread>,
    /// What speaks against the level, as far as it can be known before the summary.
    pub findings: Vec<Diagnostic>,
    /// The verdict that follows from these findings; unjudged while no request has ended.
    pub verdict: Verdict,
    /// The SLO, where the run has one.
    pub slo: Option<SloSoFar>,
}

/// How a level stands against its SLO.
#[derive(Debug, Clone, PartialEq)]
pub struct SloSoFar {
    /// Whether the level meets it, term by term.
    pub verdict: SloVerdict,
    /// Completed requests that met every term on times.
    pub met: u64,
    /// Requests that missed one, or failed.
    pub missed: u64,
}

/// Two percentiles; either is absent where there are too few samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LatencySpread {
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Fewer than ten samples lie beyond `p99`.
    pub p99_marked: bool,
}

impl LevelSoFar {
    /// Responses come whole: they have a latency and no TTFT.
    pub fn is_unstreamed(&self) -> bool {
        self.times[Time::Ttft].p50.is_none() && self.times[Time::Latency].p50.is_some()
    }
}

impl LatencySpread {
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

    fn of(distribution: &Distribution) -> Self {
        let p99_marked = distribution.marked.iter().any(|name| name == "p99");
        Self { p50: distribution.p50, p99: distribution.p99, p99_marked }
    }
}

/// Percentiles to within about a sixteenth.
pub fn rough(histogram: &DelayHistogram) -> LatencySpread {
    LatencySpread::new(histogram.count(), |q| histogram.quantile(q).map(|ns| ns as f64 / 1e6))
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

/// From sending to the end of a completed request, in nanoseconds.
pub fn latency(record: &RequestRecord) -> Option<u64> {
    request_times(record)[Time::Latency]
}

/// Time to first token of a completed, streamed request, in nanoseconds.
pub fn ttft(record: &RequestRecord) -> Option<u64> {
    request_times(record)[Time::Ttft]
}

impl RunningLevel {
    /// A level that is judged by `terms`, of which nothing is known yet.
    pub fn new(terms: LevelTerms) -> Self {
        Self { terms, ..Self::default() }
    }

    /// The same, of a level whose first request was due at this time.
    pub(super) fn since(self, started: u64) -> Self {
        Self { started: Some(started), ..self }
    }

    /// Its load, where that is known.
    pub(super) fn load(&self) -> Option<Load> {
        self.terms.level.as_ref().map(|level| level.load)
    }

    /// Exact percentiles of TTFT, in milliseconds.
    pub(super) fn ttft(&self) -> LatencySpread {
        let counted = Counted::from_samples(self.exact[0].clone());
        LatencySpread::new(counted.count(), |q| counted.quantile(q).map(|ns| ns / 1e6))
    }

    /// A request has ended.
    pub fn add(&mut self, record: &RequestRecord) {
        let started = self.started.map_or(record.intended, |first| first.min(record.intended));
        self.started = Some(started);
        if !record.phase.is_measured() {
            return;
        }
        self.counts.planned += 1;
        self.embeds |= record.inputs.is_some();
        self.counts.add(record);
        self.span.add(record);
        if record.sent.is_some() {
            self.effective.add(record, started);
        }
        if record.is_completed() {
            self.complete(record);
        }
        if matches!(self.load(), Some(Load::Burst { .. })) {
            let [delays, latencies] = &mut self.burst;
            let delay = |dispatched: u64| dispatched.saturating_sub(record.sendable());
            delays.extend(record.dispatched.map(delay));
            latencies.extend(latency(record));
        }
    }

    fn complete(&mut self, record: &RequestRecord) {
        self.unmeasured += u64::from(record.widths.is_none());
        self.input.add(record.input);
        match record.inputs {
            Some(inputs) => self.inputs += u64::from(inputs),
            None => self.output.add(record.output),
        }
        let (found, bounds) = (request_times(record), bounds(record));
        for (time, samples) in self.own.iter_mut() {
            if let Some(value) = found[time] {
                samples.add(value, bounds.as_ref().and_then(|bounds| bounds[time]));
            }
        }
        let [ttft, tpot] = &mut self.exact;
        ttft.extend(found[Time::Ttft]);
        tpot.extend(found[Time::Tpot]);
        for_each_gap_sample(record, |gap| self.gaps[gap.time].add(gap.value, gap.times));
        self.loose.add(record);
        match self.terms.slo.as_ref().and_then(|slo| meets(slo, record)) {
            Some(true) => self.met += 1,
            Some(false) => self.missed += 1,
            None => {}
        }
    }

    /// The outcomes so far, without judging them.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What is known so far; times to within a thousandth.
    pub fn so_far(&self) -> LevelSoFar {
        self.look(false)
    }

    /// What is known of a level that is over.
    pub fn settled(&self) -> LevelSoFar {
        let mut found = self.look(true);
        for (time, samples) in [Time::Ttft, Time::Tpot].into_iter().zip(&self.exact) {
            // What is withheld, such as TTFT past a twin's capacity, stays withheld.
            if found.times[time] != LatencySpread::default() {
                let counted = Counted::from_samples(samples.clone());
                found.times[time] =
                    LatencySpread::new(counted.count(), |q| counted.quantile(q).map(|ns| ns / 1e6));
            }
        }
        found
    }

    fn look(&self, is_over: bool) -> LevelSoFar {
        let mut level = self.level();
        let mut findings = match &self.terms.level {
            Some(plan) => {
                let mut found = trust::findings(&level, plan.load);
                found.extend(past_capacity(plan));
                found
            }
            None => Vec::new(),
        };
        // Whether nothing completes can only be known when the level is over.
        if is_over && self.counts.planned > 0 && self.counts.completed == 0 {
            findings.push(overload::nothing_completed(&self.counts));
        }
        if let (Some(load), true) = (self.load(), is_over) {
            let [delays, latencies] = self.burst.clone();
            let latency = Counted::from_samples(latencies).quantile(0.5);
            findings.extend(trust::spread(load, exact_lag(delays), latency));
        }
        let counts = Counts { planned: 0, ..self.counts.clone() };
        findings.extend(too_many_failures(&counts, self.terms.allow_failures));
        findings.extend(overload::shed(&counts, self.terms.allow_failures));
        findings.extend(mixed_sources(&self.input, &self.output));
        put_in_order(&mut findings);
        level.verdict = match self.counts.planned {
            0 => Verdict::Unjudged,
            _ => verdict(&findings),
        };
        level.reasons = findings;
        let slo = self.terms.slo.as_ref().map(|slo| SloSoFar {
            verdict: judge(&level, slo),
            met: self.met,
            missed: self.missed + self.counts.bad(),
        });
        let unstreamed = self.embeds || self.exact[0].is_empty();
        let between = |time| matches!(time, Time::Ttft | Time::Itl | Time::Tpot);
        let shown = |time| between(time) || (time == Time::Latency && unstreamed);
        LevelSoFar {
            counts: self.counts.clone(),
            requests_per_s: level.throughput.requests_per_s,
            output_tokens_per_s: level.throughput.output_tokens_per_s,
            inputs_per_s: level.throughput.inputs_per_s,
            embeds: self.embeds,
            times: level.times.map(|time, found| {
                found
                    .filter(|_| shown(time))
                    .map_or(LatencySpread::default(), |found| LatencySpread::of(&found))
            }),
            findings: level.reasons,
            verdict: level.verdict,
            slo,
        }
    }

    /// The level as the summary would have it now, as far as rules look at it.
    pub(super) fn level(&self) -> LevelSummary {
        let gathered = Gathered {
            counts: self.counts.clone(),
            span: self.span,
            effective: self.effective,
            unmeasured: self.unmeasured,
            input: self.input.clone(),
            output: self.output.clone(),
            inputs: self.inputs,
            carried: (self.counts.planned, if self.embeds { self.counts.planned } else { 0 }),
            ..Gathered::default()
        };
        let work = WorkBounds { steady: None, whole: throughput(&gathered) };
        let plan = self.terms.level.as_deref();
        let instrument = plan
            .and_then(|plan| trust::instrument(plan.load, self.terms.predicted, &gathered, &work));
        let mut times = self.times();
        match instrument {
            Some(_) => trust::hold_the_printed(&mut times),
            None => times.iter_mut().filter_map(|(_, time)| time.as_mut()).for_each(|time| {
                time.instrument = None;
            }),
        }
        // The same times as in the summary: a ramp has no latency, nor has a rate past capacity.
        let ramp = plan.is_some_and(|plan| plan.load.ramp().is_some());
        let waits = !ramp && plan.and_then(past_capacity).is_none();
        LevelSummary {
            requests: self.counts.clone().into(),
            throughput: work.whole,
            times: times
                .map(|time, found| found.filter(|_| waits || !ramp && time.is_between_tokens())),
            instrument,
            ..LevelSummary::default()
        }
    }

    fn times(&self) -> Times {
        let mut loose = self.loose.clone();
        PerTime::new(|time| match time {
            Time::Itl | Time::ChunkGap => {
                let counted = self.gaps[time].clone().freeze();
                let instrument = loose.ranges(time, &counted);
                let found = super::distributions::describe(&counted)?;
                Some(Distribution { instrument, ..found })
            }
            _ => self.own[time].describe(),
        })
    }
}
