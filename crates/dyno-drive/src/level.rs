//! The inputs of a level, its observer and its outcome; and which arrival model runs it.

use crate::gate::StartGate;
use crate::paced::PacedArrivals;
use crate::ramp::{RampArrivals, lead};
use crate::retries::Retry;
use crate::running::RunningLevel;
use crate::stop::StopSignal;
use crate::transport::{Transport, TransportError};
use crate::vitals::LostTarget;
use crate::work::Supply;
use crate::{burst, closed, open};
use dyno_model::fleet::AgentSeen;
use dyno_model::frame::LevelEnd;
use dyno_model::plan::{LevelPlan, Load, Shard};
use dyno_model::record::RequestRecord;
use dyno_model::{Message, Nanos};

/// Everything a level needs besides its transport and its work.
pub struct LevelSetup<'a> {
    /// Index in the plan.
    pub level: u32,
    /// Its plan.
    pub plan: &'a LevelPlan,
    /// Seed of the arrivals.
    pub seed: u64,
    /// The offsets of a recorded trace, for a level that replays one.
    pub trace: Option<Box<dyn Iterator<Item = Nanos> + 'a>>,
    /// The requests are turns of conversations or of trees.
    pub sessions: bool,
    /// The supply has an end, at which the level is complete.
    pub once: bool,
    /// Turns are sent earlier than they are due where nothing is in flight for longer than this.
    pub max_idle: Option<Nanos>,
    /// The most requests of an open loop in flight. An arrival that is due beyond them waits until
    /// one has ended; where that is not before sending stops, it is recorded as censored, never
    /// sent.
    pub at_most: Option<u32>,
    /// Which part of the arrivals to send.
    pub shard: Shard,
    /// What refused and failed requests lead to.
    pub on_failure: OnFailure,
    /// Holds the level back until it may start; without one, it starts when it is prepared.
    pub gate: Option<&'a mut dyn StartGate>,
    /// The signal to stop early.
    pub stop: &'a StopSignal,
    /// Keeps every record.
    pub recorder: &'a mut dyn LevelRecorder,
    /// Shows every event.
    pub observer: &'a dyn Observer,
}

/// What refused and failed requests lead to, besides their records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OnFailure {
    /// Requests that were shed are sent again.
    pub retry: Option<Retry>,
    /// Sending stops after this many failures; requests that were shed do not count.
    pub at_most: Option<u64>,
    /// Others send to the same target: only all of them together can say that it serves nothing. It is
    /// still given up where no connection can be opened.
    pub seen_by_others: bool,
}

/// Shows a level as it runs; `()` shows nothing. Called on the driver's thread: while a method runs,
/// nothing is sent or read.
pub trait Observer {
    /// The number of requests in flight has changed.
    fn in_flight(&self, _count: usize) {}

    /// The transport has received so many output tokens in all, those of running streams included.
    /// Called before the first request of a level, then a few times a second at least, and never
    /// between a read and its timestamp. Not called in virtual time: there tokens are known when a
    /// request ends.
    fn tokens_received(&self, _total: u64) {}

    /// A request has ended: one call for every arrival.
    fn ended(&self, _record: &RequestRecord) {}

    /// What several load generators have done so far; about once a second, instead of single requests,
    /// which follow after the level.
    fn agents(&self, _seen: &[AgentSeen]) {}
}

impl Observer for () {}

/// Keeps what a level measured, and decides whether it goes on. Called on the driver's thread.
pub trait LevelRecorder {
    /// The clock starts; the first request follows.
    fn started(&mut self, _at: Nanos) {}

    /// A request has ended: one call for every arrival.
    fn record(&mut self, record: Box<RequestRecord>);

    /// Requests are in flight, and nothing was received for `time`. Returns whether to give the target
    /// up: everything in flight is then censored at once.
    fn silent(&mut self, _time: Nanos) -> bool {
        false
    }

    /// Whether the level has measured enough and may stop.
    fn has_converged(&mut self, _now: Nanos) -> bool {
        false
    }

    /// Whether the level must stop for a reason nobody asked for, such as a full disk.
    fn must_stop(&self) -> bool {
        false
    }
}

/// The outcome of a level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelOutcome {
    /// When its clock started.
    pub started: Nanos,
    /// How it ended, as it will be recorded.
    pub end: LevelEnd,
    /// How far the items were taken from the supply: requests, or conversations begun. Of a part of
    /// a level, those of the others up to its last one included.
    pub taken: u64,
    /// Failures, warm-up included; requests that were shed are none.
    pub failed: u64,
    /// Why the target was lost, if it failed every request.
    pub lost: Option<LostTarget>,
    /// The same, in an agent's words.
    pub lost_to_agent: Option<Message>,
}

/// Runs one level from start to the end of its last request.
pub fn run_level<T: Transport + ?Sized>(
    setup: LevelSetup<'_>,
    transport: &mut T,
    supply: &mut dyn Supply<T::Body>,
) -> Result<LevelOutcome, TransportError>
where
    T::Body: Clone,
{
    let load = setup.plan.load;
    let mut level = RunningLevel::new(setup, transport, supply);
    match load {
        Load::Concurrency { concurrency } => closed::run(&mut level, concurrency)?,
        Load::Rate { rate, arrival } => {
            let LevelSetup { seed, level: number, plan, sessions, .. } = level.setup;
            let arrivals = PacedArrivals::new(seed, number, rate, arrival, plan, sessions);
            match sessions {
                true => open::run_sessions(&mut level, arrivals)?,
                false => open::run(&mut level, arrivals)?,
            }
        }
        Load::Ramp { arrival, .. } => {
            let LevelSetup { seed, level: number, plan, sessions, .. } = level.setup;
            let arrivals =
                load.ramp().map(|ramp| RampArrivals::new(seed, number, ramp, arrival, lead(plan)));
            match sessions {
                true => open::run_sessions(&mut level, arrivals.into_iter().flatten())?,
                false => open::run(&mut level, arrivals.into_iter().flatten())?,
            }
        }
        Load::Trace { .. } => {
            let trace = level.setup.trace.take();
            match level.setup.sessions {
                true => open::run_sessions(&mut level, trace.into_iter().flatten())?,
                false => {
                    let offsets: Vec<Nanos> = trace.into_iter().flatten().collect();
                    open::run(&mut level, offsets.iter().copied())?;
                }
            }
        }
        Load::Burst { requests } => burst::run(&mut level, requests)?,
    }
    Ok(level.into_outcome())
}
