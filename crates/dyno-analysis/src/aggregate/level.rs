//! A level from the end of the first reading to its summary.

use super::cache;
use super::client::{client, exact_lag, slip};
use super::cold;
use super::cost::cost;
use super::distributions::Distributions;
use super::drift::{drifts, memory_growth};
use super::fleet::Fleet;
use super::gather::{Gathered, Taken};
use super::judge::{Case, put_in_order, records, verdict};
use super::longer::{blocks, no_interval, not_converged, too_few, too_short};
use super::overload;
use super::prediction;
use super::ramp_knee::bend;
use super::saturation;
use super::server::ServerWatch;
use super::server_findings;
use super::sessions::ByTurn;
use super::slices::Sliced;
use super::slo::Goodput;
use super::steady::{NoWindow, window};
use super::tokens::sources;
use super::trees;
use super::trust::{self, WorkBounds};
use super::waits;
use super::work::Work;
use dyno_model::environment::Environment;
use dyno_model::frame::Ending;
use dyno_model::metric::Time;
use dyno_model::plan::{LengthSpec, LevelPlan, Load, Plan};
use dyno_model::record::RequestRecord;
use dyno_model::slo::Slo;
use dyno_model::summary::{
    Concurrency, LevelSummary, LoadSummary, RequestCounts, Throughput, round6, tidy,
};
use dyno_model::units::to_s;
use dyno_model::{Diagnostic, DiagnosticValue, Severity, Verdict};
use dyno_stats::Saturation;
use dyno_stats::saturation::More;
use dyno_words::escape::escape;
use dyno_words::number::digits;
use dyno_words::{Finding, values};

const LONGEST_LABEL: usize = 80;

/// A level between the two readings.
pub(super) struct LevelAggregate<'a> {
    index: u32,
    plan: &'a LevelPlan,
    gathered: Gathered,
    distributions: Distributions,
    by_turn: Option<ByTurn>,
    goodput: Option<Goodput<'a>>,
    latency: Taken,
    sliced: Option<Sliced>,
    work: Option<Work>,
    saturation: Option<Saturation>,
    unclear: Option<DiagnosticValue>,
    no_window: Option<NoWindow>,
    no_interval: Option<Box<Diagnostic>>,
    not_converged: Option<Diagnostic>,
    fleet: Option<Fleet>,
}

impl<'a> LevelAggregate<'a> {
    /// Computes what the second reading needs. `whole`: this run is not one shard of many.
    pub(super) fn new(
        index: u32,
        plan: &'a LevelPlan,
        slo: Option<&'a Slo>,
        whole: bool,
        mut gathered: Gathered,
    ) -> Self {
        gathered.sort(plan.max_concurrency.is_some());
        let fleet = Fleet::new(plan, &mut gathered);
        let taken = gathered.samples.take(Time::Latency);
        let latency = &taken.counted;
        let saturation = saturation::test(plan, &gathered);
        // What a level is too short for is said with one length that is enough for all of it.
        let blocks = blocks(plan, &gathered, latency);
        let times = [blocks.as_ref().err().copied(), too_few(plan, &gathered).map(|(_, t)| t)];
        let times = times.into_iter().flatten().fold(1.0, f64::max);
        let (window, no_window) = match window(plan, whole, &gathered, latency, (saturation, times))
        {
            Ok(window) => (window, None),
            Err(why) => (None, Some(why)),
        };
        let times = no_window.as_ref().and_then(|no| no.times).map_or(times, |t| times.max(t));
        let unclear = saturation::unclear(saturation, window, (plan, times), &gathered)
            .filter(|_| past_capacity(plan).is_none());
        let (blocks, no_interval) = match blocks {
            Ok(blocks) => (blocks, no_interval(plan, &gathered)),
            Err(needed) => (None, Some(too_short(plan, &gathered, needed, times).into())),
        };
        let not_converged = not_converged(plan, &gathered, times);
        let samples = std::mem::take(&mut gathered.samples);
        let failed = gathered.counts.refused();
        Self {
            index,
            plan,
            distributions: Distributions::new(samples, &taken, blocks, failed),
            by_turn: ByTurn::new(&mut gathered.conversations, blocks, gathered.trees.any()),
            goodput: slo.map(Goodput::new),
            sliced: Sliced::new(plan, &gathered),
            latency: taken,
            work: window.map(Work::new),
            gathered,
            saturation,
            unclear,
            no_window,
            no_interval,
            not_converged,
            fleet,
        }
    }

    /// How its requests were offered.
    pub(super) fn load(&self) -> Load {
        self.plan.load
    }

    /// Its index and how much longer the saturation test needs, where that has no result and no twin's capacity says
    /// more.
    pub(super) fn unclear(&self) -> Option<(u32, Option<More>)> {
        match self.saturation? {
            Saturation::Inconclusive(more) if self.plan.capacity.is_none() => {
                Some((self.index, more))
            }
            _ => None,
        }
    }

    /// Second reading.
    pub(super) fn add(&mut self, record: &RequestRecord) {
        if let Some(work) = &mut self.work {
            work.add(record);
        }
        if let Some(sliced) = &mut self.sliced {
            sliced.add(record);
        }
        if let Some(fleet) = &mut self.fleet {
            fleet.add(record);
        }
        if record.phase.is_measured() {
            self.distributions.add(record);
            if let Some(by_turn) = &mut self.by_turn {
                by_turn.add(record);
            }
            if let Some(goodput) = &mut self.goodput {
                goodput.add(record);
            }
        }
    }

    /// The level's summary.
    pub(super) fn finish(
        self,
        plan: &Plan,
        env: Option<&Environment>,
        watch: &ServerWatch,
    ) -> LevelSummary {
        let index = self.index;
        let Self { mut gathered, mut distributions, by_turn, goodput, work, .. } = self;
        let medians = distributions.medians();
        let fleet = self.fleet.map(|fleet| fleet.finish(self.plan, &gathered, &medians));
        let (agents, of_agents) = fleet.unwrap_or_default();
        let mut late = distributions.take_late();
        let mut times = distributions.finish();
        let duration = gathered.span.duration();
        let ramp = self.plan.load.ramp();
        let stragglers = match (self.latency.counted.quantile(0.5), duration) {
            (Some(median), Some(duration)) if ramp.is_none() => {
                gathered.last.stragglers(median, duration)
            }
            _ => Vec::new(),
        };
        let send_lag = exact_lag(std::mem::take(&mut gathered.send_lag));
        let connect = exact_lag(std::mem::take(&mut gathered.connect));
        let refusals = std::mem::take(&mut gathered.refusals);
        let sent = refusals.sent();
        let end = gathered.end.as_deref();
        let overload = refusals.summary(self.plan.load, end);
        let client = client(send_lag, connect, end.map(|end| &end.client));
        let engine_slip = end.and_then(|end| end.slip.as_ref()).filter(|s| s.count > 0).map(slip);
        let integrity = gathered.streams.shares();
        let span = gathered.span;
        let saturated = saturation::saturated(self.saturation);
        let offered = saturation::offered_per_s(self.plan, &gathered);
        let in_flight = span.first_sent.zip(span.last_in_flight);
        let concurrency =
            in_flight.and_then(|(from, to)| gathered.flight.over(from, to)).map(|flight| {
                Concurrency {
                    growth: self.no_window.as_ref().and_then(|no| tidy(no.growth?)),
                    ..flight
                }
            });
        let server = in_flight.and_then(|(from, to)| watch.over(index, from, to));
        let throughput = throughput(&gathered);
        let steady = work.as_ref().map(Work::steady);
        let bounds =
            WorkBounds { steady: steady.zip(work.as_ref().map(Work::bounds)), whole: throughput };
        let predicted = plan.target.predicted;
        let instrument = trust::instrument(self.plan.load, predicted, &gathered, &bounds);
        let mean_slip = end.and_then(|end| end.slip?.mean_ns).map(|ns| ns as f64 / 1e6);
        let late_engine = engine_slip.filter(|slip| trust::slip_matters(&times, *slip, mean_slip));
        // An engine in another process is a server like any other: its delay is part of the result.
        if let Some(slip) = engine_slip.filter(|_| plan.target.url.is_none()) {
            trust::allow_for_slip(&mut times, slip, mean_slip);
        }
        trust::hold_the_printed(&mut times);
        if instrument.is_none() {
            times
                .iter_mut()
                .filter_map(|(_, time)| time.as_mut())
                .for_each(|t| t.instrument = None);
        }
        let slices = self.sliced.as_ref().map(|sliced| sliced.slices(&gathered));
        let mut over_time: Vec<Diagnostic> = match (&self.sliced, &slices, ramp) {
            (Some(sliced), Some(slices), Some(ramp)) => {
                bend(ramp, sliced, slices, &gathered).into_iter().collect()
            }
            (Some(sliced), _, None) => {
                drifts(sliced, &self.latency.counted, !self.plan.load.is_open())
            }
            _ => Vec::new(),
        };
        if let (true, Some((from, to))) = (self.plan.soak, in_flight) {
            over_time.extend(memory_growth(&watch.memory(index, from, to)));
        }
        over_time.extend(self.not_converged);
        let spread = match agents.is_empty() {
            true => trust::spread(self.plan.load, send_lag, medians[Time::Latency]),
            false => None,
        };
        let mut findings = Case {
            plan,
            env,
            level: &gathered,
            medians,
            client: &client,
            slip: late_engine,
            integrity: &integrity,
            no_window: self.no_window.as_ref().map(|no| &*no.why),
            past_capacity: past_capacity(self.plan),
            no_interval: self.no_interval,
            stragglers: &stragglers,
            over_time,
        }
        .findings();
        let refused = overload.is_some();
        let inputs_per_request = inputs_per_request(&gathered);
        let full = in_flight.and_then(|(from, to)| watch.batch_was_full(index, from, to));
        findings.extend(server.iter().flat_map(|server| {
            let server = (server, full);
            server_findings::of_level(plan, server, concurrency, inputs_per_request, refused)
        }));
        let counters = in_flight.and_then(|(from, to)| watch.counted_hits(index, from, to));
        let cache = gathered.cached.summary(env, counters);
        let trees = gathered.trees.summary(end, in_flight);
        findings.extend(cache::findings(
            plan,
            env,
            (cache.as_ref(), gathered.cached.share_of_all()),
            counters,
            trees.as_ref(),
        ));
        findings.extend(trees.iter().flat_map(trees::findings));
        let rates = steady.and_then(|steady| steady.throughput.requests_per_s).zip(offered);
        let behind = |((done, offered), option)| saturation::behind(done, offered, option);
        findings.extend(rates.zip(self.unclear).and_then(behind));
        findings.extend(gathered.server_side.findings());
        findings.extend(gathered.reasoned.note());
        findings.extend(cold::note(self.plan, &gathered, times[Time::Latency].as_ref()));
        // Latencies over all rates of a ramp describe none of them.
        let known = past_capacity(self.plan).is_none() && ramp.is_none();
        let told = |time: Time| known || time.is_between_tokens() && ramp.is_none();
        let tpot = times[Time::Tpot].clone().filter(|_| told(Time::Tpot));
        let mut level = LevelSummary {
            index: self.index,
            repeat: self.plan.repeat,
            label: escape(&self.plan.label, LONGEST_LABEL),
            superseded: false,
            load: LoadSummary {
                kind: self.plan.load.kind(),
                value: Some(round6(self.plan.load.value())),
            },
            input_length: fixed_length(plan, &self.plan.input_tokens),
            output_length: fixed_length(plan, &self.plan.output_tokens),
            inputs_per_request,
            reported: None,
            verdict: Verdict::Valid,
            reasons: Vec::new(),
            notes: Vec::new(),
            partial: end.is_none(),
            ending: end.map(|end| end.ending),
            requests: RequestCounts {
                planned: Some(planned(self.plan, &gathered)),
                ..gathered.counts.clone().into()
            },
            with_failures: overload::with_failures(&gathered.counts, |time| {
                late[time].take().filter(|_| told(time))
            }),
            overload,
            duration_s: duration.map(|ns| round6(to_s(ns))),
            throughput,
            steady,
            offered_per_s: offered.map(round6),
            saturated,
            client_wait: self
                .plan
                .max_concurrency
                .filter(|_| self.plan.load.is_open())
                .map(|most| gathered.waits.summary(most)),
            concurrency,
            times: times.map(|time, found| found.filter(|_| told(time))),
            input_tokens: gathered.input.tokens(),
            output_tokens: gathered.output.tokens(),
            reasoning_tokens: gathered.reasoned.summary(),
            output_lengths: gathered.asked.summary(env),
            token_source: sources([(&gathered.input, &gathered.output)]),
            slices,
            interactivity: gathered.speeds.summary(tpot.as_ref(), told(Time::Latency)),
            sessions: by_turn.map(|by_turn| by_turn.finish(&gathered.conversations)),
            trees,
            slo: None,
            integrity,
            instrument,
            prediction: None,
            client,
            agents,
            server,
            cache,
            server_times: gathered.server_side.summary(),
            cost: cost(&plan.server, throughput, steady),
            engine_slip_ms: engine_slip,
            failure_samples: gathered.words.texts(),
            failure_samples_chinese: gathered.words.chinese(),
            stragglers,
        };
        let accuracy = plan.target.accuracy.filter(|_| !self.plan.extrapolated);
        level.prediction = accuracy.map(|of| prediction::intervals(of, self.plan, &level));
        trust::name_uncertain(&mut level);
        let imprecise = trust::findings(&level, self.plan.load);
        let precise = imprecise.is_empty();
        findings.splice(0..0, imprecise);
        findings.extend(spread);
        findings.extend(trust::unknown(predicted, &gathered));
        match &gathered.end {
            Some(end) if level.agents.is_empty() => {
                findings.extend(trust::notes(&end.client, precise));
            }
            _ => findings.extend(of_agents),
        }
        let arrivals = records(&gathered);
        findings.extend(level.client_wait.iter().flat_map(|wait| waits::notes(wait, arrivals)));
        findings.extend(
            level
                .overload
                .iter()
                .flat_map(|overload| overload::notes(overload, &gathered.counts, sent)),
        );
        put_in_order(&mut findings);
        level.verdict = verdict(&findings);
        trust::reassure_once(&mut findings, level.verdict != Verdict::Invalid);
        (level.notes, level.reasons) =
            findings.into_iter().partition(|finding| finding.severity == Some(Severity::Note));
        if let Some(goodput) = goodput {
            goodput.finish(&mut level, &gathered.counts, duration, known);
        }
        level
    }

    pub(super) fn token_sums(&self) -> (&super::tokens::TokenSum, &super::tokens::TokenSum) {
        (&self.gathered.input, &self.gathered.output)
    }
}

/// A prediction states its twin's capacity; beyond that, latencies are meaningless.
pub(super) fn past_capacity(plan: &LevelPlan) -> Option<Diagnostic> {
    match (plan.load, plan.capacity) {
        (Load::Rate { rate, .. }, Some([low, high])) if rate > low => {
            Some(Finding::PastCapacity.with(values![rate, digits(low, 3), digits(high, 3)]))
        }
        _ => None,
    }
}

/// The requested length of all requests, where prompts are synthetic.
fn fixed_length(plan: &Plan, asked: &LengthSpec) -> Option<u32> {
    asked.0.trim().parse().ok().filter(|_| plan.data.spec.is_none())
}

/// Texts per completed request; per request where none completed.
fn inputs_per_request(level: &Gathered) -> Option<f64> {
    let (requests, inputs) = match level.inputs {
        0 => level.carried,
        inputs => (level.counts.completed, inputs),
    };
    tidy(inputs as f64 / requests as f64).filter(|_| inputs > 0)
}

/// Measured arrivals planned; those issued where time ended the level.
fn planned(plan: &LevelPlan, level: &Gathered) -> u64 {
    let asked = match plan.load {
        Load::Burst { requests } => Some(requests),
        _ => plan.requests,
    };
    match &level.end {
        Some(end) if matches!(end.ending, Ending::Duration | Ending::Stable) => end.issued,
        Some(end) => end.planned.unwrap_or(end.issued),
        None => asked.unwrap_or_else(|| records(level)),
    }
}

/// Rates of completed requests over the whole duration. Where requests ended and none completed, they
/// are 0: nothing got through. Where none ended, nothing is known.
pub(super) fn throughput(level: &Gathered) -> Throughput {
    let counts = &level.counts;
    let ended = counts.completed + counts.refused();
    let Some(duration) = level.span.duration().filter(|_| ended > 0) else {
        return Throughput::default();
    };
    let per_s = |n: u64| tidy(n as f64 / to_s(duration));
    let embeds = level.inputs > 0 || level.carried.1 > 0;
    if counts.completed == 0 {
        let none = per_s(0);
        let embedded = none.filter(|_| embeds);
        return Throughput {
            requests_per_s: none,
            output_tokens_per_s: none.filter(|_| !embeds),
            total_tokens_per_s: none,
            inputs_per_s: embedded,
            input_tokens_per_s: embedded,
            body_bytes_per_s: embedded,
        };
    }
    let output = level.output.total();
    let total = match embeds {
        false => output.zip(level.input.total()).map(|(output, input)| output + input),
        // Nothing is generated, so the input is all there is.
        true => level.input.total(),
    };
    Throughput {
        requests_per_s: per_s(counts.completed),
        output_tokens_per_s: output.and_then(per_s),
        total_tokens_per_s: total.and_then(per_s),
        inputs_per_s: Some(level.inputs).filter(|n| *n > 0).and_then(per_s),
        input_tokens_per_s: level.input.total().filter(|_| level.inputs > 0).and_then(per_s),
        body_bytes_per_s: Some(level.body_bytes).filter(|n| *n > 0).and_then(per_s),
    }
}
