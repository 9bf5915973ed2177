//! The flags of `dyno predict`.

use super::bench::{BenchArgs, DataArgs, LoadArgs, OutputArgs};
use super::cost::CostArgs;
use super::course::CourseArgs;
use super::values;
use super::versus::RivalArg;
use clap::{Args, Command, FromArgMatches};

/// `dyno predict`.
#[derive(Debug, Args)]
#[command(after_help = "\
The same loads, lengths and data as `dyno bench`, answered by a twin in virtual time: an hour of
load takes seconds. The run directory has the same format, marked as simulated, so every report
works on it. Loads outside the range that a twin was fitted to are marked as extrapolation; beyond
its knee, a capacity is given instead of a latency.

Examples:
  dyno predict --concurrency 8,32,128 --requests 1000
      what the default twin predicts
  dyno predict --twin qwen1-5-7b-8x910b4-mindie --rate 5,10,20 --input-tokens 40 --output-tokens 240
      an open loop on a published system; `dyno twins` lists them
  dyno predict --ramp '1..40/s over 10m in 10 steps' --output-tokens 64
      at which rate the knee is
  dyno predict --twin my-server.toml --data trace:calls.jsonl
      your own twin, made with `dyno fit`, under recorded traffic")]
pub(crate) struct PredictArgs {
    /// The twin: a shipped one by name (`dyno twins`), or a file
    #[arg(long, value_name = "NAME|FILE", value_parser = values::some_text)]
    pub(crate) twin: Option<String>,
    /// A second twin, alternating with the first level by level; each gets its own run
    #[arg(long, value_name = "NAME|FILE", value_parser = super::versus::twin)]
    pub(crate) versus: Option<RivalArg>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) course: CourseArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// API dialect of the synthetic requests
    #[arg(long, value_name = "API", help_heading = "Request", value_parser = values::api())]
    pub(crate) api: Option<String>,
    /// Request complete responses instead of streams (no TTFT, TPOT or ITL then)
    #[arg(long, help_heading = "Request")]
    pub(crate) no_stream: bool,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl PredictArgs {
    /// The same as flags of `dyno bench`, with defaults for everything that a twin does not have.
    pub(crate) fn into_bench(self) -> Result<BenchArgs, clap::Error> {
        use clap::Args as _;
        let command = BenchArgs::augment_args(Command::new("dyno"));
        let mut bench = BenchArgs::from_arg_matches(&command.try_get_matches_from(["dyno"])?)?;
        (bench.load, bench.data, bench.output) = (self.load, self.data, self.output);
        bench.course = self.course;
        bench.cost = self.cost;
        bench.twin = self.twin;
        bench.versus.versus = self.versus;
        bench.request.api = self.api;
        bench.request.no_stream = self.no_stream;
        Ok(bench)
    }
}
