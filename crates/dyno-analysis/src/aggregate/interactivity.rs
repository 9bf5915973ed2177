//! How fast users see output, with and without the time of the prompt.

use super::distributions::describe;
use super::request_times::request_times;
use dyno_model::metric::Time;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{Distribution, Interactivity, Slowest, round6, tidy};
use dyno_stats::Counted;

/// Completed requests with output, from the first reading.
#[derive(Debug, Default)]
pub(crate) struct Speeds {
    /// Latency divided by output tokens, in nanoseconds.
    per_token: Vec<u64>,
    tokens: u128,
    latency: u128,
}

impl Speeds {
    /// A completed request.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        let latency = request_times(record)[Time::Latency].filter(|latency| *latency > 0);
        let tokens = record.output.map(|output| output.tokens).filter(|tokens| *tokens > 0);
        let (Some(latency), Some(tokens)) = (latency, tokens) else { return };
        self.per_token.push((latency + tokens / 2) / tokens);
        self.tokens += u128::from(tokens);
        self.latency += u128::from(latency);
    }

    /// The speeds; nothing where no request has one. `latencies` mean something, and are not those of a growing queue.
    pub(crate) fn summary(
        &self,
        tpot: Option<&Distribution>,
        latencies: bool,
    ) -> Option<Interactivity> {
        let per_token = describe(&Counted::from_samples(self.per_token.clone()));
        let request = per_token.as_ref().filter(|_| latencies);
        let overall = request.and_then(|_| tidy(self.tokens as f64 / (self.latency as f64 / 1e9)));
        let decoding = tpot.map(slowest).unwrap_or_default();
        let request = request.map(slowest).unwrap_or_default();
        let known = overall.is_some() || decoding.p50.is_some();
        known.then_some(Interactivity { decoding, request, overall })
    }
}

/// The inverses of times per token, in milliseconds.
fn slowest(times: &Distribution) -> Slowest {
    let speed = |time: Option<f64>| time.filter(|time| *time > 0.0).map(|time| round6(1e3 / time));
    Slowest { p50: speed(times.p50), p75: speed(times.p75), p90: speed(times.p90) }
}
