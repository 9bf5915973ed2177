//! What happens between the levels of a run, and how the next one is chosen.

use crate::message::{Message, message};
use crate::plan::Arrival;
use crate::slo::{Condition, Metric, Slo, Statistic, Term};
use crate::text_form::saved_as_text;
use crate::versus::Versus;
use crate::{Nanos, SEC};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The course of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LevelSchedule {
    /// Pause between levels, after the previous one has drained.
    #[serde(skip_serializing_if = "is_zero")]
    pub cooldown_ns: Nanos,
    /// The server's prefix cache is reset before each level.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reset_cache: bool,
    /// Conditions after which no more levels are run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_on: Vec<Condition>,
    /// The search that chooses levels from earlier results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// The run alternates with another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versus: Option<Versus>,
}

impl LevelSchedule {
    /// Whether the levels of the plan are simply run in order.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// When a level is stable enough to stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// The metric, such as `ttft.p50`.
    pub figure: MetricStatistic,
    /// The half-width of its interval to reach, relative to its value.
    pub precision: f64,
    /// The minimum duration.
    pub least_ns: Nanos,
}

/// A statistic of a time that every request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct MetricStatistic {
    /// Which time.
    pub metric: Metric,
    /// Which statistic of it.
    pub statistic: Statistic,
}

impl FromStr for MetricStatistic {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        // The SLO parser knows all metrics and suggests corrections.
        let slo: Slo = format!("{text}<1s").parse()?;
        match slo.terms() {
            [Term { metric, statistic: Some(statistic), .. }] if metric.is_time() => {
                Ok(Self { metric: *metric, statistic: *statistic })
            }
            _ => Err(message!(
                "`{text}` is not a statistic of a time; write ttft.p50, for example",
                "`{text}` 不是时间的统计量；请写例如 ttft.p50"
            )),
        }
    }
}

impl fmt::Display for MetricStatistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.metric.name(), self.statistic.name())
    }
}

saved_as_text!(MetricStatistic);

/// How levels are chosen during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Search {
    /// Rates between one request at a time and maximum throughput.
    Sweep {
        /// Levels in all.
        points: u32,
        /// Where they lie.
        spacing: Spacing,
        /// How arrivals are spaced at each rate.
        arrival: Arrival,
    },
    /// A closed loop that doubles until throughput stops rising, then refines the knee.
    Ladder {
        /// The most in flight.
        most: u32,
        /// Requests per slot; absent: every level is as long as the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_slot: Option<u64>,
    },
    /// The highest load that meets the plan's SLO.
    Capacity {
        /// The kind of load to vary.
        over: Over,
        /// The range to search.
        range: Range,
        /// Levels at most.
        levels: u32,
        /// The relative width of the interval to reach: 0.06 is 6 %.
        width: f64,
        /// How arrivals are spaced at each rate.
        arrival: Arrival,
        /// Minimum number of requests per level, enough for the SLO's percentiles.
        least_requests: u64,
        /// A rough answer is enough: a queue gets less time to settle, and the search a budget.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        quick: bool,
    },
}

impl Search {
    /// A rough search begins no level after this time, once some load has met the SLO.
    const ROUGH: Nanos = 120 * SEC;

    /// The time after which it begins no more levels, if there is one.
    pub fn budget(&self) -> Option<Nanos> {
        matches!(self, Self::Capacity { quick: true, .. }).then_some(Self::ROUGH)
    }
}

/// A kind of load that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Requests per second.
    Rate,
    /// Requests in flight.
    Concurrency,
}

/// Where a capacity is searched.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Range {
    /// Anywhere.
    Unknown,
    /// Near this load.
    Near(f64),
    /// Only between these.
    Between([f64; 2]),
}

/// The spacing of rates in a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Denser near the knee.
    Bend,
    /// In equal steps.
    Linear,
}

fn is_zero(nanos: &Nanos) -> bool {
    *nanos == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_in_slos() {
        let figure: MetricStatistic = "TTFT.p99".parse().unwrap();
        assert_eq!(figure.to_string(), "ttft.p99");
        assert!("tfft.p99".parse::<MetricStatistic>().unwrap_err().to_string().contains("ttft"));
        assert!("ttft".parse::<MetricStatistic>().is_err());
        assert!("errors".parse::<MetricStatistic>().is_err());
        assert!("ttft.p99<1s and tpot.p50".parse::<MetricStatistic>().is_err());
    }
}
