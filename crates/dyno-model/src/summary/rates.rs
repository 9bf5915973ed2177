//! How much was done per second, and how much at once.

use crate::metric::Metric;
use serde::{Deserialize, Serialize};

/// Throughput.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Throughput {
    /// Completed requests.
    pub requests_per_s: Option<f64>,
    /// Output tokens of completed requests.
    pub output_tokens_per_s: Option<f64>,
    /// Input and output tokens of completed requests.
    pub total_tokens_per_s: Option<f64>,
    /// Texts of completed requests, where nothing is generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs_per_s: Option<f64>,
    /// Input tokens of these requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens_per_s: Option<f64>,
    /// Bytes of the bodies of their responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_bytes_per_s: Option<f64>,
}

impl Throughput {
    /// A rate among these, in the unit of its metric.
    pub fn rate(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::RequestRate => self.requests_per_s,
            Metric::OutputRate => self.output_tokens_per_s,
            Metric::TotalRate => self.total_tokens_per_s,
            Metric::InputRate => self.inputs_per_s,
            Metric::InputTokenRate => self.input_tokens_per_s,
            Metric::BodyRate => Some(self.body_bytes_per_s? / 1e6),
            _ => None,
        }
    }
}

/// Throughput in the steady window, by the work done in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Length of the window.
    pub window_s: f64,
    /// Throughput within it.
    #[serde(flatten)]
    pub throughput: Throughput,
}

/// Requests in flight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Concurrency {
    /// Time-weighted mean.
    pub mean: f64,
    /// The most at once.
    pub peak: u64,
    /// Relative change over an open loop, where there is a trend: 0.5 is 50 % more.
    pub growth: Option<f64>,
}
