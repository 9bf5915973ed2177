//! The flags of `dyno capacity`.

use super::bench::{BenchArgs, ConnectionArgs, DataArgs, OutputArgs, RequestArgs, TimeoutArgs};
use super::cost::CostArgs;
use super::fleet::FleetArgs;
use super::levels;
use super::metrics::MetricsArgs;
use super::overload::OverloadArgs;
use super::target::{TargetUrl, target};
use super::values;
use clap::{Args, Command, FromArgMatches, ValueEnum};
use dyno_model::Nanos;
use dyno_model::course::{Over, Range};
use dyno_model::plan::{Arrival, Warmup};

/// `dyno capacity`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/capacity.txt"))]
pub(crate) struct CapacityArgs {
    /// Base URL of the server, with or without /v1, or a full endpoint path [default: an embedded
    /// engine]
    #[arg(value_name = "TARGET", value_parser = target)]
    pub(crate) target: Option<TargetUrl>,
    /// Twin that the embedded engine simulates: a shipped one by name (`dyno twins`), or a file
    #[arg(long, value_name = "NAME|FILE", value_parser = values::some_text, conflicts_with = "target")]
    pub(crate) twin: Option<String>,
    /// Predict with the twin in virtual time: seconds instead of an hour
    #[arg(long, conflicts_with = "target")]
    pub(crate) predict: bool,
    #[command(flatten)]
    pub(crate) search: CapacitySearch,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) timeouts: TimeoutArgs,
    #[command(flatten)]
    pub(crate) overload: OverloadArgs,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What is searched for, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct CapacitySearch {
    /// Load to vary: requests per second, or requests in flight
    #[arg(long, value_name = "LOAD", default_value = "rate")]
    pub(crate) over: OverArg,
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
    /// requests [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true, conflicts_with = "requests")]
    pub(crate) duration: Option<Nanos>,
    /// Requests per level, instead of a time
    #[arg(long, value_name = "N", value_parser = values::requests, allow_hyphen_values = true)]
    pub(crate) requests: Option<u64>,
    /// Spacing of arrivals: constant, poisson or gamma:SHAPE
    #[arg(long, value_name = "PROCESS", default_value = "poisson")]
    pub(crate) arrival: Arrival,
    /// Warm up each level with N requests, or for a time such as 10s; recorded but not measured
    #[arg(long, value_name = "N|TIME", value_parser = values::warmup, allow_hyphen_values = true)]
    pub(crate) warmup: Option<Warmup>,
    /// Time to wait for running requests after each level; those still running then are recorded as
    /// censored
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true, default_value = "30s")]
    pub(crate) drain: Nanos,
    /// Pause between levels, after the previous one has drained
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true, default_value = "0s")]
    pub(crate) cooldown: Nanos,
    /// Reset the server's prefix cache before each level (/reset_prefix_cache or /flush_cache)
    #[arg(long)]
    pub(crate) reset_cache: bool,
    /// Print the plan of the search and exit without sending anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Seed of arrivals and prompts: the same seed repeats both [default: random, printed and
    /// recorded]
    #[arg(long, value_name = "N", value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
}

/// Which load is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OverArg {
    Rate,
    Concurrency,
}

impl From<OverArg> for Over {
    fn from(over: OverArg) -> Self {
        match over {
            OverArg::Rate => Self::Rate,
            OverArg::Concurrency => Self::Concurrency,
        }
    }
}

impl CapacityArgs {
    /// The same as flags of `dyno bench`, with defaults for everything else.
    pub(crate) fn into_bench(self) -> Result<BenchArgs, clap::Error> {
        use clap::Args as _;
        let command = BenchArgs::augment_args(Command::new("dyno"));
        let mut bench = BenchArgs::from_arg_matches(&command.try_get_matches_from(["dyno"])?)?;
        (bench.target, bench.twin, bench.data) = (self.target, self.twin, self.data);
        (bench.request, bench.connection) = (self.request, self.connection);
        (bench.timeouts, bench.metrics, bench.cost) = (self.timeouts, self.metrics, self.cost);
        (bench.output, bench.overload) = (self.output, self.overload);
        bench.fleet = self.fleet;
        bench.course.cooldown = self.search.cooldown;
        (bench.course.reset_cache, bench.course.dry_run) =
            (self.search.reset_cache, self.search.dry_run);
        bench.load.max_concurrency = self.search.max_concurrency;
        bench.load.arrival = None;
        (bench.load.drain, bench.load.seed) = (self.search.drain, self.search.seed);
        bench.load.warmup = self.search.warmup;
        bench.load.capacity = Some(self.search);
        Ok(bench)
    }
}
