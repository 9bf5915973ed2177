//! Runs the levels of a plan, one after the other, each only when nothing of the last is in
//! flight, and hands out every frame.

use crate::progress::Live;
use dyno_core::frame::{Ending, EngineSlip, Frame, LevelEnd, LevelStart, RunEnd};
use dyno_core::outcome::Outcome;
use dyno_core::plan::{LevelPlan, Load, Plan, Warmup};
use dyno_core::record::RequestRecord;
use dyno_drive::{LevelSetup, Lookahead, StopSignal, TransportError, run_level};
use dyno_wire::client::Client;
use dyno_wire::encode::Encoder;
use dyno_wire::endpoint::Endpoint;
use dyno_workload::Synthetic;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// What a run needs besides its plan.
pub(crate) struct Run<'a> {
    pub(crate) client: &'a mut Client,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) encoder: &'a Encoder,
    /// The target can tell how late it was.
    pub(crate) engine: bool,
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
    /// What the target said last, when it was lost.
    pub(crate) last_failure: Option<RequestRecord>,
    /// The event loop's failure.
    pub(crate) error: Option<TransportError>,
}

impl Run<'_> {
    /// Runs all levels, or as many as the target, the user and this machine allow.
    pub(crate) fn all(&mut self, plan: &Plan) -> RunOutcome {
        let mut outcome = RunOutcome { ending: Ending::Requests, last_failure: None, error: None };
        for (index, level) in plan.levels.iter().enumerate() {
            match self.level(plan, index, level) {
                Ok((ending, last_failure)) => {
                    outcome.ending = ending;
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
        let ended = self.client.clock().now();
        (self.sink)(Frame::RunEnd(RunEnd { ended, ending: outcome.ending }));
        outcome
    }

    fn level(
        &mut self,
        plan: &Plan,
        index: usize,
        level: &LevelPlan,
    ) -> Result<(Ending, Option<RequestRecord>), TransportError> {
        let number = index as u32;
        let mut payloads = self.payloads(plan, number, level)?;
        let planned = level.requests.or(match level.load {
            Load::Burst { requests } => Some(requests),
            _ => None,
        });
        let warmup = match level.warmup {
            Some(Warmup::Requests(n)) => n,
            _ => 0,
        };
        let duration = level.duration_ns.map(Duration::from_nanos);
        let planned = planned.map(|n| n + warmup);
        self.live.begin_level(index, plan.levels.len(), &level.label, planned, duration);
        self.slip();
        let (live, sink) = (self.live, self.sink);
        let setup = LevelSetup {
            level: number,
            plan: level,
            seed: plan.seed,
            shard: plan.shard,
            stop: self.stop,
            on_start: &mut |started| {
                sink(Frame::LevelStart(LevelStart { level: number, started }));
            },
            sink: &mut |record| {
                count(live, &record);
                sink(Frame::Request(Box::new(record)));
            },
            aborted: self.aborted,
        };
        let done = run_level(setup, self.client, &mut payloads)?;
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
            slip: self.slip(),
        };
        (self.sink)(Frame::LevelEnd(Box::new(end)));
        Ok((done.ending, done.last_failure))
    }

    /// Requests, encoded ahead on a thread of their own.
    fn payloads(
        &self,
        plan: &Plan,
        number: u32,
        level: &LevelPlan,
    ) -> Result<Lookahead, TransportError> {
        let source = Synthetic::new(plan.seed, number, plan.request.input_tokens);
        let output = plan.request.output_tokens;
        let encoder = self.encoder.clone();
        let ahead = match level.load {
            Load::Concurrency { concurrency } => 2 * concurrency as usize,
            Load::Rate { rate, .. } => (2.0 * rate) as usize,
            Load::Burst { requests } => requests as usize,
        };
        Lookahead::start(None, ahead.clamp(64, 8192), move |index| {
            encoder.payload(&source.prompt(index), output)
        })
        .map_err(TransportError)
    }

    /// How late our own engine was since the last time; nothing for anybody else's.
    fn slip(&mut self) -> Option<EngineSlip> {
        if !self.engine {
            return None;
        }
        let path = self.endpoint.beside("/dyno/slip?reset=1");
        let fetched = self.client.fetch(&path, self.stop).ok()?;
        serde_json::from_slice(fetched.ok()?).ok()
    }
}

fn count(live: &Live, record: &RequestRecord) {
    live.done.fetch_add(1, Relaxed);
    if matches!(record.outcome, Outcome::Failed(_) | Outcome::Dropped(_)) {
        live.failed.fetch_add(1, Relaxed);
    }
    if let Some(output) = record.output {
        live.tokens.fetch_add(output.tokens, Relaxed);
    }
}
