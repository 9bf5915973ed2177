//! Numbers in, numbers out: exact quantiles and when they may be shown, a block bootstrap over time, a
//! trend test for a queue, an overload test, bounds on quantiles from few samples, the precision of a
//! metric while it is measured, whether two runs differ, and two tests on random samples.
//! Nothing here knows what a request or a file is, and everything is deterministic.

pub mod beyond;
pub mod bins;
pub mod blocks;
pub mod compare;
pub mod counted;
pub mod dispersion;
pub mod drift;
pub mod hinge;
pub mod kolmogorov;
pub mod percentile;
pub mod rng;
pub mod saturation;
pub mod share;
pub mod stability;
pub mod tally;
pub mod trend;

pub use blocks::{BlockTable, Interval, Intervals, MIN_BLOCKS};
pub use counted::Counted;
pub use dispersion::index_of_dispersion;
pub use drift::{Drift, drift, more_marked};
pub use hinge::{Hinge, hinge};
pub use kolmogorov::{KsTest, ks_one_sample};
pub use percentile::{
    PERCENTILES, Percentile, Presence, by_rank, quantile, quantile_of, upper_median,
};
pub use saturation::{Offered, Saturation, saturation};
pub use share::share_p;
pub use stability::{
    Precision, StabilityWatch, Standing, WatchedStatistic, precision, samples_to_stop,
};
pub use tally::Tally;
pub use trend::{Trend, trend};
