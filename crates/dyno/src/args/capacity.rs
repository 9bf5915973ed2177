//! The flags of `dyno capacity`.

use super::plan::{PlanArgs, ServerArgs};
use super::{levels, values};
use clap::Args;
use dyno_model::Nanos;
use dyno_model::level_schedule::{Over, Range};
use dyno_model::plan::Arrival;

/// `dyno capacity`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/capacity.txt"))]
pub(crate) struct CapacityArgs {
    /// Predict with the twin in virtual time: seconds instead of an hour
    #[arg(long, conflicts_with = "target")]
    pub(crate) predict: bool,
    #[command(flatten)]
    pub(crate) search: CapacitySearch,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// What is searched for, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct CapacitySearch {
    /// Load to vary: requests per second, or requests in flight
    #[arg(long, value_name = "LOAD", default_value = "rate", value_parser = values::one_of(OVER))]
    pub(crate) over: Over,
    /// Search only between these loads: 10..60
    #[arg(long, value_name = "A..B", value_parser = levels::between, conflicts_with = "near")]
    pub(crate) between: Option<Range>,
    /// Start the search near this load
    #[arg(long, value_name = "LOAD", value_parser = levels::near, allow_hyphen_values = true)]
    pub(crate) near: Option<Range>,
    /// At most N requests in flight; arrivals beyond them wait in the client and are counted
    /// [default: 512 while the server is filled, else no limit]
    #[arg(long, value_name = "N", value_parser = levels::max_concurrency, allow_hyphen_values = true)]
    pub(crate) max_concurrency: Option<u32>,
    /// Measure at most N levels
    #[arg(long, value_name = "N", value_parser = levels::capacity_levels, default_value = "12")]
    pub(crate) levels: u32,
    /// Width of the interval to reach, relative to the load
    #[arg(long, value_name = "SHARE", value_parser = levels::width, default_value = "6%")]
    pub(crate) width: f64,
    /// A rough answer in about 2 minutes: at most 6 levels of 10s or a little more, none begun after
    /// 2 minutes once a load has met the SLO, and an interval of 25 %
    #[arg(long)]
    pub(crate) quick: bool,
    /// Length of each level; extended for slow responses, or where the SLO's percentiles need more
    /// requests [default: 60s; 10m for trees of sessions]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true, conflicts_with = "requests")]
    pub(crate) duration: Option<Nanos>,
    /// Requests per level, instead of a time
    #[arg(long, value_name = "N", value_parser = values::requests, allow_hyphen_values = true)]
    pub(crate) requests: Option<u64>,
    /// Spacing of arrivals: constant, poisson or gamma:SHAPE
    #[arg(long, value_name = "PROCESS", value_parser = values::parsed::<Arrival>, default_value = "poisson")]
    pub(crate) arrival: Arrival,
}

/// What a capacity may be searched over, by name.
const OVER: &[(&str, Over)] = &[("rate", Over::Rate), ("concurrency", Over::Concurrency)];
