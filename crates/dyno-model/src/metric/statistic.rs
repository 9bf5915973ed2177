//! The statistics of a distribution.

use crate::summary::Distribution;

/// A statistic of a distribution of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statistic {
    /// Arithmetic mean.
    Mean,
    /// Standard deviation.
    Std,
    /// Smallest.
    Min,
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
    /// Largest.
    Max,
}

impl Statistic {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Mean,
        Self::Std,
        Self::Min,
        Self::P50,
        Self::P66,
        Self::P75,
        Self::P80,
        Self::P90,
        Self::P95,
        Self::P98,
        Self::P99,
        Self::P99_9,
        Self::Max,
    ];

    /// Those that an SLO can bound.
    pub const BOUNDED: [Self; 10] = [
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

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::P99_9 => "p99.9",
            other => other.key(),
        }
    }

    /// As it stands in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Std => "std",
            Self::Min => "min",
            Self::P50 => "p50",
            Self::P66 => "p66",
            Self::P75 => "p75",
            Self::P80 => "p80",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P98 => "p98",
            Self::P99 => "p99",
            Self::P99_9 => "p99_9",
            Self::Max => "max",
        }
    }
}

impl Distribution {
    /// A statistic of it.
    pub fn get(&self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Mean => self.mean,
            Statistic::Std => self.std,
            Statistic::Min => self.min,
            Statistic::P50 => self.p50,
            Statistic::P66 => self.p66,
            Statistic::P75 => self.p75,
            Statistic::P80 => self.p80,
            Statistic::P90 => self.p90,
            Statistic::P95 => self.p95,
            Statistic::P98 => self.p98,
            Statistic::P99 => self.p99,
            Statistic::P99_9 => self.p99_9,
            Statistic::Max => self.max,
        }
    }

    /// The 95 % interval of a statistic.
    pub fn interval(&self, statistic: Statistic) -> Option<[f64; 2]> {
        match statistic {
            Statistic::Mean => self.ci95.mean,
            Statistic::P50 => self.ci95.p50,
            Statistic::P90 => self.ci95.p90,
            Statistic::P99 => self.ci95.p99,
            _ => None,
        }
    }

    /// Fewer than ten samples lie beyond a percentile.
    pub fn is_marked(&self, statistic: Statistic) -> bool {
        self.marked.iter().any(|marked| marked == statistic.key())
    }
}
