//! The client of a level, connected to a simulated engine.

use super::lengths::Lengths;
use crate::model::Model;
use crate::table::{TableEnd, TableLevel};
use dyno_drive::{
    LevelRecorder, LevelSetup, OnFailure, Payload, StopSignal, Supply, Work, run_level,
};
use dyno_engine::Prompt;
use dyno_engine::core::Core;
use dyno_engine::predicted::{ClientBehaviour, Predicted, TwinPrompt};
use dyno_model::Nanos;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{LevelPlan, Load, Shard};
use dyno_model::record::RequestRecord;
use std::sync::Arc;

/// The times of a completed request, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timing {
    /// When it was sent.
    pub(super) start: f64,
    /// When its first token came.
    pub(super) first: f64,
    /// When its last token came.
    pub(super) end: f64,
    /// Tokens of its response.
    pub(super) output: u32,
}

/// A client and its engine.
pub(super) struct ReplayClient {
    engine: Predicted,
    requests: Requests,
}

impl ReplayClient {
    /// A client with a fresh engine, which has observed the prompt already if it is a repeated one.
    pub(super) fn new(level: &TableLevel, model: &Model) -> Option<Self> {
        let core = Core::new(model.scheduler, model.cost, 0).ok()?;
        let patience = level.timeout_s.map(nanos);
        let engine =
            Predicted::new(core, ClientBehaviour { patience, ..ClientBehaviour::default() });
        let lengths = Lengths::new(level, model.spread);
        let mut client = Self { engine, requests: Requests::new(lengths, 0) };
        if level.repeated && model.scheduler.prefix_cache {
            let blocks = lengths.input() / model.scheduler.block;
            client.requests = Requests::new(lengths, blocks);
            let one = TableEnd::Requests { requests: 1, noticed_s: 0.0 };
            client.run_once(Load::Burst { requests: 1 }, None, one)?;
            client.requests.next = 0;
        }
        Some(client)
    }

    /// The completed requests, in the order of their ends; nothing if the engine rejects one.
    pub(super) fn run(
        mut self,
        load: Load,
        at_most: Option<u32>,
        end: TableEnd,
    ) -> Option<Vec<Timing>> {
        self.run_once(load, at_most, end)
    }

    fn run_once(&mut self, load: Load, at_most: Option<u32>, end: TableEnd) -> Option<Vec<Timing>> {
        let (requests, duration_ns, drain_ns) = match end {
            TableEnd::Requests { requests, .. } => (Some(u64::from(requests)), None, Nanos::MAX),
            TableEnd::Dropped { seconds } => (None, Some(nanos(seconds)), 0),
            TableEnd::Drained { seconds } => (None, Some(nanos(seconds)), Nanos::MAX),
        };
        // The requests know their lengths.
        let plan = LevelPlan { requests, duration_ns, drain_ns, ..LevelPlan::new(load) };
        let mut observed = Observed::default();
        let setup = LevelSetup {
            level: 0,
            plan: &plan,
            seed: 0,
            trace: None,
            sessions: false,
            once: false,
            max_idle: None,
            at_most,
            shard: Shard::WHOLE,
            on_failure: OnFailure::default(),
            gate: None,
            stop: &StopSignal::new(),
            recorder: &mut observed,
            observer: &(),
        };
        run_level(setup, &mut self.engine, &mut self.requests).ok()?;
        (!observed.refused).then_some(observed.timings)
    }
}

fn nanos(seconds: f64) -> Nanos {
    (1e9 * seconds) as Nanos
}

/// The client's requests, which differ only in the length of the response.
struct Requests {
    lengths: Lengths,
    prompt: Prompt,
    next: u64,
}

impl Requests {
    /// Requests whose first `blocks` blocks are the same.
    fn new(lengths: Lengths, blocks: u32) -> Self {
        let hashes: Arc<[u64]> = (1..=u64::from(blocks)).collect();
        let prompt = Prompt { tokens: lengths.input(), hashes, end: None };
        Self { lengths, prompt, next: 0 }
    }
}

impl Supply<TwinPrompt> for Requests {
    fn take(&mut self) -> Option<Work<TwinPrompt>> {
        let output = self.lengths.output(self.next);
        self.next += 1;
        let lengths = dyno_drive::RequestedLengths {
            output: Some(output),
            fixed: true,
            ..Default::default()
        };
        Some(Payload { lengths, body: TwinPrompt(Ok(self.prompt.clone())) }.into())
    }
}

/// What the client observed.
#[derive(Default)]
struct Observed {
    started: Nanos,
    timings: Vec<Timing>,
    /// The engine rejected a request.
    refused: bool,
}

impl LevelRecorder for Observed {
    fn started(&mut self, at: Nanos) {
        self.started = at;
    }

    fn record(&mut self, record: Box<RequestRecord>) {
        let seconds = |at: Nanos| 1e-9 * at.saturating_sub(self.started) as f64;
        match (&record.outcome, record.dispatched, record.headers) {
            (Outcome::Completed, Some(sent), Some(first)) => self.timings.push(Timing {
                start: seconds(sent),
                first: seconds(first),
                end: seconds(record.end),
                output: record.requested_output.unwrap_or_default(),
            }),
            (Outcome::Failed(_), ..) => self.refused = true,
            // Given up, or cut off by the end of the level.
            _ => {}
        }
    }

    fn must_stop(&self) -> bool {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Offer, Role};
    use dyno_engine::core::{Cost, Policy, Scheduler};

    /// One sequence at a time, 1 s each: ten tokens of 0.1 s. So many requests, of which so many
    /// are in flight; when each ended.
    fn ends(in_flight: u32, requests: u32, timeout_s: Option<f64>) -> Vec<f64> {
        let scheduler = Scheduler {
            policy: Policy::PrefillFirst,
            max_seqs: 1,
            token_budget: 2048,
            block: 16,
            kv_blocks: 100,
            prefix_cache: false,
            context: None,
            steps_ahead: 0,
        };
        let cost = Cost { base: 0.1, ..Cost::default() };
        let client = dyno_engine::twin::profile::TwinClient::default();
        let model = Model { scheduler, cost, client, spread: 0.0 };
        let end = TableEnd::Requests { requests, noticed_s: 0.0 };
        let load = Load::Concurrency { concurrency: in_flight };
        let level = TableLevel {
            label: String::new(),
            offer: Offer::Load { load, at_most: None, end },
            input: 16.0,
            output: 10.0,
            counted: None,
            timeout_s,
            repeated: false,
            metrics: Default::default(),
            role: Role::Fitted,
        };
        let timings = ReplayClient::new(&level, &model).unwrap().run(load, None, end).unwrap();
        timings.iter().map(|timing| timing.end).collect()
    }

    #[test]
    fn patience_ends_a_request_that_takes_longer() {
        assert_eq!(ends(3, 3, None), [1.0, 2.0, 3.0]);
        assert_eq!(ends(3, 3, Some(1.5)), [1.0]);
    }

    #[test]
    fn what_was_given_up_makes_room_and_its_worker_is_lost() {
        // The second worker's request had 0.5 s of its 1 s. The first one's next gets its place at
        // 1.5 s, and would share the engine with another if the second worker went on.
        assert_eq!(ends(2, 4, Some(1.5)), [1.0, 2.5, 3.5]);
    }
}
