//! How far the engine was behind its own schedule.

use dyno_model::Nanos;
use dyno_model::frame::EngineSlip;
use dyno_model::lag::DelayHistogram;
use serde::{Deserialize, Serialize};

/// The body of `GET /dyno/slip`: the lateness of all writes and, if the engine has steps, of the
/// first and the last write of each step. It also deserialises as a plain [`EngineSlip`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlipReport {
    /// Of all writes.
    #[serde(flatten)]
    pub all: EngineSlip,
    /// Of the first write of each step; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<EngineSlip>,
    /// Of the last write of each step; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<EngineSlip>,
}

/// Lateness of every due write.
#[derive(Debug, Default)]
pub(crate) struct Slip {
    histogram: DelayHistogram,
    sum: Nanos,
}

impl Slip {
    /// A write that was due at `due` had been made at `now`.
    pub(crate) fn record(&mut self, due: Nanos, now: Nanos) {
        let late = now.saturating_sub(due);
        self.histogram.record(late);
        self.sum = self.sum.saturating_add(late);
    }

    /// Starts counting from zero.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// The statistics as they are sent; all zero while `count` is zero.
    pub(crate) fn snapshot(&self) -> EngineSlip {
        let count = self.histogram.count();
        EngineSlip {
            count,
            mean_ns: self.sum.checked_div(count),
            p50_ns: self.histogram.quantile(0.5).unwrap_or(0),
            p99_ns: self.histogram.quantile(0.99).unwrap_or(0),
            max_ns: self.histogram.max().unwrap_or(0),
        }
    }

    /// The statistics; absent if nothing was written.
    pub(crate) fn some(&self) -> Option<EngineSlip> {
        (self.histogram.count() > 0).then(|| self.snapshot())
    }

    /// The statistics as a Prometheus summary in seconds.
    pub(crate) fn prometheus(&self, name: &str, help: &str) -> String {
        let mut text = format!("# HELP {name} {help}\n# TYPE {name} summary\n");
        for q in [0.5, 0.9, 0.99, 1.0] {
            if let Some(value) = self.histogram.quantile(q) {
                text += &format!("{name}{{quantile=\"{q}\"}} {}\n", value as f64 / 1e9);
            }
        }
        let (sum, count) = (self.sum as f64 / 1e9, self.histogram.count());
        text + &format!("{name}_sum {sum}\n{name}_count {count}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_is_not_late_and_nothing_has_no_quantiles() {
        let mut slip = Slip::default();
        assert!(!slip.prometheus("slip", "Late.").contains("quantile"));
        assert_eq!(slip.some(), None);
        slip.record(10, 5);
        slip.record(1_000, 3_000);
        let snapshot = slip.snapshot();
        assert_eq!((snapshot.count, snapshot.p50_ns, snapshot.max_ns), (2, 0, 2_000));
        assert!(slip.prometheus("slip", "Late.").contains("\nslip_count 2"));
        slip.reset();
        assert_eq!(slip.snapshot().count, 0);
    }

    #[test]
    fn a_report_with_steps_reads_as_a_plain_slip() {
        let all = EngineSlip { count: 3, mean_ns: Some(2), p50_ns: 1, p99_ns: 2, max_ns: 3 };
        let last = EngineSlip { count: 1, mean_ns: None, p50_ns: 3, p99_ns: 3, max_ns: 3 };
        let report = SlipReport { all, first: None, last: Some(last) };
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<EngineSlip>(&text).unwrap(), all);
        assert_eq!(serde_json::from_str::<SlipReport>(&text).unwrap(), report);
        assert!(!text.contains("first"));
    }
}
