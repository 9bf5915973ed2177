//! The flags of `dyno predict`.

use super::bench::{ApiArg, BenchArgs, DataArgs, LoadArgs, OutputArgs};
use super::cost::CostArgs;
use super::course::CourseArgs;
use super::values;
use super::versus::RivalArg;
use clap::{Args, Command, FromArgMatches};

/// `dyno predict`.
#[derive(Debug, Args)]
#[command(after_help = "\
The same loads, lengths and data as `dyno bench`, answered by a twin in virtual time: an hour of
load takes seconds. The run directory is of the same form, marked as simulated, so every report
works on it. Past the range that a twin was fitted on it says so; past its knee it gives a capacity
instead of a latency.

Examples:
  dyno predict --concurrency 8,32,128 --requests 1000
      what the default twin would do
  dyno predict --twin qwen1-5-7b-8x910b4-mindie --rate 5,10,20 --input-tokens 40 --output-tokens 240
      an open loop on a system that was measured by others; `dyno twins` lists them
  dyno predict --ramp '1..40/s over 10m in 10 steps' --output-tokens 64
      at which rate it bends
  dyno predict --twin my-server.toml --data trace:calls.jsonl
      a twin of your own, made with `dyno fit`, under recorded traffic")]
pub(crate) struct PredictArgs {
    /// The twin: the name of a shipped one, or a file
    #[arg(long, value_name = "NAME|FILE", value_parser = values::some_text)]
    pub(crate) twin: Option<String>,
    /// Another twin, in turns with the first, level by level; each has a run of its own
    #[arg(long, value_name = "NAME|FILE", value_parser = super::versus::twin)]
    pub(crate) versus: Option<RivalArg>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) course: CourseArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Dialect whose requests are made up
    #[arg(long, value_name = "API", help_heading = "Request")]
    pub(crate) api: Option<ApiArg>,
    /// Ask for whole answers instead of streams (there is then no TTFT, TPOT or ITL)
    #[arg(long, help_heading = "Request")]
    pub(crate) no_stream: bool,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl PredictArgs {
    /// The same as flags of `dyno bench`, with the defaults of everything that a twin does not
    /// have.
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
