//! What an agent does while a level runs: it waits for the start, keeps every record, and counts for the coordinator.
//! What it does between levels is in `agent`.

use dyno_drive::{LevelRecorder, Observer, StartGate};
use dyno_fleet::{Counters, FromAgent, Post};
use dyno_model::Nanos;
use dyno_model::frame::{Frame, LevelStart};
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_net::Clock;
use dyno_record::Recorder;
use std::sync::atomic::{AtomicU64, Ordering};

/// Waits for the order to start.
pub(super) struct AtStart<'a> {
    pub(super) post: &'a Post,
    pub(super) level: u32,
}

impl StartGate for AtStart<'_> {
    fn ready(&mut self) -> Option<Nanos> {
        self.post.say(&FromAgent::Ready { level: self.level }, &[]).ok()?;
        loop {
            match self.post.next() {
                dyno_fleet::AgentOrder::Start { level, at } if level == self.level => {
                    return Some(at);
                }
                dyno_fleet::AgentOrder::Stop { level } if level == self.level => return None,
                dyno_fleet::AgentOrder::Leave { .. } => return None,
                _ => {}
            }
        }
    }
}

/// Records every request.
pub(super) struct Keeping<'a> {
    pub(super) level: u32,
    pub(super) recorder: &'a Recorder,
    pub(super) clock: Clock,
    /// How late the level started.
    pub(super) late: i64,
    /// Requests that have ended.
    pub(super) records: u64,
}

impl LevelRecorder for Keeping<'_> {
    fn started(&mut self, started: Nanos) {
        self.late = self.clock.now() as i64 - started as i64;
        self.recorder.send(Frame::LevelStart(LevelStart { level: self.level, started }));
    }

    fn record(&mut self, record: Box<RequestRecord>) {
        self.records += 1;
        self.recorder.send(Frame::Request(record));
    }

    fn must_stop(&self) -> bool {
        self.recorder.is_losing()
    }
}

/// Counts requests for the coordinator.
pub(super) struct Counting<'a>(pub(super) &'a Counters);

impl Observer for Counting<'_> {
    fn in_flight(&self, count: usize) {
        self.0.in_flight.store(count as u64, Ordering::Relaxed);
    }

    fn tokens_received(&self, total: u64) {
        self.0.tokens.store(total, Ordering::Relaxed);
    }

    fn ended(&self, record: &RequestRecord) {
        let add = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
        match record.outcome {
            Outcome::Completed => {
                add(&self.0.completed);
                let since = |at: Nanos| at.saturating_sub(record.sent.unwrap_or(record.intended));
                self.0.took(record.first.map(since), since(record.end));
            }
            Outcome::Failed(_) | Outcome::Unconfirmed | Outcome::Shed(_) => {
                let shed = matches!(record.outcome, Outcome::Shed(_));
                add(if shed { &self.0.shed } else { &self.0.failed });
                self.0.wasted.fetch_add(record.tokens_received(), Ordering::Relaxed);
            }
            Outcome::Dropped(_) | Outcome::Censored => {}
        }
        if let (Some(_), Some(picked)) = (record.sent, record.dispatched) {
            add(&self.0.sent);
            let late = picked.saturating_sub(record.sendable());
            self.0.lag_ns.fetch_max(late, Ordering::Relaxed);
        }
    }
}
