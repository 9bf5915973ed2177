//! The metrics that are compared: those that the registry lists for comparisons.

use dyno_model::load::LoadKind;
use dyno_model::metric::{Better as Way, Metric, Place, Statistic, Time};
use dyno_model::summary::{Distribution, LevelSummary};
use dyno_stats::compare::{Better, OneRunFigure};
use dyno_stats::stability;
use serde::{Serialize, Serializer};

/// A metric, or a statistic of one, that is compared. They are ordered as the registry ranks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Compared {
    rank: u8,
    /// The metric.
    pub metric: Metric,
    /// Which statistic, of a distribution.
    pub statistic: Option<Statistic>,
}

impl Compared {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let columns = Place::Compare.metrics().into_iter();
        let figures = columns.flat_map(|column| {
            let single = column.statistics.is_empty().then_some(None);
            let statistics = single.into_iter().chain(column.statistics.iter().copied().map(Some));
            statistics.map(move |statistic| (column.metric, statistic))
        });
        (0..).zip(figures).map(|(rank, (metric, statistic))| Self { rank, metric, statistic })
    }

    /// Its name on the command line and in files.
    pub fn name(self) -> String {
        let info = self.metric.info();
        match self.statistic {
            Some(statistic) => format!("{}_{}", info.column, statistic.key()),
            None => info.id.to_owned(),
        }
    }

    /// The metric with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|compared| compared.name() == name)
    }

    /// Whether it is the share of failed or of shed requests.
    pub fn is_share(self) -> bool {
        matches!(self.metric, Metric::Failures | Metric::Shed)
    }

    /// Whether it is the share of shed requests.
    pub fn is_shed(self) -> bool {
        self.metric == Metric::Shed
    }

    /// Which way it is better.
    pub fn better(self) -> Better {
        match self.metric.info().better {
            Way::Higher => Better::Higher,
            Way::Lower | Way::Neither => Better::Lower,
        }
    }

    /// Its kind of statistic.
    pub(super) fn statistic(self) -> stability::WatchedStatistic {
        match self.statistic {
            Some(Statistic::P99) => stability::WatchedStatistic::P99,
            _ => stability::WatchedStatistic::Mean,
        }
    }

    /// Whether it is a time, in milliseconds.
    pub fn is_time(self) -> bool {
        self.metric.is_time()
    }

    /// Whether it is a time between tokens: ITL, TPOT, or the gap between the events of a stream. A
    /// comparison shows one of them.
    pub(super) fn is_between_tokens(self) -> bool {
        matches!(self.metric, Metric::Time(Time::Itl | Time::Tpot | Time::ChunkGap))
    }

    /// Whether the client could not measure it precisely at a level, so that it cannot be compared.
    pub(super) fn is_unknown(self, level: &LevelSummary) -> bool {
        level.is_inconclusive(self.metric, self.statistic)
    }

    /// Its value at a level, with its interval where there is one; shares are between 0 and 1.
    pub(super) fn of(self, level: &LevelSummary) -> Option<OneRunFigure> {
        let plain = |value: f64| OneRunFigure { value, interval: None };
        let work = level.steady_throughput();
        match self.metric {
            Metric::RequestRate
            | Metric::OutputRate
            | Metric::InputRate
            | Metric::InputTokenRate => rate(level, work.rate(self.metric)),
            Metric::Failures => level.requests.failed_share().map(plain),
            Metric::Shed => shed(level).map(plain),
            // Where responses were not streamed, TTFT would repeat the latency.
            metric if metric.needs_stream() && level.is_whole() => None,
            Metric::Time(_) => {
                let figure = figure(self.metric.distribution(level)?, self.statistic?)?;
                (figure.value > 0.0 || !self.is_between_tokens()).then_some(figure)
            }
            metric => metric.value(level).map(plain),
        }
    }
}

impl Serialize for Compared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// Nothing was shed where nothing failed, even if the two were not told apart.
fn shed(level: &LevelSummary) -> Option<f64> {
    let counts = &level.requests;
    match (counts.shed, counts.refused()?) {
        (None, 1..) => None,
        _ => counts.failure_share().map(|_| counts.shed_share().unwrap_or_default()),
    }
}

fn figure(of: &Distribution, statistic: Statistic) -> Option<OneRunFigure> {
    Some(OneRunFigure { value: of.get(statistic)?, interval: of.interval(statistic) })
}

/// A rate has no samples. In a closed loop it is concurrency divided by latency, and varies as latency
/// does; an open loop completes what is offered.
fn rate(level: &LevelSummary, rate: Option<f64>) -> Option<OneRunFigure> {
    let rate = rate?;
    let latency = level.times[dyno_model::metric::Time::Latency].as_ref();
    let latency = latency.and_then(|latency| figure(latency, Statistic::Mean));
    match latency.filter(|_| level.load.kind == LoadKind::Concurrency) {
        Some(latency) => Some(OneRunFigure::by_latency(rate, latency)),
        None => Some(OneRunFigure { value: rate, interval: None }),
    }
}
