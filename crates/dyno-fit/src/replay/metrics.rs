//! The metrics of a level, by the definitions of its client.

use super::client::Timing;
use crate::table::{Offer, TableEnd, TableLevel};
use dyno_engine::twin::reference::ReferenceValue;
use dyno_stats::by_rank;
use std::collections::BTreeMap;

/// The metrics of `level`, from its completed requests; nothing if there are none.
pub(super) fn metrics(
    level: &TableLevel,
    timings: &[Timing],
) -> Option<BTreeMap<ReferenceValue, f64>> {
    let summary = Summary::new(level, timings)?;
    let wanted = level.metrics.keys();
    let all = wanted.filter_map(|figure| Some((*figure, summary.figure(*figure)?)));
    Some(all.collect())
}

struct Summary<'a> {
    level: &'a TableLevel,
    timings: &'a [Timing],
    span: f64,
}

impl<'a> Summary<'a> {
    fn new(level: &'a TableLevel, timings: &'a [Timing]) -> Option<Self> {
        let late = match level.offer {
            Offer::Load { end: TableEnd::Requests { noticed_s, .. }, .. }
            | Offer::Unknown { end: TableEnd::Requests { noticed_s, .. } } => noticed_s,
            _ => 0.0,
        };
        let span = timings.last()?.end - timings.first()?.start + late;
        (span > 0.0).then_some(Self { level, timings, span })
    }

    fn figure(&self, figure: ReferenceValue) -> Option<f64> {
        let number = self.timings.len() as f64;
        let output = || self.level.counted.unwrap_or(self.mean(|t| f64::from(t.output)));
        Some(match figure {
            ReferenceValue::Total | ReferenceValue::Succeeded => number,
            ReferenceValue::DurationS => self.span,
            ReferenceValue::CompletedRate => number / self.span,
            ReferenceValue::OutputTokensPerS => number * output() / self.span,
            ReferenceValue::TotalTokensPerS => number * (self.level.input + output()) / self.span,
            ReferenceValue::OutputTokens => output(),
            ReferenceValue::LatencyS => self.mean(latency),
            ReferenceValue::P50S => self.percentile(50.0, latency),
            ReferenceValue::P66S => self.percentile(66.0, latency),
            ReferenceValue::P75S => self.percentile(75.0, latency),
            ReferenceValue::P80S => self.percentile(80.0, latency),
            ReferenceValue::P90S => self.percentile(90.0, latency),
            ReferenceValue::P95S => self.percentile(95.0, latency),
            ReferenceValue::P98S => self.percentile(98.0, latency),
            ReferenceValue::P99S => self.percentile(99.0, latency),
            ReferenceValue::TtftMs => self.mean(first_ms),
            ReferenceValue::TtftP50Ms => self.percentile(50.0, first_ms),
            ReferenceValue::TtftP99Ms => self.percentile(99.0, first_ms),
            ReferenceValue::TpotMs => self.mean(gap_ms),
            ReferenceValue::TpotP50Ms => self.percentile(50.0, gap_ms),
            ReferenceValue::TpotP99Ms => self.percentile(99.0, gap_ms),
            ReferenceValue::ItlMs => self.between_tokens()?,
            ReferenceValue::LatencyPerOutputTokenMs => 1e3 * self.mean(latency) / output(),
            ReferenceValue::LatencyPerTokenMs => {
                1e3 * self.mean(latency) / (self.level.input + output())
            }
            _ => return None,
        })
    }

    fn mean(&self, of: impl Fn(&Timing) -> f64) -> f64 {
        self.timings.iter().map(of).sum::<f64>() / self.timings.len() as f64
    }

    /// The nearest-rank percentile, rounded down.
    fn percentile(&self, percent: f64, of: impl Fn(&Timing) -> f64) -> f64 {
        let mut values: Vec<f64> = self.timings.iter().map(of).collect();
        by_rank(&mut values, percent / 100.0).unwrap_or_default()
    }

    /// The mean time between tokens. A client that skips the last one sees one gap less and
    /// divides by the number of tokens that it counted.
    fn between_tokens(&self) -> Option<f64> {
        let gaps = |timing: &Timing| f64::from(timing.output) - 1.0;
        let time = |timing: &Timing| 1e3 * (timing.end - timing.first);
        let mean = match self.level.counted {
            Some(counted) => {
                self.mean(|t| time(t) * (1.0 - 1.0 / gaps(t).max(1.0))) / (counted - 1.0)
            }
            None => self.mean(time) / self.mean(gaps),
        };
        (mean.is_finite() && mean > 0.0).then_some(mean)
    }
}

fn latency(timing: &Timing) -> f64 {
    timing.end - timing.start
}

fn first_ms(timing: &Timing) -> f64 {
    1e3 * (timing.first - timing.start)
}

fn gap_ms(timing: &Timing) -> f64 {
    1e3 * (timing.end - timing.first) / (f64::from(timing.output) - 1.0).max(1.0)
}
