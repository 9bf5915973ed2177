//! How exactly a level was measured.

use crate::metric::Statistic;
use serde::{Deserialize, Serialize};

/// The source of receive times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stamps {
    /// The kernel: when packets arrived.
    Kernel,
    /// The client: when it read them.
    Client,
    /// The kernel, for some of the reads.
    Mixed,
    /// None: time was virtual.
    Virtual,
}

/// The accuracy of a level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InstrumentSummary {
    /// The source of receive times, where that is known.
    pub stamps: Option<Stamps>,
    /// Of the headline throughput.
    pub throughput: ThroughputRanges,
    /// Closed loop: the share of its concurrency that the client really kept in flight.
    pub effective_concurrency: Option<f64>,
}

/// Ranges of throughput, `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ThroughputRanges {
    /// Of completed requests.
    pub requests_per_s: Option<[f64; 2]>,
    /// Of output tokens.
    pub output_tokens_per_s: Option<[f64; 2]>,
    /// Of input and output tokens.
    pub total_tokens_per_s: Option<[f64; 2]>,
    /// Of texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs_per_s: Option<[f64; 2]>,
    /// Of input tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens_per_s: Option<[f64; 2]>,
}

/// Ranges of the statistics of a time, `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Ranges {
    /// Of the mean.
    pub mean: Option<[f64; 2]>,
    /// Of the median.
    pub p50: Option<[f64; 2]>,
    /// Of the 90th percentile.
    pub p90: Option<[f64; 2]>,
    /// Of the 95th percentile.
    pub p95: Option<[f64; 2]>,
    /// Of the 99th percentile.
    pub p99: Option<[f64; 2]>,
    /// Of the 66th percentile; this and the following are absent where the value is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p66: Option<[f64; 2]>,
    /// Of the 75th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p75: Option<[f64; 2]>,
    /// Of the 80th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p80: Option<[f64; 2]>,
    /// Of the 98th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p98: Option<[f64; 2]>,
    /// Of the 99.9th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_9: Option<[f64; 2]>,
    /// Of the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<[f64; 2]>,
}

impl Ranges {
    /// The statistics that always have one.
    pub const OF: [Statistic; 5] =
        [Statistic::Mean, Statistic::P50, Statistic::P90, Statistic::P95, Statistic::P99];

    /// Computes the range of each statistic.
    pub fn new(mut of: impl FnMut(Statistic) -> Option<[f64; 2]>) -> Self {
        let [mean, p50, p90, p95, p99] = Self::OF.map(&mut of);
        let mut inexact = |statistic| of(statistic).filter(|[low, high]| low != high);
        Self {
            mean,
            p50,
            p90,
            p95,
            p99,
            p66: inexact(Statistic::P66),
            p75: inexact(Statistic::P75),
            p80: inexact(Statistic::P80),
            p98: inexact(Statistic::P98),
            p99_9: inexact(Statistic::P99_9),
            max: inexact(Statistic::Max),
        }
    }

    /// The range of a statistic.
    pub fn get(&self, statistic: Statistic) -> Option<[f64; 2]> {
        match statistic {
            Statistic::Mean => self.mean,
            Statistic::P50 => self.p50,
            Statistic::P66 => self.p66,
            Statistic::P75 => self.p75,
            Statistic::P80 => self.p80,
            Statistic::P90 => self.p90,
            Statistic::P95 => self.p95,
            Statistic::P98 => self.p98,
            Statistic::P99 => self.p99,
            Statistic::P99_9 => self.p99_9,
            Statistic::Max => self.max,
            Statistic::Std | Statistic::Min => None,
        }
    }
}
