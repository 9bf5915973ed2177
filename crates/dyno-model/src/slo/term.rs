//! What a term is made of: a figure, which side of a bound it has to be on, and the bound.

use crate::Nanos;
use crate::units::{format_duration, to_ms};
use std::fmt;

/// A figure of a level that can be bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Time to the first output, from when the request was sent.
    Ttft,
    /// The same, from when it was due.
    ScheduledTtft,
    /// Time per output token after the first.
    Tpot,
    /// Time between tokens.
    Itl,
    /// Time to the last output, from when the request was sent.
    Latency,
    /// The same, from when it was due.
    ScheduledLatency,
    /// Share of failed and dropped requests among those that ended.
    Errors,
    /// Completed requests per second.
    Throughput,
    /// Output tokens per second.
    Tokens,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Ttft,
        Self::ScheduledTtft,
        Self::Tpot,
        Self::Itl,
        Self::Latency,
        Self::ScheduledLatency,
        Self::Errors,
        Self::Throughput,
        Self::Tokens,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ttft => "ttft",
            Self::ScheduledTtft => "scheduled.ttft",
            Self::Tpot => "tpot",
            Self::Itl => "itl",
            Self::Latency => "latency",
            Self::ScheduledLatency => "scheduled.latency",
            Self::Errors => "errors",
            Self::Throughput => "throughput",
            Self::Tokens => "tokens",
        }
    }

    /// What it is measured in.
    pub fn unit(self) -> Unit {
        match self {
            Self::Errors => Unit::Percent,
            Self::Throughput => Unit::RequestsPerSecond,
            Self::Tokens => Unit::TokensPerSecond,
            _ => Unit::Milliseconds,
        }
    }

    /// It is a time, which each request has, and of which there are statistics.
    pub fn is_time(self) -> bool {
        self.unit() == Unit::Milliseconds
    }

    /// More of it is better, so an SLO is a floor.
    pub fn is_work(self) -> bool {
        matches!(self, Self::Throughput | Self::Tokens)
    }

    /// Only streamed answers have it.
    pub fn needs_stream(self) -> bool {
        matches!(self, Self::Ttft | Self::ScheduledTtft | Self::Tpot | Self::Itl)
    }
}

/// What a figure is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Times.
    Milliseconds,
    /// Shares.
    Percent,
    /// Requests.
    RequestsPerSecond,
    /// Tokens.
    TokensPerSecond,
}

impl Unit {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Percent => "%",
            Self::RequestsPerSecond => "req/s",
            Self::TokensPerSecond => "tok/s",
        }
    }
}

/// Which figure of a distribution of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// Arithmetic mean.
    Mean,
    /// Median.
    P50,
    /// 66th percentile.
    P66,
    /// 75th percentile.
    P75,
    /// 80th percentile.
    P80,
    /// 90th percentile.
    P90,
    /// 95th percentile.
    P95,
    /// 98th percentile.
    P98,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P99_9,
}

impl Statistic {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Mean,
        Self::P50,
        Self::P66,
        Self::P75,
        Self::P80,
        Self::P90,
        Self::P95,
        Self::P98,
        Self::P99,
        Self::P99_9,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P66 => "p66",
            Self::P75 => "p75",
            Self::P80 => "p80",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P98 => "p98",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
        }
    }
}

/// How a figure is compared with its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`.
    Below,
    /// `<=`.
    AtMost,
    /// `>`.
    Above,
    /// `>=`.
    AtLeast,
}

impl Operator {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }

    /// `<` or `<=`.
    pub fn is_ceiling(self) -> bool {
        matches!(self, Self::Below | Self::AtMost)
    }

    /// Whether `value` is on the right side of `bound`.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
        }
    }
}

/// A bound in the unit that it was written in, so that it prints as it was meant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Of a time.
    Time(Nanos),
    /// Of a share.
    Percent(f64),
    /// Of work.
    PerSecond(f64),
}

/// One comparison of a figure with a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The figure.
    pub metric: Metric,
    /// Which of its statistics; times have one, other figures none.
    pub statistic: Option<Statistic>,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub bound: Bound,
}

impl Term {
    /// The figure's name with its statistic: `ttft.p99`.
    pub fn figure(&self) -> String {
        match self.statistic {
            Some(statistic) => format!("{}.{}", self.metric.name(), statistic.name()),
            None => self.metric.name().to_owned(),
        }
    }

    /// The bound in the metric's [`Unit`].
    pub fn limit(&self) -> f64 {
        match self.bound {
            Bound::Time(nanos) => to_ms(nanos),
            Bound::Percent(value) | Bound::PerSecond(value) => value,
        }
    }

    /// Whether a value in the metric's [`Unit`] is on the right side of the bound.
    pub fn holds(&self, value: f64) -> bool {
        self.operator.holds(value, self.limit())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.figure(), self.operator.name())?;
        match self.bound {
            Bound::Time(nanos) => f.write_str(&format_duration(nanos)),
            Bound::Percent(value) => write!(f, "{value}%"),
            Bound::PerSecond(value) => write!(f, "{value}{}", self.metric.unit().name()),
        }
    }
}
