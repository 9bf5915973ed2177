//! Records every frame of a level, watches the target, and knows when enough was measured.

use super::convergence::ConvergenceWatch;
use super::estimate::{LevelProgress, RunEstimate};
use super::observer::RunObserver;
use super::pulse::Pulse;
use super::run_writer::RunWriter;
use dyno_drive::LevelRecorder;
use dyno_model::frame::{Frame, LevelStart};
use dyno_model::outcome::Outcome;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::record::RequestRecord;
use dyno_model::units::to_s;
use dyno_model::{Message, Nanos};

/// A completed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastSuccess {
    /// In which level, from 0.
    pub level: u32,
    /// Which of its requests.
    pub index: u64,
    /// When it was over, on the run's clock.
    pub at: Nanos,
}

/// The recorder of a level.
pub(super) struct Recording<'a> {
    pub(super) number: u32,
    pub(super) level: &'a LevelPlan,
    pub(super) observer: &'a dyn RunObserver,
    pub(super) writer: &'a RunWriter,
    /// The remaining levels, where the first response gives an estimate.
    pub(super) unestimated: Option<&'a [LevelPlan]>,
    pub(super) last_success: &'a mut Option<LastSuccess>,
    pub(super) pulse: Option<&'a mut Pulse>,
    pub(super) enough: Option<ConvergenceWatch>,
    /// Why the target was given up after it went silent.
    pub(super) lost: Option<Message>,
    /// The last request that ended had failed.
    pub(super) failed_last: bool,
    /// When the first request was due.
    pub(super) began: Nanos,
    pub(super) progress: LevelProgress,
}

impl Recording<'_> {
    fn progress(&mut self, record: &RequestRecord) {
        let progress = &mut self.progress;
        let seconds =
            |from: Option<Nanos>, to: Option<Nanos>| Some(to_s(to?.saturating_sub(from?)));
        let first = seconds(record.sent, record.first);
        progress.completed += 1;
        progress.shortest_ttft = match (progress.shortest_ttft, first) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if let (Some(time), Some(output)) = (seconds(record.first, record.last), record.output) {
            progress.decoding.0 += time;
            progress.decoding.1 += output.tokens.saturating_sub(1) as f64;
        }
        progress.seconds = to_s(record.end.saturating_sub(self.began));
        if let Some(to_come) = self.unestimated.filter(|_| progress.completed == 1) {
            // The requests sent together with it will complete at about the same time.
            let completed = match self.level.load {
                Load::Concurrency { concurrency } => u64::from(concurrency),
                Load::Burst { requests } => requests,
                _ => 1,
            };
            let first = LevelProgress { completed, ..*progress };
            if let Some(time) = RunEstimate::from_first_response(self.level, &first, to_come) {
                self.observer.time_left(0, 1 + to_come.len(), time);
            }
        }
    }
}

impl LevelRecorder for Recording<'_> {
    fn started(&mut self, started: Nanos) {
        self.began = started;
        self.writer.send(Frame::LevelStart(LevelStart { level: self.number, started }));
    }

    fn record(&mut self, record: Box<RequestRecord>) {
        // A server that refuses is there.
        self.failed_last = matches!(
            record.outcome,
            Outcome::Failed(_) | Outcome::Unconfirmed | Outcome::Dropped(_)
        ) && !record.outcome.is_overflow();
        if let Some(enough) = &mut self.enough {
            enough.add(&record);
        }
        if record.outcome == Outcome::Completed {
            let (level, index, at) = (record.level, record.index, record.end);
            *self.last_success = Some(LastSuccess { level, index, at });
            self.progress(&record);
        }
        self.writer.send(Frame::Request(record));
    }

    fn silent(&mut self, time: Nanos) -> bool {
        if self.lost.is_none()
            && let Some(pulse) = &mut self.pulse
        {
            self.lost = pulse.check(time);
        }
        self.lost.is_some()
    }

    fn has_converged(&mut self, now: Nanos) -> bool {
        self.enough.as_mut().is_some_and(|enough| enough.is_known(now))
    }

    fn must_stop(&self) -> bool {
        self.writer.is_losing(self.observer)
    }
}
