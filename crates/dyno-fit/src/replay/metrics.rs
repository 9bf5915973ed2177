//! The metrics of a level, by the definitions of its client.

use super::client::Timing;
use crate::table::{End, Level, Offer};
use dyno_engine::twin::reference::Figure;
use dyno_stats::by_rank;
use std::collections::BTreeMap;

/// The metrics of `level`, from its completed requests; nothing if there are none.
pub(super) fn metrics(level: &Level, timings: &[Timing]) -> Option<BTreeMap<Figure, f64>> {
    let summary = Summary::new(level, timings)?;
    let wanted = level.metrics.keys();
    let all = wanted.filter_map(|figure| Some((*figure, summary.figure(*figure)?)));
    Some(all.collect())
}

struct Summary<'a> {
    level: &'a Level,
    timings: &'a [Timing],
    span: f64,
}

impl<'a> Summary<'a> {
    fn new(level: &'a Level, timings: &'a [Timing]) -> Option<Self> {
        let late = match level.offer {
            Offer::Load { end: End::Requests { noticed_s, .. }, .. }
            | Offer::Unknown { end: End::Requests { noticed_s, .. } } => noticed_s,
            _ => 0.0,
        };
        let span = timings.last()?.end - timings.first()?.start + late;
        (span > 0.0).then_some(Self { level, timings, span })
    }

    fn figure(&self, figure: Figure) -> Option<f64> {
        let number = self.timings.len() as f64;
        let output = || self.level.counted.unwrap_or(self.mean(|t| f64::from(t.output)));
        Some(match figure {
            Figure::Total | Figure::Succeeded => number,
            Figure::DurationS => self.span,
            Figure::CompletedRate => number / self.span,
            Figure::OutputTokensPerS => number * output() / self.span,
            Figure::TotalTokensPerS => number * (self.level.input + output()) / self.span,
            Figure::OutputTokens => output(),
            Figure::LatencyS => self.mean(latency),
            Figure::P50S => self.percentile(50.0, latency),
            Figure::P66S => self.percentile(66.0, latency),
            Figure::P75S => self.percentile(75.0, latency),
            Figure::P80S => self.percentile(80.0, latency),
            Figure::P90S => self.percentile(90.0, latency),
            Figure::P95S => self.percentile(95.0, latency),
            Figure::P98S => self.percentile(98.0, latency),
            Figure::P99S => self.percentile(99.0, latency),
            Figure::TtftMs => self.mean(first_ms),
            Figure::TtftP50Ms => self.percentile(50.0, first_ms),
            Figure::TtftP99Ms => self.percentile(99.0, first_ms),
            Figure::TpotMs => self.mean(gap_ms),
            Figure::TpotP50Ms => self.percentile(50.0, gap_ms),
            Figure::TpotP99Ms => self.percentile(99.0, gap_ms),
            Figure::ItlMs => self.between_tokens()?,
            Figure::LatencyPerOutputTokenMs => 1e3 * self.mean(latency) / output(),
            Figure::LatencyPerTokenMs => 1e3 * self.mean(latency) / (self.level.input + output()),
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
