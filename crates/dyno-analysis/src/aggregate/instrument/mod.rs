//! Instrument ranges: from the uncertainty of a level's times to the range of each statistic. Order
//! statistics are monotone, so the least that all samples may have been gives the least of every
//! percentile, and likewise the most.

mod effective;
mod gaps;
mod own;

pub(crate) use effective::Effective;
pub(crate) use gaps::Gaps;
pub(crate) use own::{Spans, bounds};

use dyno_model::metric::Statistic;
use dyno_model::summary::{Ranges, round6};
use dyno_stats::Counted;

const NS_PER_MS: f64 = 1e6;

/// The ranges of a time's statistics, from the least and the most that its samples may have been, in
/// nanoseconds.
pub(crate) fn ranges(low: &Counted, high: &Counted) -> Ranges {
    Ranges::new(|statistic| {
        let of = |counted: &Counted| match statistic {
            Statistic::Mean => counted.mean(),
            Statistic::P50 => counted.quantile(0.5),
            Statistic::P90 => counted.quantile(0.9),
            Statistic::P95 => counted.quantile(0.95),
            Statistic::P99 => counted.quantile(0.99),
            _ => None,
        };
        Some([of(low)?, of(high)?].map(|ns| round6(ns / NS_PER_MS)))
    })
}
