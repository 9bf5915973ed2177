//! Where measurements are expected to be, of a prediction.

use serde::{Deserialize, Serialize};

/// Intervals `[low, high]` that hold 95 % of measurements, by the errors of the twin on loads that it
/// was not fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PredictionIntervals {
    /// Of completed requests per second.
    pub requests_per_s: Option<[f64; 2]>,
    /// Of TTFT, in milliseconds.
    #[serde(rename = "ttft_ms")]
    pub ttft: PercentileIntervals,
    /// Of ITL, in milliseconds; the median alone.
    #[serde(rename = "itl_ms")]
    pub itl: PercentileIntervals,
    /// Of latency, in milliseconds.
    #[serde(rename = "latency_ms")]
    pub latency: PercentileIntervals,
}

/// Intervals of percentiles; absent where the percentile is.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PercentileIntervals {
    /// Of the median.
    pub p50: Option<[f64; 2]>,
    /// Of the 90th percentile.
    pub p90: Option<[f64; 2]>,
}
