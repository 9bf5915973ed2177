//! Whether the metrics of a level can be trusted: by how much the client may be wrong about each, and what
//! happened to the client during the run.

use super::gather::Gathered;
use dyno_model::frame::ClientHealth;
use dyno_model::instrument::{Quality, is_judged_alone};
use dyno_model::message::joined;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::plan::Load;
use dyno_model::summary::{
    InstrumentSummary, Lag, LevelSummary, Ranges, Stamps, Steady, Throughput, ThroughputRanges,
    Times, round6,
};
use dyno_model::units::{to_ms, to_s};
use dyno_model::{Diagnostic, MS, Message};
use dyno_words::number::{digits, short};
use dyno_words::{Measuring, values};

/// Shares of its concurrency below which a closed loop is suspect, and invalid.
const MOST_IN_FLIGHT: f64 = 0.98;
const ENOUGH_IN_FLIGHT: f64 = 0.90;
/// The share of the median latency within which all requests of a burst must be sent.
const AT_ONCE: f64 = 0.1;
/// Stalls are reported from this length, or from this share of the level.
const LONG_STALL_NS: u64 = 10 * MS;
const MUCH_BLIND: f64 = 0.01;
/// Stalls that made no metric uncertain are reported only from this share of the level.
const HARMLESS_BLIND: f64 = 0.05;
/// A thread that uses more of a CPU than this is overloaded; one that uses less was preempted.
const BUSY: f64 = 0.7;
/// Waiting is reported from this share of the level.
const MUCH_WAITING: f64 = 0.01;
const FEW_UNSTAMPED: f64 = 0.01;

/// The statistics of a time that count for the verdict.
const HEADLINE: [Statistic; 4] = [Statistic::Mean, Statistic::P50, Statistic::P90, Statistic::P99];

/// The ranges of a level's rates.
pub(super) struct WorkBounds {
    pub(super) steady: Option<(Steady, [Throughput; 2])>,
    pub(super) whole: Throughput,
}

/// How accurately a level was measured; nothing where its records do not say.
pub(super) fn instrument(
    load: Load,
    predicted: bool,
    level: &Gathered,
    work: &WorkBounds,
) -> Option<InstrumentSummary> {
    if level.unmeasured > 0 || level.counts.completed == 0 {
        return None;
    }
    let effective = match load {
        Load::Concurrency { concurrency } => {
            level.span.duration().and_then(|time| level.effective.share(concurrency, time))
        }
        _ => None,
    };
    let health = level.end.as_ref().map(|end| &end.client);
    Some(InstrumentSummary {
        stamps: if predicted { Some(Stamps::Virtual) } else { health.and_then(stamps) },
        throughput: work.ranges(level, effective),
        effective_concurrency: effective.map(round6),
    })
}

fn stamps(health: &ClientHealth) -> Option<Stamps> {
    match (health.read_delay.count(), health.unstamped_reads) {
        (0, 0) => None,
        (0, _) => Some(Stamps::Client),
        (some, without) if without as f64 <= FEW_UNSTAMPED * some as f64 => Some(Stamps::Kernel),
        _ => Some(Stamps::Mixed),
    }
}

impl WorkBounds {
    fn ranges(&self, level: &Gathered, effective: Option<f64>) -> ThroughputRanges {
        let more = effective.filter(|share| *share > 0.0).map_or(1.0, |share| 1.0 / share);
        let stretch =
            level.span.duration().zip(level.span.durations()).map(|(time, [least, most])| {
                let time = time as f64;
                [time / (most.max(1) as f64), time / (least.max(1) as f64)]
            });
        let of = |rate: fn(&Throughput) -> Option<f64>| {
            let [low, high] = match &self.steady {
                Some((_, [low, high])) => [rate(low)?, rate(high)?],
                None => {
                    let value = rate(&self.whole)?;
                    stretch?.map(|factor| value * factor)
                }
            };
            Some([round6(low), round6(high * more)])
        };
        ThroughputRanges {
            requests_per_s: of(|work| work.requests_per_s),
            output_tokens_per_s: of(|work| work.output_tokens_per_s),
            total_tokens_per_s: of(|work| work.total_tokens_per_s),
            inputs_per_s: of(|work| work.inputs_per_s),
            input_tokens_per_s: of(|work| work.input_tokens_per_s),
        }
    }
}

/// Adds the delay of Dyno's own engine to the instrument ranges: had it kept its schedule, times would
/// have been shorter. The mean gap is not affected. Of the delay, percentiles between the median and p99 are not
/// kept: those of times are lowered by its p99, which bounds them all.
pub(super) fn allow_for_slip(times: &mut Times, slip: Lag, mean_ms: Option<f64>) {
    for (time, found) in times.iter_mut() {
        let Some(found) = found else { continue };
        let Some(ranges) = found.instrument else { continue };
        let of_request = !matches!(time, Time::Itl | Time::ChunkGap | Time::Tpot);
        let late = |statistic| match statistic {
            Statistic::Mean if of_request => mean_ms.unwrap_or(slip.p50),
            Statistic::P50 if of_request => slip.p50,
            Statistic::Mean | Statistic::P50 => 0.0,
            _ if time == Time::Tpot => 0.0,
            Statistic::P99_9 | Statistic::Max => slip.max,
            _ => slip.p99,
        };
        found.instrument = Some(Ranges::new(|statistic| {
            let by = late(statistic);
            // Some ranges are absent where the value is exact.
            let exact = || found.get(statistic).filter(|_| by > 0.0).map(|value| [value; 2]);
            let [low, high] = ranges.get(statistic).or_else(exact)?;
            Some([if by > 0.0 { round6((low - by).max(0.0)) } else { low }, high])
        }));
    }
}

/// Whether the delay of Dyno's own engine changes a time of requests by more than is good. Between tokens
/// it changes high percentiles alone, which are marked themselves.
pub(super) fn slip_matters(times: &Times, slip: Lag, mean_ms: Option<f64>) -> bool {
    let by = [
        (Statistic::Mean, mean_ms.unwrap_or(slip.p50)),
        (Statistic::P50, slip.p50),
        (Statistic::P99, slip.p99),
    ];
    [Time::Ttft, Time::Latency].into_iter().any(|time| {
        let of = |statistic| times[time].as_ref()?.get(statistic);
        let changed = |(statistic, by): (Statistic, f64)| {
            let value = of(statistic)?;
            Some(Quality::of_time(time, value, [value - by, value], None) > Quality::Good)
        };
        by.into_iter().filter_map(changed).any(|changed| changed)
    })
}

/// Names the statistics of each time that could be measured only roughly.
pub(super) fn name_uncertain(level: &mut LevelSummary) {
    for time in Time::ALL {
        let uncertain =
            |statistic: &Statistic| level.is_uncertain(Metric::Time(time), Some(*statistic));
        let names = Statistic::ALL.iter().copied().filter(uncertain).map(Statistic::key);
        let names = names.map(str::to_owned).collect();
        if let Some(found) = &mut level.times[time] {
            found.uncertain = names;
        }
    }
}

/// A range contains the printed value: rounding must not change that.
pub(super) fn hold_the_printed(times: &mut Times) {
    for (_, found) in times.iter_mut() {
        let Some(found) = found else { continue };
        let Some(ranges) = found.instrument else { continue };
        found.instrument = Some(Ranges::new(|statistic| {
            let [low, high] = ranges.get(statistic)?;
            let value = found.get(statistic)?;
            Some([low.min(value), high.max(value)])
        }));
    }
}

/// The findings from a level's instrument ranges. Metrics that are not named are accurate.
pub(super) fn findings(level: &LevelSummary, load: Load) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let Some(instrument) = &level.instrument else { return found };
    let [mut fair, mut tails, mut poor, mut marked] = [const { Vec::<Message>::new() }; 4];
    for (metric, statistic) in headline(level, load) {
        let tail = statistic.is_some_and(Statistic::is_tail);
        let into = match level.quality(metric, statistic) {
            None | Some(Quality::Good) => continue,
            Some(_) if is_judged_alone(metric, statistic) => &mut marked,
            Some(Quality::Fair) => &mut fair,
            Some(Quality::Poor) if tail => &mut tails,
            Some(Quality::Poor) => &mut poor,
        };
        into.extend(described(level, metric, statistic));
    }
    let all = [
        (Measuring::Poor, poor),
        (Measuring::PoorTail, tails),
        (Measuring::Fair, fair),
        (Measuring::Marked, marked),
    ];
    let named = all.into_iter().filter(|(_, figures)| !figures.is_empty());
    found.extend(named.map(|(what, figures)| what.with(values![joined(figures, [", ", "、"])])));
    reassure_once(&mut found, some_accurate(level, load));
    if let (Some(share), Load::Concurrency { concurrency }) =
        (instrument.effective_concurrency, load)
        && share < MOST_IN_FLIGHT
    {
        let what = match share < ENOUGH_IN_FLIGHT {
            true => Measuring::FewInFlight,
            false => Measuring::SomeInFlight,
        };
        found.push(what.with(values![digits(100.0 * share, 1), concurrency]));
    }
    found
}

/// Whether there is a headline metric with no uncertain statistic.
fn some_accurate(level: &LevelSummary, load: Load) -> bool {
    let uncertain = |metric: Metric| {
        let mut of = headline(level, load).filter(|(other, _)| *other == metric);
        of.any(|(_, statistic)| level.is_uncertain(metric, statistic))
    };
    let good = |(metric, statistic)| level.quality(metric, statistic) == Some(Quality::Good);
    headline(level, load).any(|of| good(of) && !uncertain(of.0))
}

/// Keeps the advice that the other metrics are accurate in the last of these findings, and only where it
/// is true: never in an invalid level.
pub(super) fn reassure_once(found: &mut [Diagnostic], accurate: bool) {
    let reassuring = |said: &&mut Diagnostic| said.code == "instrument_range" && !said.is_error();
    let accurate = accurate && !found.iter().any(Diagnostic::is_error);
    let said = found.iter_mut().filter(reassuring).rev().skip(usize::from(accurate));
    said.for_each(|said| said.advice = None);
}

/// A burst whose requests were not sent at once: the first had ended, or nearly so, before the last were sent,
/// so that fewer were waiting than the load says, and each for less time.
pub(super) fn spread(
    load: Load,
    send_lag: Option<Lag>,
    median_latency_ns: Option<f64>,
) -> Option<Diagnostic> {
    let delay_ms = send_lag.filter(|_| matches!(load, Load::Burst { .. }))?.p99;
    let latency_ms = median_latency_ns? / 1e6;
    let ms = |ms: f64| digits(ms, if ms < 10.0 { 1 } else { 0 });
    (delay_ms > AT_ONCE * latency_ms)
        .then(|| Measuring::Spread.with([delay_ms, latency_ms].map(ms)))
}

/// The metrics that count for the verdict: rates, and the times that are in every table.
fn headline(level: &LevelSummary, load: Load) -> impl Iterator<Item = (Metric, Option<Statistic>)> {
    let between = if level.times[Time::Itl].is_some() { Time::Itl } else { Time::ChunkGap };
    let due =
        [Time::TtftScheduled, Time::LatencyScheduled].into_iter().filter(move |_| load.is_open());
    let times = [Time::Ttft, between, Time::Tpot, Time::Latency].into_iter().chain(due);
    let work = [Metric::RequestRate, Metric::OutputRate];
    let work = work.map(|metric| (metric, None));
    let of_times =
        times.flat_map(|time| HEADLINE.map(|statistic| (Metric::Time(time), Some(statistic))));
    work.into_iter().chain(of_times)
}

/// A metric with its instrument range, as text.
fn described(
    level: &LevelSummary,
    metric: Metric,
    statistic: Option<Statistic>,
) -> Option<Message> {
    level.instrument_range(metric, statistic).map(|range| worded(metric, statistic, range))
}

fn worded(metric: Metric, statistic: Option<Statistic>, [low, high]: [f64; 2]) -> Message {
    let which = match statistic {
        None => ["", ""],
        Some(Statistic::Mean) => ["mean", "平均"],
        Some(statistic) => [statistic.name(); 2],
    };
    let info = metric.info();
    let [brief, label] = [info.short, info.label];
    let name = [0, 1].map(|language| {
        // Times from the schedule have no short name.
        let name = if brief[language].is_empty() { label[language] } else { brief[language] };
        format!("{name} {}", which[language]).trim_end().to_owned()
    });
    let unit = metric.unit().names();
    let [low, high] = [low, high].map(short);
    Message::new([0, 1].map(|at| format!("{} {low}–{high} {}", name[at], unit[at])))
}

/// What happened to the client during the run; not part of the verdict. `precise`: no finding is about
/// its measurements.
pub(super) fn notes(health: &ClientHealth, precise: bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let reads = health.read_delay.count() + health.unstamped_reads;
    let wall = health.wall_ns.max(1) as f64;
    let share = |time: u64| time as f64 / wall;
    let blind = share(health.blind_ns);
    let stalled = match precise {
        true => blind > HARMLESS_BLIND,
        false => health.longest_stall_ns >= LONG_STALL_NS || blind > MUCH_BLIND,
    };
    if stalled {
        let cpu = share(health.cpu_ns);
        let what = if cpu > BUSY { Measuring::Overloaded } else { Measuring::Preempted };
        let times = [to_s(health.blind_ns), to_ms(health.longest_stall_ns)];
        found.push(what.with([digits(times[0], 2), digits(times[1], 0), digits(100.0 * cpu, 0)]));
    }
    let waits = [
        (Measuring::AwaitedPrompts, health.awaited_prompts_ns),
        (Measuring::AwaitedRecords, health.awaited_records_ns),
    ];
    let long = waits.into_iter().filter(|(_, time)| share(*time) > MUCH_WAITING);
    found.extend(long.map(|(what, time)| what.with([digits(to_s(time), 2)])));
    if health.unstamped_reads as f64 > FEW_UNSTAMPED * reads as f64 {
        let without = health.unstamped_reads as f64 / reads as f64;
        found.push(Measuring::NoStamps.with([digits(100.0 * without, 0)]));
    }
    found
}

/// Whether the records do not state the accuracy of their times, as those of older versions. Virtual time
/// is always exact.
pub(super) fn unknown(predicted: bool, level: &Gathered) -> Option<Diagnostic> {
    (level.unmeasured > 0 && !predicted).then(|| Measuring::NoRanges.into())
}
