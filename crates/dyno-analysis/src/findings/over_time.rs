//! What there is to say about a level that is looked at over time: where a ramp bent, and what
//! drifted in a soak.

use super::words::{change, percent, values};
use dyno_model::Language;
use dyno_model::Verdict;
use dyno_words::OverTimeTold;

/// A figure that may drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Time to the first token, in milliseconds.
    Ttft,
    /// Time to the last, in milliseconds.
    Latency,
    /// Completed requests per second.
    Throughput,
}

/// What there is to say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OverTime {
    /// A ramp went past what the server completes.
    Bent {
        /// Requests per second from which on it fell behind.
        rate: f64,
        /// When that was, from the start of the ramp.
        after_s: f64,
        /// Offered per second over the last quarter.
        offered: f64,
        /// Completed per second over the last quarter.
        completed: f64,
        /// In flight at the end.
        in_flight: u64,
        /// Most of what was not completed failed, rather than queued.
        failed: bool,
    },
    /// A latency of a ramp rose far above its level, and stayed there.
    LeftLevel {
        /// Requests per second from which on it did.
        rate: f64,
        /// When that was, from the start of the ramp.
        after_s: f64,
        /// Which one.
        figure: Figure,
        /// Its level before: a median.
        before_ms: f64,
        /// Its median in the last slice.
        last_ms: f64,
    },
    /// A figure of a soak moved all along.
    Drift {
        /// Which one.
        figure: Figure,
        /// In the first quarter.
        first: f64,
        /// In the last quarter.
        last: f64,
    },
    /// More requests failed late in a soak than early.
    FailuresCreep {
        /// Share in the first quarter.
        first: f64,
        /// Share in the last quarter.
        last: f64,
        /// When the first failure was, from the start.
        after_s: f64,
    },
    /// The server's memory grew all along.
    MemoryGrows {
        /// Bytes when it had settled.
        first: f64,
        /// Bytes in the last quarter of what followed.
        last: f64,
        /// Bytes an hour.
        per_hour: f64,
    },
    /// A soak too short to look for drift.
    SoakTooShort {
        /// Stretches of two median latencies and five answers that it has.
        stretches: u64,
        /// How many are needed.
        needed: u64,
    },
}

impl OverTime {
    pub(super) fn weight(&self) -> Verdict {
        match self {
            Self::Drift { .. } | Self::FailuresCreep { .. } => Verdict::Suspect,
            _ => Verdict::Valid,
        }
    }

    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Bent { .. } => "ramp_bent",
            Self::LeftLevel { .. } => "ramp_latency",
            Self::Drift { figure: Figure::Ttft, .. } => "drift_ttft",
            Self::Drift { figure: Figure::Latency, .. } => "drift_latency",
            Self::Drift { figure: Figure::Throughput, .. } => "drift_throughput",
            Self::FailuresCreep { .. } => "drift_failures",
            Self::MemoryGrows { .. } => "drift_memory",
            Self::SoakTooShort { .. } => "soak_too_short",
        }
    }

    /// What was seen, and what to do, in a language.
    pub(super) fn words(&self, language: Language) -> (String, Option<String>) {
        let (what, values, advice) = match *self {
            Self::Bent { rate, after_s, offered, completed, in_flight, failed } => (
                if failed { OverTimeTold::Failed } else { OverTimeTold::Queued },
                values![short(rate), clock(after_s), short(completed), short(offered), in_flight],
                OverTimeTold::AboutCapacity,
            ),
            Self::LeftLevel { rate, after_s, figure, before_ms, last_ms } => {
                let [before, last] = [before_ms, last_ms].map(|ms| value(figure, ms));
                let what = match figure {
                    Figure::Ttft => OverTimeTold::TtftLeft,
                    Figure::Latency => OverTimeTold::LatencyLeft,
                    Figure::Throughput => OverTimeTold::ThroughputLeft,
                };
                (what, vec![short(rate), clock(after_s), before, last], OverTimeTold::AboutKnee)
            }
            Self::Drift { figure, first, last } => {
                let what = match figure {
                    Figure::Ttft => OverTimeTold::TtftDrifted,
                    Figure::Latency => OverTimeTold::LatencyDrifted,
                    Figure::Throughput => OverTimeTold::ThroughputDrifted,
                };
                let moved = change(last / first - 1.0);
                let values = vec![value(figure, first), value(figure, last), moved];
                (what, values, OverTimeTold::ServerWasNot)
            }
            Self::FailuresCreep { first, last, after_s } => (
                OverTimeTold::FailuresCrept,
                vec![percent(first), percent(last), clock(after_s)],
                OverTimeTold::SeeLogThen,
            ),
            Self::MemoryGrows { first, last, per_hour } => (
                OverTimeTold::MemoryGrew,
                [first, last, per_hour].map(bytes).to_vec(),
                OverTimeTold::MayLeak,
            ),
            Self::SoakTooShort { stretches, needed } => {
                (OverTimeTold::TooShort, values![stretches, needed], OverTimeTold::SoakLonger)
            }
        };
        (what.with(language, &values), Some(advice.text(language).to_owned()))
    }
}

fn value(figure: Figure, value: f64) -> String {
    match figure {
        Figure::Throughput => format!("{}/s", short(value)),
        _ if value >= 10_000.0 => format!("{} s", short(value / 1e3)),
        _ => format!("{} ms", short(value)),
    }
}

fn short(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn bytes(count: f64) -> String {
    let units = [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1_024.0, "KiB")];
    let fits = units.iter().find(|(size, _)| count >= *size);
    fits.map_or_else(
        || format!("{count:.0} B"),
        |(size, unit)| format!("{:.1} {unit}", count / size),
    )
}

/// A time since a start, in hours, minutes and seconds.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, _) if seconds < 10.0 => format!("{seconds:.1}s"),
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s:02}s"),
        (h, m, s) => format!("{h}h{m:02}m{s:02}s"),
    }
}
