//! What there is to say about a level or a run, as types: each finding has a weight, a stable
//! code, its figures in words, and advice.

mod over_time;
mod reason;
mod server;
mod words;

use crate::slo::FewSamples;
pub use over_time::clock;
pub use over_time::{Figure, OverTime};
pub use server::ServerFinding;

use dyno_model::Verdict;
use dyno_model::environment::Note;

/// Why a level has no steady window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoWindow {
    /// Not every slot of the closed loop was seen to send.
    SlotsMissing {
        /// Slots seen.
        seen: u64,
        /// Slots there are.
        of: u64,
    },
    /// Users think, and it is shorter than two of their turns.
    FewTurns {
        /// Length of the would-be window.
        window_s: f64,
        /// Two mean turns of a user, pauses included.
        needed_s: f64,
    },
    /// Shorter than two median latencies.
    TooShort {
        /// Length of the would-be window.
        window_s: f64,
        /// Two median latencies.
        needed_s: f64,
    },
    /// Nothing was in flight in it.
    Idle {
        /// Length of the would-be window.
        window_s: f64,
    },
    /// More arrived than the server could carry.
    Saturated {
        /// What was left over, as a share of what was offered.
        surplus: f64,
    },
    /// The number in flight went up or down all along.
    Trend {
        /// Relative growth over the window.
        growth: f64,
    },
    /// The same in a trace, whose load varies by itself.
    TraceTrend {
        /// Relative growth of the number in flight.
        growth: f64,
        /// Relative growth of the rate of arrivals, where there is a trend.
        arrivals: Option<f64>,
    },
}

/// Why figures have no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoInterval {
    /// All requests of a burst belong to one moment.
    Burst,
    /// Too few blocks of time.
    FewBlocks {
        /// Blocks there are.
        blocks: u64,
    },
}

/// What there is to say.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Requests left late.
    SendLag {
        /// 99th percentile.
        p99_ms: f64,
        /// What is still good.
        limit_ms: f64,
    },
    /// Reads, or the loop's timers, were late.
    ReadLag {
        /// The timer was the worse of the two.
        timer: bool,
        /// 99th percentile.
        p99_ms: f64,
        /// What is still good.
        limit_ms: f64,
    },
    /// Arrivals were not sent for want of file descriptors.
    OutOfFiles(u64),
    /// Arrivals were not sent for want of local ports.
    OutOfPorts(u64),
    /// What was sent is not what the schedule asked for.
    OffSchedule {
        /// Sent.
        sent: u64,
        /// On the schedule.
        scheduled: u64,
    },
    /// The embedded engine was late against its own schedule.
    EngineSlip {
        /// 99th percentile.
        p99_ms: f64,
        /// What is still good.
        limit_ms: f64,
    },
    /// There are more or fewer records than arrivals.
    RecordsMissing {
        /// Records found.
        records: u64,
        /// Arrivals issued.
        issued: u64,
        /// They are of the warm-up.
        warmup: bool,
    },
    /// The level ended as if all were sent, but was not.
    ShortOfPlan {
        /// Arrivals issued.
        issued: u64,
        /// Arrivals planned.
        planned: u64,
    },
    /// The records end before the level does.
    Partial,
    /// Ctrl-C.
    Interrupted,
    /// Too many failures in a row.
    TargetLost,
    /// This program could not go on.
    Aborted,
    /// Not one proper answer.
    NothingCompleted,
    /// No request belongs to the measured part.
    NothingMeasured {
        /// Requests of the warm-up.
        warmup: u64,
    },
    /// More failures than allowed.
    Failures {
        /// Failures.
        failed: u64,
        /// Requests that ended.
        ended: u64,
        /// Share allowed.
        allowed: f64,
    },
    /// Many output events shared a read.
    Coalesced(f64),
    /// Token counts of different sources were added up.
    MixedSources {
        /// Of the input.
        input: bool,
        /// Of the output.
        output: bool,
    },
    /// There is no steady window.
    NoSteadyWindow(NoWindow),
    /// A predicted rate that the twin may not carry: there is a capacity, but no latency.
    PastCapacity {
        /// Requests per second offered.
        rate: f64,
        /// Least capacity.
        low: f64,
        /// Most capacity.
        high: f64,
    },
    /// Percentiles of the SLO have too few samples.
    SloSamples(Vec<FewSamples>),
    /// The wall clock jumped.
    ClockStepped(f64),
    /// Prompts were longer or shorter than asked.
    InputLength {
        /// Mean tokens by our own count.
        asked: f64,
        /// Mean tokens by the server's count.
        mean: f64,
    },
    /// Answers were shorter than asked, and nothing forced them to be longer.
    OutputLength {
        /// Short answers.
        short: u64,
        /// Of so many.
        of: u64,
        /// Mean length.
        mean: f64,
        /// Mean length asked for.
        asked: f64,
    },
    /// Some counts are not known.
    TokensUnknown {
        /// Requests without an input count.
        input: u64,
        /// Requests without an output count.
        output: u64,
    },
    /// Streams ended without a terminal event.
    NoTerminal {
        /// So many.
        streams: u64,
        /// Of so many.
        of: u64,
    },
    /// First chunks carried several tokens.
    FirstChunk {
        /// So many.
        streams: u64,
        /// Of so many.
        of: u64,
    },
    /// Whole answers came in one burst.
    OneBurst {
        /// So many.
        streams: u64,
        /// Of so many.
        of: u64,
    },
    /// Tokens per chunk are not known, so there is no ITL for some streams.
    NoTokenTimes {
        /// So many.
        streams: u64,
        /// Of so many.
        of: u64,
    },
    /// Percentiles leave out those that timed out.
    SurvivorsOnly(u64),
    /// Requests were sent a second time.
    Resent(u64),
    /// Conversations ended with a turn that failed.
    SessionsBroken {
        /// So many.
        broken: u64,
        /// Of so many.
        started: u64,
    },
    /// Few requests made the level last longer.
    Stragglers {
        /// How many.
        requests: u64,
        /// By how much.
        stretched_s: f64,
        /// Length of the level.
        duration_s: f64,
    },
    /// It is looked at over time.
    OverTime(OverTime),
    /// There are no intervals.
    NoIntervals(NoInterval),
    /// The server's own figures say it.
    Server(ServerFinding),
    /// The record file is damaged.
    Damaged(String),
    /// The records belong to another plan.
    PlanDiffers,
    /// Not all levels were run.
    LevelsNotRun {
        /// Levels run.
        ran: u64,
        /// Levels planned.
        planned: u64,
    },
    /// Levels were cut short and begun again by a run that was resumed.
    BegunAgain {
        /// What tables call them.
        labels: Vec<String>,
    },
    /// No level passes this SLO.
    SloNotMet(String),
    /// It was noted when the run was made.
    Noted(Note),
}

impl Finding {
    /// What it does to the verdict: [`Verdict::Valid`] for a mere note.
    pub fn weight(&self) -> Verdict {
        match self {
            Self::SendLag { .. }
            | Self::ReadLag { .. }
            | Self::OutOfFiles(_)
            | Self::OutOfPorts(_)
            | Self::OffSchedule { .. }
            | Self::EngineSlip { .. }
            | Self::RecordsMissing { .. }
            | Self::ShortOfPlan { .. } => Verdict::Invalid,
            Self::NoSteadyWindow(NoWindow::TraceTrend { .. }) => Verdict::Valid,
            Self::OverTime(found) => found.weight(),
            Self::Partial
            | Self::Interrupted
            | Self::TargetLost
            | Self::Aborted
            | Self::NothingCompleted
            | Self::NothingMeasured { .. }
            | Self::Failures { .. }
            | Self::Coalesced(_)
            | Self::MixedSources { .. }
            | Self::NoSteadyWindow(_)
            | Self::PastCapacity { .. }
            | Self::SloSamples(_)
            | Self::ClockStepped(_) => Verdict::Suspect,
            _ => Verdict::Valid,
        }
    }

    /// A stable name.
    pub fn code(&self) -> &str {
        match self {
            Self::SendLag { .. } => "send_lag",
            Self::ReadLag { .. } => "read_lag",
            Self::OutOfFiles(_) => "out_of_files",
            Self::OutOfPorts(_) => "out_of_ports",
            Self::OffSchedule { .. } => "off_schedule",
            Self::EngineSlip { .. } => "engine_slip",
            Self::RecordsMissing { .. } => "records_missing",
            Self::ShortOfPlan { .. } => "short_of_plan",
            Self::Partial => "partial",
            Self::Interrupted => "interrupted",
            Self::TargetLost => "target_lost",
            Self::Aborted => "aborted",
            Self::NothingCompleted => "nothing_completed",
            Self::NothingMeasured { .. } => "nothing_measured",
            Self::Failures { .. } => "failures",
            Self::Coalesced(_) => "coalesced",
            Self::MixedSources { .. } => "mixed_token_sources",
            Self::NoSteadyWindow(NoWindow::TraceTrend { .. }) => "trace_trend",
            Self::NoSteadyWindow(_) => "no_steady_window",
            Self::PastCapacity { .. } => "past_capacity",
            Self::SloSamples(_) => "slo_samples",
            Self::ClockStepped(_) => "clock_stepped",
            Self::InputLength { .. } => "input_length",
            Self::OutputLength { .. } => "output_length",
            Self::TokensUnknown { .. } => "tokens_unknown",
            Self::NoTerminal { .. } => "no_terminal_event",
            Self::FirstChunk { .. } => "first_chunk_tokens",
            Self::OneBurst { .. } => "one_burst",
            Self::NoTokenTimes { .. } => "no_token_times",
            Self::SurvivorsOnly(_) => "survivors_only",
            Self::Resent(_) => "resent",
            Self::SessionsBroken { .. } => "sessions_broken",
            Self::Stragglers { .. } => "stragglers",
            Self::OverTime(found) => found.code(),
            Self::NoIntervals(_) => "no_interval",
            Self::Server(finding) => finding.code(),
            Self::Damaged(_) => "records_damaged",
            Self::PlanDiffers => "plan_differs",
            Self::LevelsNotRun { .. } => "levels_not_run",
            Self::BegunAgain { .. } => "begun_again",
            Self::SloNotMet(_) => "slo_not_met",
            Self::Noted(note) => &note.code,
        }
    }
}
