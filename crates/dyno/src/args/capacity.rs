//! The flags of `dyno capacity`.

use super::bench::{BenchArgs, ConnectionArgs, DataArgs, OutputArgs, RequestArgs, TimeoutArgs};
use super::cost::CostArgs;
use super::levels;
use super::metrics::MetricsArgs;
use super::target::{TargetUrl, target};
use super::values;
use clap::{Args, Command, FromArgMatches, ValueEnum};
use dyno_model::Nanos;
use dyno_model::course::{Over, Range};
use dyno_model::plan::{Arrival, Warmup};

/// `dyno capacity`.
#[derive(Debug, Args)]
#[command(after_help = "\
Finds the highest load that keeps the SLO given with --slo, and answers with an interval and how
sure it is: \"holds 41.2 req/s, does not hold 44.0\". It begins with one request at a time and with
a full server, brackets the edge, then measures on both sides of it; every level is long enough for
the percentiles of the SLO. The run directory holds all levels, as with `dyno bench`. Without a
target, the embedded engine is measured; with --predict, a twin answers in virtual time. A level
that cannot be judged is measured once more, and never taken for one that failed. The exit status
is 5 if the SLO is missed even at the lowest load, and 6 if that is inconclusive.

Examples:
  dyno capacity http://localhost:8000 --slo 'ttft.p99<500ms and tpot.p95<50ms and errors<1%'
      how many requests per second this server holds
  dyno capacity http://localhost:8000 --slo 'ttft.p95<1s' --over concurrency
      how many users at a time
  dyno capacity http://localhost:8000 --slo 'latency.p90<8s' --between 2..20 --duration 2m
      where it must be, and longer levels
  dyno capacity --twin qwen2-72b-4xa100-vllm --predict --slo 'ttft.p99<2s' --input-tokens 512
      what a system would hold that was measured by others")]
pub(crate) struct CapacityArgs {
    /// Base URL of the server, with or without /v1, or a full endpoint path [default: an embedded
    /// engine]
    #[arg(value_name = "TARGET", value_parser = target)]
    pub(crate) target: Option<TargetUrl>,
    /// Twin that the embedded engine behaves like: the name of a shipped one, or a file
    #[arg(long, value_name = "NAME|FILE", value_parser = values::some_text, conflicts_with = "target")]
    pub(crate) twin: Option<String>,
    /// Let the twin answer in virtual time: seconds instead of an hour
    #[arg(long, conflicts_with = "target")]
    pub(crate) predict: bool,
    #[command(flatten)]
    pub(crate) search: CapacitySearch,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) timeouts: TimeoutArgs,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What is looked for, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct CapacitySearch {
    /// Which load is raised: requests per second, or requests in flight
    #[arg(long, value_name = "LOAD", default_value = "rate")]
    pub(crate) over: OverArg,
    /// Look nowhere but between these loads: 10..60
    #[arg(long, value_name = "A..B", value_parser = levels::between, conflicts_with = "near")]
    pub(crate) between: Option<Range>,
    /// Begin about here
    #[arg(long, value_name = "LOAD", value_parser = levels::near, allow_hyphen_values = true)]
    pub(crate) near: Option<Range>,
    /// At most N requests in flight; arrivals beyond them wait in the client and are counted
    /// [default: 512 while the server is filled, else no limit]
    #[arg(long, value_name = "N", value_parser = levels::max_concurrency, allow_hyphen_values = true)]
    pub(crate) max_concurrency: Option<u32>,
    /// Measure no more levels than these
    #[arg(long, value_name = "N", value_parser = levels::capacity_levels, default_value = "12")]
    pub(crate) levels: u32,
    /// How far apart the ends of the answer may be
    #[arg(long, value_name = "SHARE", value_parser = levels::width, default_value = "6%")]
    pub(crate) width: f64,
    /// Length of each level; longer where answers take long, or where the SLO's percentiles need
    /// more requests [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true, conflicts_with = "requests")]
    pub(crate) duration: Option<Nanos>,
    /// Requests of each level, instead of a time
    #[arg(long, value_name = "N", value_parser = values::requests, allow_hyphen_values = true)]
    pub(crate) requests: Option<u64>,
    /// Spacing of arrivals: constant, poisson or gamma:SHAPE
    #[arg(long, value_name = "PROCESS", default_value = "poisson")]
    pub(crate) arrival: Arrival,
    /// Send N requests, or for a time such as 10s, before each level; labelled and not measured
    #[arg(long, value_name = "N|TIME", value_parser = values::warmup, allow_hyphen_values = true)]
    pub(crate) warmup: Option<Warmup>,
    /// Grace after each level; what still runs then is recorded as censored
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true, default_value = "30s")]
    pub(crate) drain: Nanos,
    /// Rest between levels, once nothing is in flight
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true, default_value = "0s")]
    pub(crate) cooldown: Nanos,
    /// Have the server forget what it has cached before each level (/reset_prefix_cache or
    /// /flush_cache)
    #[arg(long)]
    pub(crate) reset_cache: bool,
    /// Print what would be tried first, and stop: nothing is sent
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Seed of arrivals and prompts: the same seed sends the same again [default: a new one for each
    /// run, which is printed and kept]
    #[arg(long, value_name = "N", value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
}

/// Which load is raised.
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
    /// The same as flags of `dyno bench`, with the defaults of all that it does not have.
    pub(crate) fn into_bench(self) -> Result<BenchArgs, clap::Error> {
        use clap::Args as _;
        let command = BenchArgs::augment_args(Command::new("dyno"));
        let mut bench = BenchArgs::from_arg_matches(&command.try_get_matches_from(["dyno"])?)?;
        (bench.target, bench.twin, bench.data) = (self.target, self.twin, self.data);
        (bench.request, bench.connection) = (self.request, self.connection);
        (bench.timeouts, bench.metrics, bench.cost) = (self.timeouts, self.metrics, self.cost);
        bench.output = self.output;
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
