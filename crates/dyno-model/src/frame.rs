//! The contents of a record file, in order: a header; for each level a start, the requests as they
//! end, and an end; finally the end of the run. Server metrics may appear anywhere in between. A file
//! without its last frame is a partial run, whose frames are all usable. In a resumed run, a level may
//! start a second time: only the frames after its last start count.

use crate::Nanos;
use crate::fleet::AgentEnd;
use crate::lag::DelayHistogram;
use crate::plan::LevelPlan;
use crate::record::RequestRecord;
use crate::server::ServerSample;
use serde::{Deserialize, Serialize};

/// The start of the file: which run this is, and which part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Format of the frames that follow.
    pub format: u32,
    /// Identity of the run; the same in all its shards.
    pub run_id: String,
    /// Which shard this is, from 0.
    pub shard: u32,
    /// How many shards the run has.
    pub shards: u32,
    /// Wall-clock time at [`Nanos`] zero, in nanoseconds since 1970 (UTC).
    pub anchor_unix_ns: u64,
    /// SHA-256 of the plan, in hexadecimal.
    pub plan_hash: String,
    /// Version of Dyno that wrote it.
    pub version: String,
}

/// One frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// A level was chosen that is not in the plan.
    LevelChosen(Box<LevelChosen>),
    /// A level begins.
    LevelStart(LevelStart),
    /// A request ended.
    Request(Box<RequestRecord>),
    /// A level is over.
    LevelEnd(Box<LevelEnd>),
    /// A sample of the server metrics.
    Server(ServerSample),
    /// The run is over.
    RunEnd(RunEnd),
}

/// A level that was chosen during the run, from the results of earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelChosen {
    /// Its index, counting on from the plan's levels.
    pub level: u32,
    /// What will be done.
    pub plan: LevelPlan,
}

/// A level begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelStart {
    /// Index in the plan.
    pub level: u32,
    /// When its clock started.
    pub started: Nanos,
}

/// Why sending stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every planned request was sent.
    Requests,
    /// The level's time was up.
    Duration,
    /// Ctrl-C.
    Interrupted,
    /// The target is unusable: it has not completed any request for a while, or it is gone.
    TargetLost,
    /// This program had to stop (for example, because its disk was full).
    Aborted,
    /// The metric was stable.
    Stable,
    /// As many requests have failed as `--max-failures` allows.
    MaxFailures,
    /// One of several load generators was lost.
    AgentLost,
    /// The client could not send as fast as its schedule wanted.
    BehindSchedule,
}

impl Ending {
    /// Whether the level was measured as far as it could be: running it again would end in the same way.
    pub fn carried_out(self) -> bool {
        matches!(self, Self::Requests | Self::Duration | Self::Stable | Self::BehindSchedule)
    }
}

/// Measurements of the client itself during a level.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientHealth {
    /// From the return of the poll to the time of each socket read; versions before 0.2.
    pub read_lag: DelayHistogram,
    /// From the kernel's receive time of the data to the end of the read.
    pub read_delay: DelayHistogram,
    /// Oversleep of a 10 ms timer in the same loop, for each tick.
    pub timer_lag: DelayHistogram,
    /// Ticks of that timer that were late by a whole tick or more.
    pub missed_ticks: u64,
    /// Reads without a receive time from the kernel.
    pub unstamped_reads: u64,
    /// Total time of stalls of more than 2 ms in the loop.
    pub blind_ns: u64,
    /// The longest of them.
    pub longest_stall_ns: u64,
    /// Time that the driver waited for prompts.
    pub awaited_prompts_ns: u64,
    /// Time that the driver waited for its records to be written.
    pub awaited_records_ns: u64,
    /// Time that the slots of a closed loop waited after refusals, over all slots.
    pub paused_ns: u64,
    /// How many such waits there were.
    pub pauses: u64,
    /// CPU time of the loop's thread.
    pub cpu_ns: u64,
    /// Wall time over which `cpu_ns` was taken.
    pub wall_ns: u64,
    /// Arrivals not sent because the process was out of file descriptors (EMFILE).
    pub out_of_files: u64,
    /// Arrivals not sent because there was no free local port (EADDRNOTAVAIL).
    pub out_of_ports: u64,
    /// How late the client was when it gave up its schedule; 0 where it did not.
    pub behind_ns: u64,
    /// Responses that came while no request was in flight on their connection.
    pub unasked: u64,
    /// Time in which nothing was in flight and that was skipped: turns were sent earlier than recorded.
    pub skipped_idle_ns: u64,
    /// How far the wall clock drifted from the monotonic clock, in nanoseconds.
    pub clock_step_ns: i64,
}

/// How far an embedded engine was behind its own schedule during a level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EngineSlip {
    /// Writes counted.
    pub count: u64,
    /// Mean lateness; absent where it was not kept.
    #[serde(default)]
    pub mean_ns: Option<u64>,
    /// Median lateness.
    pub p50_ns: u64,
    /// 99th percentile of the lateness.
    pub p99_ns: u64,
    /// Worst lateness.
    pub max_ns: u64,
}

/// A level is over.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelEnd {
    /// Index in the plan.
    pub level: u32,
    /// Why sending stopped.
    pub ending: Ending,
    /// When the last request of the level had ended.
    pub ended: Nanos,
    /// When sending stopped.
    pub sending_stopped: Nanos,
    /// Closed loop: when a slot first found nothing left to send.
    pub starved: Option<Nanos>,
    /// Measured arrivals in the plan; absent where the level is only limited by time.
    pub planned: Option<u64>,
    /// Measured arrivals issued: one record each.
    pub issued: u64,
    /// Warm-up arrivals issued.
    pub warmup: u64,
    /// Measurements of the client itself.
    pub client: ClientHealth,
    /// How late the embedded engine was, where one was the target.
    pub slip: Option<EngineSlip>,
    /// The parts of several load generators; empty where this process sent everything.
    pub agents: Vec<AgentEnd>,
}

impl LevelEnd {
    /// An end of which no more is known than why and when: nothing was sent.
    pub fn at(level: u32, ending: Ending, ended: Nanos) -> Self {
        Self {
            level,
            ending,
            ended,
            sending_stopped: ended,
            starved: None,
            planned: None,
            issued: 0,
            warmup: 0,
            client: ClientHealth::default(),
            slip: None,
            agents: Vec::new(),
        }
    }
}

/// The run is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// When.
    pub ended: Nanos,
    /// Why; see [`Ending::carried_out`].
    pub ending: Ending,
}
