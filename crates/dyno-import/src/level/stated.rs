//! A tool's values of a level in Dyno's terms: times in milliseconds, absent where the tool has none.

use super::sample::wall_clock;
use super::{Ended, Sample, blank};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::plan::Arrival;
use dyno_model::summary::LevelExtras;
use dyno_model::summary::{Distribution, LoadSummary, Throughput, Tokens};
use dyno_model::{Diagnostic, LevelSummary};
use dyno_words::named;

/// How requests were offered, as the tool states it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offered {
    pub(crate) load: LoadSummary,
    /// How an open loop's arrivals were spaced, if stated.
    pub(crate) arrival: Option<Arrival>,
}

/// A level as a reader found it.
#[derive(Debug, Clone)]
pub(crate) struct StatedLevel {
    /// The tool's values.
    pub(crate) stated: LevelSummary,
    /// How its arrivals were spaced.
    pub(crate) arrival: Option<Arrival>,
    /// What some layouts need beyond it.
    pub(crate) extras: LevelExtras,
    /// Its requests, where the file has every one of them.
    pub(crate) samples: Option<Vec<Sample>>,
    /// The tool measured from one moment to another, while requests were sent before and after: its
    /// duration and rates are those of that time, which requests at its ends are only partly in.
    pub(crate) window: bool,
}

impl Offered {
    /// Closed loop.
    pub(crate) fn concurrency(slots: f64) -> Self {
        Self { load: blank::load(LoadKind::Concurrency, Some(slots)), arrival: None }
    }

    /// Open loop.
    pub(crate) fn rate(rate: f64, arrival: Option<Arrival>) -> Self {
        Self { load: blank::load(LoadKind::Rate, Some(rate)), arrival }
    }

    /// A burst.
    pub(crate) fn burst(requests: f64) -> Self {
        Self { load: blank::load(LoadKind::Burst, Some(requests)), arrival: None }
    }

    /// Unlimited, or unknown.
    pub(crate) fn plain(kind: LoadKind) -> Self {
        Self { load: blank::load(kind, None), arrival: None }
    }
}

impl StatedLevel {
    /// A level of which only the load is known so far.
    pub(crate) fn new(offered: Offered) -> Self {
        let label = match offered.load.value {
            Some(value) => format!("{} {value}", offered.load.kind),
            None => offered.load.kind.to_string(),
        };
        Self {
            stated: blank::level(label, offered.load),
            arrival: offered.arrival,
            extras: LevelExtras::default(),
            samples: None,
            window: false,
        }
    }

    /// Adds a remark to the level and to the problems of the import.
    pub(crate) fn note(&mut self, problems: &mut Vec<Diagnostic>, said: Diagnostic) {
        let line = self.stated.reported.as_ref().and_then(|reported| reported.line);
        problems.push(named(&self.stated.label, &said).at(line));
        self.stated.notes.push(said);
    }

    /// Whether the tool states any result of it, or a note says why none of its values can be used.
    pub(crate) fn says_something(&self) -> bool {
        let stated = &self.stated;
        stated.requests.completed.is_some()
            || stated.requests.failed.is_some()
            || stated.throughput != Throughput::default()
            || stated.duration_s.is_some()
            || Time::ALL.iter().any(|time| stated.times[*time].is_some())
            || self.requests().is_some()
            || !stated.notes.is_empty()
    }

    /// Its requests, if any are known.
    pub(crate) fn requests(&self) -> Option<&[Sample]> {
        self.samples.as_deref().filter(|samples| !samples.is_empty())
    }

    /// Whether these are its requests, which it has not: as many, with the same mean latency.
    pub(crate) fn has(&self, requests: &Self) -> bool {
        let samples = requests.samples.as_deref().unwrap_or_default();
        let done = samples.iter().filter(|sample| sample.ended == Ended::Completed);
        let latencies: Vec<f64> = done.filter_map(|sample| sample.latency).collect();
        let mean_ms = latencies.iter().sum::<f64>() / latencies.len().max(1) as f64 * 1e3;
        let stated = self.stated.times[Time::Latency].as_ref().and_then(|times| times.mean);
        let same = stated.is_some_and(|stated| (stated - mean_ms).abs() <= 1e-3 * stated);
        let count = self.stated.requests.completed;
        self.samples.is_none() && same && count == Some(latencies.len() as u64)
    }

    /// Requests have a due time only in an open loop.
    pub(crate) fn settle(&mut self) {
        if !matches!(self.stated.load.kind, LoadKind::Rate | LoadKind::Trace) {
            self.samples.iter_mut().flatten().for_each(|sample| sample.scheduled = None);
        }
    }
}

/// The names by which [`distribution`] asks.
const STATS: [&str; 13] =
    ["mean", "std", "min", "p50", "p66", "p75", "p80", "p90", "p95", "p98", "p99", "p99.9", "max"];

/// A distribution of times, by a function from [`STATS`] to the tool's value and the number of
/// milliseconds in its unit. Some tools write 0 or −1 where they have nothing.
pub(crate) fn distribution(
    count: Option<u64>,
    unit_ms: f64,
    stat: impl Fn(&str) -> Option<f64>,
) -> Option<Distribution> {
    if count == Some(0) {
        return None;
    }
    let given = STATS.map(|name| stat(name).filter(|value| value.is_finite() && *value >= 0.0));
    if given.iter().flatten().all(|value| *value == 0.0) {
        return None;
    }
    let [mean, std, min, p50, p66, p75, p80, p90, p95, p98, p99, p99_9, max] =
        given.map(|value| value.map(|value| rounded(value * unit_ms)));
    Some(Distribution {
        count,
        mean,
        std,
        min,
        p50,
        p66,
        p75,
        p80,
        p90,
        p95,
        p98,
        p99,
        p99_9,
        max,
        ..Distribution::default()
    })
}

/// The same, where the tool writes the median, the least and the greatest value by either name.
pub(crate) fn distribution_of(
    unit_ms: f64,
    stat: impl Fn(&str) -> Option<f64>,
) -> Option<Distribution> {
    distribution(None, unit_ms, |name| {
        let other = match name {
            "p50" => "median",
            "min" => "p0",
            "max" => "p100",
            _ => name,
        };
        stat(other).or_else(|| stat(name))
    })
}

/// Tokens per request, from the values that are stated.
pub(crate) fn tokens(
    total: Option<u64>,
    mean: Option<f64>,
    requests: Option<u64>,
) -> Option<Tokens> {
    let requests = requests.filter(|requests| *requests > 0);
    let by_total = total.zip(requests).map(|(total, requests)| total as f64 / requests as f64);
    let mean = mean.filter(|mean| *mean >= 0.0).or(by_total)?;
    Some(Tokens { total, mean: rounded(mean) })
}

/// A rate or a time, which is never negative.
pub(crate) fn present(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite() && *value >= 0.0).map(rounded)
}

/// Rounded to a millionth, which is more precise than any tool.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A time since 1970 in seconds, as a summary states it; absent for any other clock.
pub(crate) fn started_at(seconds: f64) -> Option<String> {
    match wall_clock(seconds) {
        0 => None,
        unix_ns => Some(dyno_model::when::utc(unix_ns)),
    }
}

/// Milliseconds in a unit of time, by any of its names.
pub(crate) fn unit_ms(unit: &str) -> Option<f64> {
    match unit.trim().to_ascii_lowercase().as_str() {
        "ns" | "nanoseconds" => Some(1e-6),
        "us" | "µs" | "microseconds" => Some(1e-3),
        "ms" | "milliseconds" => Some(1.0),
        "s" | "sec" | "secs" | "seconds" | "senconds" => Some(1e3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_never_zero() {
        assert_eq!(distribution(Some(0), 1.0, |_| Some(5.0)), None);
        assert_eq!(distribution(None, 1.0, |_| Some(0.0)), None);
        assert_eq!(distribution(None, 1.0, |_| Some(-1.0)), None);
        let some = distribution(None, 1e3, |name| (name == "p90").then_some(0.25)).unwrap();
        assert_eq!((some.p90, some.mean, some.count), (Some(250.0), None, None));
    }

    #[test]
    fn tokens_come_by_their_mean_or_their_total() {
        assert_eq!(tokens(Some(100), None, Some(8)).unwrap().mean, 12.5);
        assert_eq!(tokens(None, Some(3.0), None).unwrap().total, None);
        assert_eq!(tokens(Some(5), None, Some(0)), None);
        assert_eq!(tokens(None, Some(-1.0), None), None);
    }
}
