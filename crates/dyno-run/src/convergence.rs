//! `--until-stable`: whether the watched metric of a level has converged.

use dyno_analysis::request_times;
use dyno_model::Nanos;
use dyno_model::level_schedule::{MetricStatistic, Until};
use dyno_model::metric::Time;
use dyno_model::outcome::Outcome;
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::slo::{Metric, Statistic};
use dyno_model::units::to_ms;
use dyno_stats::{StabilityWatch, Standing};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Watches one level.
pub(super) struct ConvergenceWatch {
    figure: MetricStatistic,
    least: Nanos,
    began: Option<Nanos>,
    watch: Watching,
}

/// Where intervals are computed.
enum Watching {
    /// On this thread: virtual time stands still meanwhile.
    Here(Box<StabilityWatch>),
    /// On another thread, so that requests do not wait for it.
    Apart(Sender<f64>, Arc<AtomicBool>),
}

impl ConvergenceWatch {
    /// Watches for `until`; in virtual time, where nothing waits, on this thread.
    pub(super) fn new(until: &Until, in_virtual_time: bool) -> Option<Self> {
        let mut watch = StabilityWatch::new(statistic(until.figure.statistic)?, until.precision);
        let watch = if in_virtual_time {
            Watching::Here(Box::new(watch))
        } else {
            let (sender, samples) = channel::<f64>();
            let known = Arc::new(AtomicBool::new(false));
            let result = Arc::clone(&known);
            thread::Builder::new()
                .name("enough".to_owned())
                .spawn(move || {
                    while let Ok(sample) = samples.recv() {
                        watch.add(sample);
                        samples.try_iter().for_each(|sample| watch.add(sample));
                        result.store(is_known(watch.ask()), Relaxed);
                    }
                })
                .ok()?;
            Watching::Apart(sender, known)
        };
        Some(Self { figure: until.figure, least: until.least_ns, began: None, watch })
    }

    /// A request has ended.
    pub(super) fn add(&mut self, record: &RequestRecord) {
        if record.phase != Phase::Measured || record.outcome != Outcome::Completed {
            return;
        }
        self.began.get_or_insert(record.intended);
        let Some(sample) = sample(self.figure.metric, record) else { return };
        match &mut self.watch {
            Watching::Here(watch) => watch.add(sample),
            // Without the other thread the level runs to its bounds.
            Watching::Apart(sender, _) => drop(sender.send(sample)),
        }
    }

    /// Whether the level may stop.
    pub(super) fn is_known(&mut self, now: Nanos) -> bool {
        if self.began.is_none_or(|began| now < began.saturating_add(self.least)) {
            return false;
        }
        match &mut self.watch {
            Watching::Here(watch) => is_known(watch.ask()),
            Watching::Apart(_, known) => known.load(Relaxed),
        }
    }
}

fn is_known(standing: Standing) -> bool {
    matches!(standing, Standing::Known(_))
}

/// Percentiles other than these cannot be watched.
fn statistic(statistic: Statistic) -> Option<dyno_stats::WatchedStatistic> {
    match statistic {
        Statistic::Mean => Some(dyno_stats::WatchedStatistic::Mean),
        Statistic::P50 => Some(dyno_stats::WatchedStatistic::P50),
        Statistic::P90 => Some(dyno_stats::WatchedStatistic::P90),
        Statistic::P95 => Some(dyno_stats::WatchedStatistic::P95),
        Statistic::P99 => Some(dyno_stats::WatchedStatistic::P99),
        _ => None,
    }
}

/// Whether a metric can be watched.
pub fn can_watch(figure: &MetricStatistic) -> bool {
    statistic(figure.statistic).is_some() && figure.metric != Metric::Time(Time::Itl)
}

/// A request's own time, in milliseconds.
fn sample(metric: Metric, record: &RequestRecord) -> Option<f64> {
    request_times(record)[metric.time()?].map(to_ms)
}
