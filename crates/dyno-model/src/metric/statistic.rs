//! The statistics of a distribution, one row each.

use crate::Language;
use crate::summary::Distribution;

macro_rules! statistics {
    ($($(#[$about:meta])* $name:ident: $key:literal, $field:ident;)*) => {
        /// A statistic of a distribution of times.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Statistic { $($(#[$about])* $name,)* }

        impl Statistic {
            /// All of them.
            pub const ALL: [Self; [$($key),*].len()] = [$(Self::$name),*];

            /// As it stands in files.
            pub fn key(self) -> &'static str {
                match self { $(Self::$name => $key,)* }
            }
        }

        impl Distribution {
            /// A statistic of it.
            pub fn get(&self, statistic: Statistic) -> Option<f64> {
                match statistic { $(Statistic::$name => self.$field,)* }
            }
        }
    };
}

statistics! {
    /// Arithmetic mean.
    Mean: "mean", mean;
    /// Standard deviation.
    Std: "std", std;
    /// Smallest.
    Min: "min", min;
    /// Median.
    P50: "p50", p50;
    /// 66th percentile.
    P66: "p66", p66;
    /// 75th percentile.
    P75: "p75", p75;
    /// 80th percentile.
    P80: "p80", p80;
    /// 90th percentile.
    P90: "p90", p90;
    /// 95th percentile.
    P95: "p95", p95;
    /// 98th percentile.
    P98: "p98", p98;
    /// 99th percentile.
    P99: "p99", p99;
    /// 99.9th percentile.
    P99_9: "p99_9", p99_9;
    /// Largest.
    Max: "max", max;
}

impl Statistic {
    /// Those that an SLO can bound: the mean and the percentiles.
    pub fn bounded() -> impl Iterator<Item = Self> {
        let extreme = |which: &Self| matches!(which, Self::Std | Self::Min | Self::Max);
        Self::ALL.into_iter().filter(move |which| !extreme(which))
    }

    /// Whether it lies above the median.
    pub fn is_tail(self) -> bool {
        !matches!(self, Self::Mean | Self::Std | Self::Min | Self::P50)
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::P99_9 => "p99.9",
            other => other.key(),
        }
    }

    /// Its name in a text. Percentiles have one name.
    pub fn label(self, language: Language) -> &'static str {
        let chinese = match self {
            Self::Mean => "平均值",
            Self::Std => "标准差",
            Self::Min => "最小值",
            Self::Max => "最大值",
            percentile => percentile.name(),
        };
        language.choose([self.name(), chinese])
    }
}

impl Distribution {
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
