//! A distribution of samples: percentiles, with intervals and what may be said of them.

use super::Ranges;
use serde::{Deserialize, Serialize};

/// A distribution of exact samples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples.
    pub count: Option<u64>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub std: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 66th percentile.
    pub p66: Option<f64>,
    /// 75th percentile.
    pub p75: Option<f64>,
    /// 80th percentile.
    pub p80: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 98th percentile.
    pub p98: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p99_9: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// 95 % intervals.
    pub ci95: Intervals95,
    /// Instrument ranges; absent where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instrument: Option<Ranges>,
    /// Percentiles with fewer than ten samples beyond them.
    pub marked: Vec<String>,
    /// Statistics that the client could measure only roughly: tables mark them `~`, or show their
    /// instrument range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncertain: Vec<String>,
}

/// 95 % intervals, `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Intervals95 {
    /// Of the mean.
    pub mean: Option<[f64; 2]>,
    /// Of the median.
    pub p50: Option<[f64; 2]>,
    /// Of the 90th percentile.
    pub p90: Option<[f64; 2]>,
    /// Of the 99th percentile.
    pub p99: Option<[f64; 2]>,
}
