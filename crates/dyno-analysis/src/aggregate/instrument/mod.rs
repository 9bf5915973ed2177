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
use dyno_stats::{Counted, PERCENTILES};

const NS_PER_MS: f64 = 1e6;

/// The ranges of a time's statistics, from the least and the most that its samples may have been, in
/// nanoseconds.
pub(crate) fn ranges(low: &Counted, high: &Counted) -> Ranges {
    Ranges::new(|statistic| {
        let of = |counted: &Counted| match statistic {
            Statistic::Mean => counted.mean(),
            Statistic::Max => counted.max().map(|most| most as f64),
            Statistic::Std | Statistic::Min => None,
            percentile => {
                let of = PERCENTILES.iter().find(|one| one.name == percentile.key())?;
                counted.quantile(of.share())
            }
        };
        Some([of(low)?, of(high)?].map(|ns| round6(ns / NS_PER_MS)))
    })
}
