//! The registry of metrics: names, unit, meaning, which direction is better, and where each is
//! shown. Reports, charts, the page, the live view, SLO terms, lint, compare, gate
//! and import read it. A new metric is a row in `rows.rs` and the computation of its value.

mod per_time;
mod place;
mod rows;
mod statistic;
mod time;

pub use per_time::PerTime;
pub use place::{Column, Place};
pub use statistic::Statistic;
pub use time::Time;

use crate::language::Language;
use crate::plan::Task;
use crate::summary::{Distribution, LevelSummary};
use rows::OTHERS;

/// A metric of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// A time that requests have, as a distribution.
    Time(Time),
    /// Completed requests per second.
    RequestRate,
    /// Output tokens per second.
    OutputRate,
    /// Input and output tokens per second.
    TotalRate,
    /// Texts embedded or documents ranked per second.
    InputRate,
    /// Input tokens per second, where nothing is generated.
    InputTokenRate,
    /// Bytes of response bodies per second, where nothing is generated.
    BodyRate,
    /// Requests per second that met the SLO.
    Goodput,
    /// Output tokens per second that one user sees.
    PerUser,
    /// Output tokens per second that three quarters of the users see at least.
    PerUserP75,
    /// Output tokens per second that nine of ten users see at least.
    PerUserP90,
    /// Output tokens of a request divided by its latency.
    RequestSpeed,
    /// The same that nine of ten requests reach.
    RequestSpeedP90,
    /// Output tokens of all requests divided by the sum of their latencies.
    OverallSpeed,
    /// Trees of sessions of which every request completed.
    TreesCompleted,
    /// Trees of sessions at work.
    TreesLive,
    /// How long a tree took.
    TreeDuration,
    /// The same divided by the recorded time.
    TreeStretch,
    /// The hit rate of a prefix cache without bounds.
    IdealCache,
    /// Arrivals per second.
    Offered,
    /// Requests in flight.
    InFlight,
    /// Completed requests.
    Completed,
    /// Failed requests, without those that were shed or unconfirmed.
    Failed,
    /// Requests that nothing shows to be complete.
    Unconfirmed,
    /// Requests that an overloaded server refused.
    Shed,
    /// Share of failed, unconfirmed and shed requests among these and those that completed.
    Failures,
    /// Share of failed, unconfirmed, shed and dropped requests among those that ended.
    Errors,
    /// How long it took.
    Duration,
    /// Requests in the server's batch.
    Running,
    /// Requests that waited in the server.
    Waiting,
    /// Utilisation of the server's KV cache.
    KvCache,
    /// Prefix cache hit rate, by prompt tokens.
    CachedShare,
    /// Price of a million output tokens.
    Price,
}

/// What a metric is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Times.
    Milliseconds,
    /// Long times.
    Seconds,
    /// Shares.
    Percent,
    /// Requests.
    RequestsPerSecond,
    /// Tokens.
    TokensPerSecond,
    /// Texts.
    InputsPerSecond,
    /// Bytes.
    MegabytesPerSecond,
    /// Counts, and metrics with their own unit.
    Plain,
}

impl Unit {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Percent => "%",
            Self::RequestsPerSecond => "req/s",
            Self::TokensPerSecond => "tok/s",
            Self::InputsPerSecond => "inputs/s",
            Self::MegabytesPerSecond => "MB/s",
            Self::Plain => "",
        }
    }

    /// Its name in a text, in English and Chinese.
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::RequestsPerSecond => ["req/s", "请求/秒"],
            Self::InputsPerSecond => ["inputs/s", "条/秒"],
            other => [other.name(); 2],
        }
    }
}

/// Which way a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// It is neither good nor bad.
    Neither,
}

/// The group that a metric belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricGroup {
    /// Throughput.
    Work,
    /// Times of requests.
    Times,
    /// Counts and outcomes of requests.
    Requests,
    /// The server's own metrics.
    Server,
    /// What it costs.
    Cost,
}

/// A row of the registry. Texts are in English and Chinese.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// Its key in `summary.json`, or a similar name.
    pub id: &'static str,
    /// As people write it in an SLO.
    pub name: &'static str,
    /// Prefix of its columns in CSV and Parquet.
    pub column: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    /// Which way it is better.
    pub better: Better,
    /// Its group.
    pub group: MetricGroup,
    /// Only streamed responses have it.
    pub streamed: bool,
    /// Only requests have it that embed or rank texts.
    pub inputs: bool,
    /// Its name on the page and in charts.
    pub label: [&'static str; 2],
    /// Its name at the head of a column in a document.
    pub title: [&'static str; 2],
    /// Its short name, at the head of a column in a terminal.
    pub short: [&'static str; 2],
    /// How it is computed, where that can be written in a line.
    pub formula: &'static str,
    /// What it means, in a sentence.
    pub means: [&'static str; 2],
    /// Where it is shown, at which rank, and with which statistics.
    pub places: &'static [(Place, u8, &'static [Statistic])],
}

impl Metric {
    /// Shorter responses make it better, whatever the server's speed.
    pub fn depends_on_length(self) -> bool {
        matches!(self, Self::Time(Time::Latency | Time::LatencyScheduled) | Self::RequestRate)
    }

    /// Every metric, in the order of the registry.
    pub fn all() -> impl Iterator<Item = Self> {
        let times = Time::ALL.into_iter().map(Self::Time);
        times.chain(OTHERS.iter().map(|(metric, ..)| *metric))
    }

    /// Its row.
    pub fn info(self) -> &'static Info {
        match self {
            Self::Time(time) => time.info(),
            // A test checks that every metric has a row.
            _ => {
                OTHERS.iter().find(|(metric, ..)| *metric == self).map_or(rows::NONE, |row| &row.1)
            }
        }
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// What it is measured in.
    pub fn unit(self) -> Unit {
        self.info().unit
    }

    /// Its name on the page and in charts.
    pub fn label(self, language: Language) -> &'static str {
        language.choose(self.info().label)
    }

    /// The name of one of its statistics, or of several, on the page and in charts. In Chinese, only
    /// words in Latin letters have a space between them and what stands before.
    pub fn label_with(self, statistics: &str, language: Language) -> String {
        let label = self.label(language);
        let close = language == Language::Chinese
            && (label.ends_with('）') || !statistics.starts_with(|c: char| c.is_ascii()));
        format!("{label}{}{statistics}", if close { "" } else { " " })
    }

    /// The time that it is, where it is one.
    pub fn time(self) -> Option<Time> {
        match self {
            Self::Time(time) => Some(time),
            _ => None,
        }
    }

    /// It is a time that each request has, and of which there are statistics.
    pub fn is_time(self) -> bool {
        self.time().is_some()
    }

    /// More of it is better.
    pub fn is_work(self) -> bool {
        self.info().better == Better::Higher
    }

    /// Only streamed responses have it.
    pub fn needs_stream(self) -> bool {
        self.info().streamed
    }

    /// Only requests have it that embed or rank texts.
    pub fn needs_inputs(self) -> bool {
        self.info().inputs
    }

    /// Whether a run with this task can have it.
    pub fn fits(self, task: Task) -> bool {
        let of_output = matches!(
            self,
            Self::OutputRate
                | Self::TotalRate
                | Self::PerUser
                | Self::PerUserP75
                | Self::PerUserP90
                | Self::RequestSpeed
                | Self::RequestSpeedP90
                | Self::OverallSpeed
                | Self::Price
        );
        match task.generates() {
            true => !self.needs_inputs(),
            false => !self.needs_stream() && !of_output,
        }
    }

    /// Its distribution in a level, where it is a time.
    pub fn distribution(self, level: &LevelSummary) -> Option<&Distribution> {
        level.times[self.time()?].as_ref()
    }

    /// Its value in a level, where it is one number and not a distribution. Work is that of the
    /// whole level.
    pub fn value(self, level: &LevelSummary) -> Option<f64> {
        OTHERS.iter().find(|(metric, ..)| *metric == self).and_then(|(.., value)| value(level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_metric_has_a_row_with_unique_names() {
        let all: Vec<Metric> = Metric::all().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        let price = Metric::Price;
        assert!(all.contains(&price) && all.contains(&Metric::Time(Time::ChunkGap)));
        for (i, time) in Time::ALL.into_iter().enumerate() {
            assert_eq!(time as usize, i);
        }
        let ids: BTreeSet<&str> = all.iter().map(|metric| metric.info().id).collect();
        assert_eq!(ids.len(), all.len());
        for metric in all {
            let info = metric.info();
            assert!(!info.name.is_empty(), "{metric:?} has no row");
            assert!(info.label.iter().all(|label| !label.is_empty()), "{metric:?}");
            let compared = info.places.iter().any(|(place, ..)| *place == Place::Compare);
            let named = |all: [&str; 2]| all.iter().all(|text| !text.is_empty());
            let has_title = named(info.title) || metric.is_time() || metric == Metric::Shed;
            assert!(!compared || has_title, "{metric:?} has no title");
        }
    }

    #[test]
    fn no_two_metrics_share_a_rank() {
        let mut seen = BTreeSet::new();
        for (place, rank, _) in Metric::all().flat_map(|metric| metric.info().places) {
            assert!(seen.insert((format!("{place:?}"), rank)), "{place:?} {rank}");
        }
    }
}
