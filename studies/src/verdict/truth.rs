//! The true times, from the engine's ledger. Each is an interval: a token left between the clock readings
//! before and after its write.

use anyhow::{Context, Result, ensure};
use std::path::Path;

/// The metrics that are compared, as `summary.json` calls them.
pub(super) const TIMES: [&str; 4] = ["ttft_ms", "itl_ms", "tpot_ms", "latency_ms"];
pub(super) const STATISTICS: [&str; 4] = ["mean", "p50", "p90", "p99"];

/// The true metrics of a level, as lower and upper bounds.
pub(super) struct Truth {
    /// For each of [`TIMES`] its [`STATISTICS`], in milliseconds.
    pub(super) times: Vec<[[f64; 2]; 4]>,
    /// What the server would have done with all slots in flight all the time.
    pub(super) requests_per_s: [f64; 2],
    pub(super) requests: usize,
    pub(super) tokens_per_slot: f64,
}

impl Truth {
    pub(super) fn read(ledger: &Path, tokens: u32, slots: u32) -> Result<Self> {
        let text = std::fs::read_to_string(ledger).context("the engine kept no ledger")?;
        let mut samples: [Vec<[f64; 2]>; 4] = Default::default();
        let mut requests = 0;
        for line in text.lines() {
            let entry: serde_json::Value = serde_json::from_str(line)?;
            let came = entry["came"].as_f64().context("no `came`")?;
            let numbers = |write: &serde_json::Value, at: usize| write[at].as_u64().unwrap_or(0);
            let came_ns = entry["came"].as_u64().unwrap_or(came as u64);
            let writes = entry["writes"].as_array().context("no `writes`")?;
            let all: u64 = writes.iter().map(|write| numbers(write, 2)).sum();
            // The preflight's responses are shorter.
            if all != u64::from(tokens) {
                continue;
            }
            requests += 1;
            let at = |i: usize, end: usize| {
                (numbers(&writes[i], end) as i64 - came_ns as i64) as f64 / 1e6
            };
            let last = writes.len() - 1;
            let of = |from: [f64; 2], to: [f64; 2]| [to[0] - from[1], to[1] - from[0]];
            let event = |i: usize| [at(i, 0), at(i, 1)];
            samples[0].push(event(0));
            for i in 1..=last {
                samples[1].push(of(event(i - 1), event(i)));
            }
            samples[2].push(of(event(0), event(last)).map(|ms| ms / f64::from(tokens - 1)));
            samples[3].push(event(last));
        }
        ensure!(requests > 0, "the ledger has no response of {tokens} tokens");
        let latency = ends(&samples[3], mean);
        let per_s = |ms: f64| f64::from(slots) * 1e3 / ms;
        Ok(Self {
            times: samples.iter().map(|samples| statistics(samples)).collect(),
            requests_per_s: [per_s(latency[1]), per_s(latency[0])],
            requests,
            tokens_per_slot: requests as f64 * f64::from(tokens) / f64::from(slots),
        })
    }
}

fn statistics(samples: &[[f64; 2]]) -> [[f64; 2]; 4] {
    let quantile = |q: f64| ends(samples, |sorted| at(sorted, q));
    [ends(samples, mean), quantile(0.5), quantile(0.9), quantile(0.99)]
}

fn ends(samples: &[[f64; 2]], of: impl Fn(&[f64]) -> f64) -> [f64; 2] {
    [0, 1].map(|end| {
        let mut values: Vec<f64> = samples.iter().map(|sample| sample[end]).collect();
        values.sort_by(f64::total_cmp);
        of(&values)
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A percentile by linear interpolation.
fn at(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (sorted[high] - sorted[low]) * part
}
