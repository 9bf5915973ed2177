//! A term: a metric, an operator and a bound.

use crate::Nanos;
use crate::metric::{Metric, Statistic, Unit};
use crate::units::{format_duration, to_ms};
use std::fmt;

/// How a metric is compared with its bound.
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

/// A bound in the unit in which it was written, so that it prints the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Of a time.
    Time(Nanos),
    /// Of a share.
    Percent(f64),
    /// Of work.
    PerSecond(f64),
}

/// One comparison of a metric with a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The metric.
    pub metric: Metric,
    /// Which of its statistics; only times have one.
    pub statistic: Option<Statistic>,
    /// How it is compared.
    pub operator: Operator,
    /// With what.
    pub bound: Bound,
}

impl Term {
    /// The metric with its statistic: `ttft.p99`.
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
            // `inputs>500inputs/s` would say it twice.
            Bound::PerSecond(value) if self.metric.unit() == Unit::InputsPerSecond => {
                write!(f, "{value}/s")
            }
            Bound::PerSecond(value) => write!(f, "{value}{}", self.metric.unit().name()),
        }
    }
}
