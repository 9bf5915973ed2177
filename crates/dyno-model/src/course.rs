//! How a run goes from level to level: what happens between them, and who chooses the next.

use crate::Nanos;
use crate::plan::Arrival;
use crate::slo::{Condition, Metric, Slo, SloError, Statistic, Term};
use crate::text_form::saved_as_text;
use crate::versus::Versus;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// From level to level.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// Rest between levels, once nothing is in flight.
    #[serde(skip_serializing_if = "is_zero")]
    pub cooldown_ns: Nanos,
    /// The server is asked to forget what it has cached before each level.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reset_cache: bool,
    /// No more levels are run once a level meets one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_on: Vec<Condition>,
    /// Levels are chosen by what the levels before them showed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// The run takes turns with another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versus: Option<Versus>,
}

impl Course {
    /// Level after level, as they stand in the plan.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// When a level has shown enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// The figure that is to be known: `ttft.p50`.
    pub figure: Figure,
    /// To ± this share of its value.
    pub precision: f64,
    /// Not before so long.
    pub least_ns: Nanos,
}

/// A statistic of a time that every request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Figure {
    /// Which time.
    pub metric: Metric,
    /// Which statistic of it.
    pub statistic: Statistic,
}

impl FromStr for Figure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The language of SLOs knows all figures, and how they are misspelt.
        let slo: Slo = format!("{text}<1s").parse().map_err(|error: SloError| error.to_string())?;
        match slo.terms() {
            [Term { metric, statistic: Some(statistic), .. }] if metric.is_time() => {
                Ok(Self { metric: *metric, statistic: *statistic })
            }
            _ => Err(format!("`{text}` is not one figure of a time; write ttft.p50, for example")),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.metric.name(), self.statistic.name())
    }
}

saved_as_text!(Figure);

/// What the levels to come are chosen for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Search {
    /// Rates between one request at a time and as many as the server completes.
    Sweep {
        /// Levels in all.
        points: u32,
        /// Where they lie.
        spacing: Spacing,
        /// How arrivals are spaced at each rate.
        arrival: Arrival,
    },
    /// A closed loop that doubles until throughput stops rising, then fills in the knee.
    Ladder {
        /// The most in flight.
        most: u32,
        /// Requests for each that is in flight; absent: every level is as long as the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_slot: Option<u64>,
    },
    /// The highest load that keeps the plan's SLO.
    Capacity {
        /// Of which kind of load.
        over: Over,
        /// Where it is looked for.
        range: Range,
        /// Levels at most.
        levels: u32,
        /// How far apart the ends of the answer may be: 0.06 is 6 %.
        width: f64,
        /// How arrivals are spaced at each rate.
        arrival: Arrival,
        /// Requests that a level has at least, so that the SLO's percentiles can be told.
        least_requests: u64,
    },
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

/// Where an edge is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Range {
    /// Wherever it may be.
    Unknown,
    /// About there.
    Near(f64),
    /// Nowhere but between these.
    Between([f64; 2]),
}

/// Where the rates of a sweep lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Where the curve bends.
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
        let figure: Figure = "TTFT.p99".parse().unwrap();
        assert_eq!(figure.to_string(), "ttft.p99");
        assert!("tfft.p99".parse::<Figure>().unwrap_err().contains("ttft"));
        assert!("ttft".parse::<Figure>().is_err());
        assert!("errors".parse::<Figure>().is_err());
        assert!("ttft.p99<1s and tpot.p50".parse::<Figure>().is_err());
    }
}
