//! What there is to say about a level that is looked at over time: where a ramp bent, and what
//! drifted in a soak.

use super::words::{are, percent};
use crate::verdict::Verdict;

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

    /// What was seen, and what to do.
    pub(super) fn words(&self) -> (String, &'static str) {
        match *self {
            Self::Bent { rate, after_s, offered, completed, in_flight, failed } => (
                format!(
                    "from about {}/s on, {} into the ramp, requests {}: {}/s of {}/s offered were \
                     completed at the end, with {in_flight} in flight",
                    short(rate),
                    clock(after_s),
                    if failed { "failed" } else { "queued" },
                    short(completed),
                    short(offered)
                ),
                "this is about what the server carries; measure rates below it with --rate for \
                 figures that hold",
            ),
            Self::LeftLevel { rate, after_s, figure, before_ms, last_ms } => (
                format!(
                    "from about {}/s on, {} into the ramp, {} left its level: p50 {} before, {} at \
                     the end",
                    short(rate),
                    clock(after_s),
                    name(figure),
                    value(figure, before_ms),
                    value(figure, last_ms)
                ),
                "the knee is about there; measure rates around it with --rate",
            ),
            Self::Drift { figure, first, last } => (
                format!(
                    "{} drifted: {} in the first quarter, {} in the last ({:+.0} %)",
                    name(figure),
                    value(figure, first),
                    value(figure, last),
                    (last / first - 1.0) * 100.0
                ),
                "the load was the same all along, so the server was not; figures of the whole \
                 level describe no one state of it: read them over time",
            ),
            Self::FailuresCreep { first, last, after_s } => (
                format!(
                    "failures crept in: {} of the requests in the first quarter, {} in the last; \
                     the first failure was {} in",
                    percent(first),
                    percent(last),
                    clock(after_s)
                ),
                "look at the failures below and at the server's log of that time",
            ),
            Self::MemoryGrows { first, last, per_hour } => (
                format!(
                    "the server's memory grew all along: from {} to {}, {} an hour",
                    bytes(first),
                    bytes(last),
                    bytes(per_hour)
                ),
                "it may be a leak: soak for longer, and see whether it levels off",
            ),
            Self::SoakTooShort { stretches, needed } => (
                format!(
                    "too short to look for drift: {} of two median latencies and five answers, \
                     {needed} needed",
                    are(stretches, "stretch", "stretches")
                ),
                "soak for longer; an hour is a start",
            ),
        }
    }
}

fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::Ttft => "TTFT",
        Figure::Latency => "latency",
        Figure::Throughput => "throughput",
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
pub(crate) fn clock(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, _) if seconds < 10.0 => format!("{seconds:.1}s"),
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s:02}s"),
        (h, m, s) => format!("{h}h{m:02}m{s:02}s"),
    }
}
