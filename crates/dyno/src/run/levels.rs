//! Runs the levels of a plan, one after the other, each only when nothing of the last is in
//! flight, and hands out every frame.

use super::workload::{Sending, Workload};
use crate::progress::Live;
use dyno_core::Nanos;
use dyno_core::frame::{Ending, EngineSlip, Frame, LevelEnd, LevelStart, RunEnd};
use dyno_core::outcome::Outcome;
use dyno_core::plan::{LevelPlan, Load, Plan, Warmup};
use dyno_core::record::RequestRecord;
use dyno_drive::{
    LevelSetup, Lookahead, Observer, Stop, StopSignal, Transport, TransportError, run_level,
};
use dyno_wire::encode::Encoder;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// What is measured, or stands in for it.
pub(crate) trait Bench {
    /// What requests go through.
    fn transport(&mut self) -> &mut dyn Transport;

    /// How late an engine of our own was since the last time; nothing for anybody else's.
    fn slip(&mut self) -> Option<EngineSlip>;
}

/// What a run needs besides its plan.
pub(crate) struct Run<'a> {
    pub(crate) bench: &'a mut dyn Bench,
    pub(crate) encoder: &'a Encoder,
    pub(crate) workload: &'a Workload,
    pub(crate) live: &'a Live,
    pub(crate) stop: &'a StopSignal,
    /// Takes every frame, in order.
    pub(crate) sink: &'a dyn Fn(Frame),
    /// A reason to stop that is no one's wish.
    pub(crate) aborted: &'a dyn Fn() -> bool,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    pub(crate) ending: Ending,
    /// Prompts or conversations taken by each level, warm-up included.
    pub(crate) sent: Vec<u64>,
    /// What the target said last, when it was lost.
    pub(crate) last_failure: Option<RequestRecord>,
    /// The event loop's failure.
    pub(crate) error: Option<TransportError>,
}

impl Run<'_> {
    /// Runs all levels, or as many as the target, the user and this machine allow.
    pub(crate) fn all(&mut self, plan: &Plan) -> RunOutcome {
        let mut outcome = RunOutcome {
            ending: Ending::Requests,
            sent: Vec::new(),
            last_failure: None,
            error: None,
        };
        for (index, level) in plan.levels.iter().enumerate() {
            match self.level(plan, index, level) {
                Ok((ending, sent, last_failure)) => {
                    outcome.ending = ending;
                    outcome.sent.push(sent);
                    outcome.last_failure = last_failure;
                }
                Err(error) => {
                    outcome.ending = Ending::Aborted;
                    outcome.error = Some(error);
                }
            }
            if !matches!(outcome.ending, Ending::Requests | Ending::Duration) {
                break;
            }
        }
        let ended = self.bench.transport().now();
        (self.sink)(Frame::RunEnd(RunEnd { ended, ending: outcome.ending }));
        outcome
    }

    fn level(
        &mut self,
        plan: &Plan,
        index: usize,
        level: &LevelPlan,
    ) -> Result<(Ending, u64, Option<RequestRecord>), TransportError> {
        let number = index as u32;
        let mut payloads = match self.payloads(plan, number, level) {
            // Making prompts may mean to ask the server, which Ctrl-C ends as it ends all else.
            Err(_) if self.stop.get() > Stop::No => return Ok((Ending::Interrupted, 0, None)),
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
        let duration = level.duration_ns.map(Duration::from_nanos);
        let planned = planned.map(|n| n + warmup);
        self.live.begin_level(index, plan.levels.len(), &level.label, planned, duration);
        self.bench.slip();
        let setup = LevelSetup {
            level: number,
            plan: level,
            seed: plan.seed,
            trace: self.workload.schedule(),
            sessions: self.workload.is_session(),
            shard: plan.shard,
            stop: self.stop,
            observer: &mut Recording {
                level: number,
                live: self.live,
                sink: self.sink,
                aborted: self.aborted,
            },
        };
        let done = run_level(setup, self.bench.transport(), &mut payloads)?;
        let end = LevelEnd {
            level: number,
            ending: done.ending,
            ended: done.ended,
            sending_stopped: done.sending_stopped,
            starved: done.starved,
            planned: done.planned,
            issued: done.issued,
            warmup: done.warmup,
            client: done.client,
            slip: self.bench.slip(),
        };
        (self.sink)(Frame::LevelEnd(Box::new(end)));
        Ok((done.ending, done.taken, done.last_failure))
    }

    /// Requests, encoded ahead on a thread of their own.
    fn payloads(
        &self,
        plan: &Plan,
        number: u32,
        level: &LevelPlan,
    ) -> Result<Lookahead, TransportError> {
        let mut items = self.workload.items(plan, number).map_err(io::Error::other)?;
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

/// Counts for the live view, and hands every frame on.
struct Recording<'a> {
    level: u32,
    live: &'a Live,
    sink: &'a dyn Fn(Frame),
    aborted: &'a dyn Fn() -> bool,
}

impl Observer for Recording<'_> {
    fn started(&mut self, started: Nanos) {
        (self.sink)(Frame::LevelStart(LevelStart { level: self.level, started }));
    }

    fn ended(&mut self, record: RequestRecord) {
        self.live.done.fetch_add(1, Relaxed);
        if matches!(record.outcome, Outcome::Failed(_) | Outcome::Dropped(_)) {
            self.live.failed.fetch_add(1, Relaxed);
        }
        if let Some(output) = record.output {
            self.live.tokens.fetch_add(output.tokens, Relaxed);
        }
        (self.sink)(Frame::Request(Box::new(record)));
    }

    fn in_flight(&mut self, count: usize) {
        self.live.in_flight.store(count as u64, Relaxed);
    }

    fn must_stop(&self) -> bool {
        (self.aborted)()
    }
}
