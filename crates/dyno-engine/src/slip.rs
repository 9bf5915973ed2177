//! How late the engine was against its own schedule.

use dyno_core::Nanos;
use dyno_core::frame::EngineSlip;
use dyno_core::lag::LagHistogram;

/// Lateness of every due write.
#[derive(Debug, Default)]
pub(crate) struct Slip {
    histogram: LagHistogram,
    sum: Nanos,
}

impl Slip {
    /// A write that was due at `due` had been made at `now`.
    pub(crate) fn record(&mut self, due: Nanos, now: Nanos) {
        let late = now.saturating_sub(due);
        self.histogram.record(late);
        self.sum = self.sum.saturating_add(late);
    }

    /// Starts counting anew.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// The figures as they are exchanged; all zero while `count` is zero.
    pub(crate) fn snapshot(&self) -> EngineSlip {
        EngineSlip {
            count: self.histogram.count(),
            p50_ns: self.histogram.quantile(0.5).unwrap_or(0),
            p99_ns: self.histogram.quantile(0.99).unwrap_or(0),
            max_ns: self.histogram.max().unwrap_or(0),
        }
    }

    /// The figures as a Prometheus summary in seconds.
    pub(crate) fn prometheus(&self) -> String {
        let name = "dyno_engine_slip_seconds";
        let mut text =
            format!("# HELP {name} How late due tokens were written.\n# TYPE {name} summary\n");
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
        assert!(!slip.prometheus().contains("quantile"));
        slip.record(10, 5);
        slip.record(1_000, 3_000);
        let snapshot = slip.snapshot();
        assert_eq!((snapshot.count, snapshot.p50_ns, snapshot.max_ns), (2, 0, 2_000));
        assert!(slip.prometheus().contains("dyno_engine_slip_seconds_count 2"));
        slip.reset();
        assert_eq!(slip.snapshot().count, 0);
    }
}
