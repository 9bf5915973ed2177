//! The flags of `dyno predict`.

use super::bench::{BenchArgs, DataArgs, LoadArgs, OutputArgs};
use super::cost::CostArgs;
use super::course::CourseArgs;
use super::values;
use super::versus::RivalArg;
use clap::{Args, Command, FromArgMatches};

/// `dyno predict`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/predict.txt"))]
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
