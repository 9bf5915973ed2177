//! The flags of `dyno predict`.

use super::bench::LoadArgs;
use super::course::CourseArgs;
use super::plan::PlanArgs;
use super::values;
use super::versus::RivalArg;
use clap::Args;

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
    /// API dialect of the synthetic requests
    #[arg(long, value_name = "API", help_heading = "Request", value_parser = values::api())]
    pub(crate) api: Option<String>,
    /// Request complete responses instead of streams (no TTFT, TPOT or ITL then)
    #[arg(long, help_heading = "Request")]
    pub(crate) no_stream: bool,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
}
