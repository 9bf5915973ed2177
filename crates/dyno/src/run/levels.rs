//! Runs a level of a plan, only when nothing of the last is in flight, and hands out every frame;
//! and what happens between levels.

use super::course::Leg;
use super::enough::Enough;
use super::metrics::Metrics;
use super::pulse::Pulse;
use super::recording::{LastSuccess, Recording, Watched};
use super::workload::{Sending, Workload};
use crate::progress::Live;
use dyno_analysis::{VecSource, summarise};
use dyno_drive::{LevelSetup, Lookahead, Stop, StopSignal, Transport, TransportError, run_level};
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::Nanos;
use dyno_model::frame::{Ending, EngineSlip, Frame, LevelChosen, LevelEnd, RunHeader};
use dyno_model::plan::{LevelPlan, Load, Plan, Warmup};
use dyno_model::record::RequestRecord;
use dyno_wire::encode::Encoder;
use std::io;
use std::time::Duration;

/// What is measured, or stands in for it.
pub(crate) trait Bench {
    /// What requests go through.
    fn transport(&mut self) -> &mut dyn Transport;

    /// How late an engine of our own was since the last time; nothing for anybody else's.
    fn slip(&mut self) -> Option<EngineSlip>;

    /// Rests for a while, or until the user has had enough.
    fn rest(&mut self, time: Nanos, stop: &StopSignal);

    /// Whether it still answers; what it said or did not say, if not.
    fn answers(&mut self, stop: &StopSignal) -> Result<(), String>;

    /// Makes it forget what it has cached; the words for the user if it cannot.
    fn forget(&mut self, stop: &StopSignal) -> Result<(), String>;

    /// Watches over its health while requests are under way, where that can be asked.
    fn pulse(&self, stop: &StopSignal) -> Option<Pulse>;

    /// The server's own figures, if it tells them; given away once.
    fn metrics(&mut self) -> Option<Metrics> {
        None
    }
}

/// What a run needs besides its plan.
pub(crate) struct Run<'a> {
    pub(crate) bench: &'a mut dyn Bench,
    pub(crate) encoder: &'a Encoder,
    pub(crate) workload: &'a Workload,
    pub(crate) live: &'a Live,
    pub(crate) stop: &'a StopSignal,
    /// Which run this is.
    pub(crate) header: RunHeader,
    /// Takes every frame, in order.
    pub(crate) sink: &'a dyn Fn(Frame),
    /// A reason to stop that is no one's wish.
    pub(crate) aborted: &'a dyn Fn() -> bool,
    /// Told what comes next, and how the last went.
    pub(crate) news: &'a dyn Fn(News<'_>),
}

/// What happens between levels.
pub(crate) enum News<'a> {
    /// The levels to come, of which there are some, will take about so long. `after` so many.
    Left { after: usize, of: usize, time: Duration },
    /// No more levels are run, for this reason.
    Enough(&'a Diagnostic),
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    pub(crate) ending: Ending,
    /// Prompts or conversations taken by each level, warm-up included.
    pub(crate) sent: Vec<u64>,
    /// How the target was lost.
    pub(crate) lost: Option<Lost>,
    /// The event loop's failure.
    pub(crate) error: Option<TransportError>,
}

/// How the target was lost.
#[derive(Debug)]
pub(crate) struct Lost {
    /// When, on the run's clock.
    pub(crate) at: Nanos,
    /// How it showed.
    pub(crate) words: String,
    /// The last request that was answered.
    pub(crate) last_success: Option<LastSuccess>,
}

impl Run<'_> {
    /// Nothing is in flight: rests, forgets, and asks whether anybody is there.
    pub(super) fn between(&mut self, plan: &Plan) -> Result<(), String> {
        if plan.course.cooldown_ns > 0 {
            self.bench.rest(plan.course.cooldown_ns, self.stop);
        }
        if plan.course.reset_cache {
            self.bench.forget(self.stop)?;
        }
        self.bench.answers(self.stop)
    }

    /// How a level went, by its frames.
    pub(super) fn sum_up(
        &self,
        plan: &Plan,
        leg: &Leg,
        frames: Vec<Frame>,
    ) -> Option<LevelSummary> {
        let chosen = LevelChosen { level: leg.index, plan: leg.plan.clone() };
        let chosen = leg.chosen.then(|| Frame::LevelChosen(Box::new(chosen)));
        let frames = chosen.into_iter().chain(frames).collect();
        let source = VecSource { header: self.header.clone(), frames, damaged: None };
        summarise(plan, None, &source).levels.pop()
    }

    /// Runs a level.
    pub(super) fn level(
        &mut self,
        plan: &Plan,
        leg: &Leg,
        levels: usize,
        watched: &Watched<'_>,
    ) -> Result<Done, TransportError> {
        let Leg { index: number, plan: level, .. } = leg;
        let mut payloads = match self.payloads(plan, *number, level) {
            // Making prompts may mean to ask the server, which Ctrl-C ends as it ends all else.
            Err(_) if self.stop.get() > Stop::No => {
                return Ok(Done { ending: Ending::Interrupted, sent: 0, lost: None });
            }
            payloads => payloads?,
        };
        let planned = level.requests.or(match level.load {
            Load::Burst { requests } => Some(requests),
            _ => self.workload.trace_length(),
        });
        let warmup = match level.warmup {
            Some(Warmup::Requests(n)) => n,
            _ => 0,
        };
        let planned = planned.map(|n| n + warmup);
        self.live.begin_level(*number as usize, levels, level, planned);
        self.bench.slip();
        let sink = |frame: Frame| {
            if let Some(kept) = watched.kept {
                kept.borrow_mut().push(frame.clone());
            }
            (self.sink)(frame);
        };
        let mut pulse = self.bench.pulse(self.stop);
        let mut recording = Recording {
            level: *number,
            live: self.live,
            sink: &sink,
            aborted: self.aborted,
            watched,
            pulse: pulse.as_mut(),
            enough: level
                .until
                .as_ref()
                .and_then(|until| Enough::new(until, plan.target.predicted)),
            lost: None,
            failed_last: false,
            began: 0,
            at_once: match level.load {
                Load::Concurrency { concurrency } => u64::from(concurrency),
                Load::Burst { requests } => requests,
                _ => 1,
            },
        };
        let setup = LevelSetup {
            level: *number,
            plan: level,
            seed: plan.seed,
            trace: self.workload.schedule(),
            sessions: self.workload.is_session(),
            shard: plan.shard,
            stop: self.stop,
            observer: &mut recording,
        };
        let done = run_level(setup, self.bench.transport(), &mut payloads)?;
        let mut silent = recording.lost.take();
        let mut ending = done.ending;
        // Who refused the last request may be gone for good; the level is not what it should be.
        if ending.carried_out()
            && recording.failed_last
            && let Err(words) = self.bench.answers(self.stop)
            && self.stop.get() == Stop::No
        {
            (ending, silent) = (Ending::TargetLost, Some(words));
        }
        let end = LevelEnd {
            level: *number,
            ending,
            ended: done.ended,
            sending_stopped: done.sending_stopped,
            starved: done.starved,
            planned: done.planned,
            issued: done.issued,
            warmup: done.warmup,
            client: done.client,
            slip: self.bench.slip(),
        };
        self.live.end_level(&end);
        sink(Frame::LevelEnd(Box::new(end)));
        let words = silent.or_else(|| done.last_failure.map(|record| failed_in_a_row(&record)));
        let lost = words.filter(|_| ending == Ending::TargetLost).map(|words| Lost {
            at: done.sending_stopped,
            words,
            last_success: watched.last_success.take(),
        });
        Ok(Done { ending, sent: done.taken, lost })
    }

    /// Requests, encoded ahead on a thread of their own.
    fn payloads(
        &self,
        plan: &Plan,
        number: u32,
        level: &LevelPlan,
    ) -> Result<Lookahead, TransportError> {
        let mut items = self.workload.items(plan, level, number).map_err(io::Error::other)?;
        let encoder = self.encoder.clone();
        let ahead = match level.load {
            Load::Concurrency { concurrency } => 2 * concurrency as usize,
            Load::Rate { .. } | Load::Ramp { .. } => (2.0 * level.load.value()) as usize,
            Load::Burst { requests } => requests as usize,
            Load::Trace { .. } => 1024,
        };
        Lookahead::start(ahead.clamp(64, 8192), move |index| match items(index)? {
            Sending::Single(item, output) => Some(encoder.payload(&item, output).into()),
            Sending::Conversation(conversation) => encoder.conversation(&conversation),
        })
        .map_err(TransportError)
    }
}

/// How a level went.
pub(super) struct Done {
    pub(super) ending: Ending,
    pub(super) sent: u64,
    pub(super) lost: Option<Lost>,
}

/// Many failures in a row, and the last of them.
fn failed_in_a_row(record: &RequestRecord) -> String {
    let class = match record.outcome {
        dyno_model::outcome::Outcome::Failed(class) => class.to_string(),
        _ => "dropped".to_owned(),
    };
    let words = record.detail.as_deref().unwrap_or("no words");
    format!("50 requests in a row failed, the last with {class}: {words}")
}
