//! `dyno compare`, `dyno gate` and `dyno baseline`: whether a difference is significant.

use super::charts::ChartArgs;
use super::language::LanguageArgs;
use super::slo;
use super::values;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use dyno_analysis::compare::Compared;
use dyno_model::slo::Slo;
use dyno_model::{Message, message};
use std::path::PathBuf;

/// How differences are tested; shared by the commands that compare.
#[derive(Debug, Args)]
pub(crate) struct TermArgs {
    /// Assumed variation between runs of the same server, where there is one run of each [default: 1%
    /// in a closed loop, 5% at a rate]
    #[arg(long, value_name = "SHARE", value_parser = values::share)]
    pub(crate) between_runs: Option<f64>,
    /// The runs were interleaved round by round: compare within rounds. Detected automatically for
    /// runs of `dyno bench --versus`
    #[arg(long)]
    pub(crate) paired: bool,
}

/// `dyno compare`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/compare.txt"))]
pub(crate) struct CompareArgs {
    /// Runs by name, label or path (see `dyno runs --help`), imported results, saved summaries, or
    /// other tools' files; PATH#NAME selects by name
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) terms: TermArgs,
    /// A difference up to this share does not matter
    #[arg(long, value_name = "SHARE", value_parser = values::share, default_value = "5%")]
    pub(crate) margin: f64,
    /// Also compare the highest load at which each meets this SLO
    #[arg(long, value_name = "SLO", value_parser = slo::slo)]
    pub(crate) slo: Option<Slo>,
    /// Compare only runs I and J, counted from 1 in the order given; may be repeated
    #[arg(long, value_name = "I,J", value_parser = pair)]
    pub(crate) pair: Vec<(usize, usize)>,
    /// The format
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "table")]
    pub(crate) format: CompareFormat,
    #[command(flatten)]
    pub(crate) charts: ChartArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Write to this file instead of stdout; with svg or png and --pair, into this directory
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// How a comparison is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    Table,
    Markdown,
    Csv,
    Parquet,
    Json,
    Svg,
    Png,
    Html,
}

impl CompareFormat {
    /// Whether a file can hold only one of them.
    pub(crate) fn is_one_document(self) -> bool {
        !matches!(self, Self::Table | Self::Markdown)
    }
}

/// `1,2`.
fn pair(text: &str) -> Result<(usize, usize), Message> {
    let positions = text.split_once(',').map(|(a, b)| (a.trim().parse(), b.trim().parse()));
    match positions {
        Some((Ok(a), Ok(b))) if a > 0 && b > 0 && a != b => Ok((a, b)),
        _ => Err(message!(
            "write two different positions, counted from 1, such as 1,2",
            "请写两个不同的序号，从 1 数起，例如 1,2"
        )),
    }
}

/// `dyno gate`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/gate.txt"))]
pub(crate) struct GateArgs {
    /// The run [default: the latest]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<PathBuf>,
    /// What to compare with: the name of a saved baseline, a run, or a file of results
    #[arg(long, value_name = "RUN|FILE|NAME")]
    pub(crate) baseline: PathBuf,
    /// Largest regression that a metric may have
    #[arg(long, value_name = "SHARE", value_parser = values::share)]
    pub(crate) max_regression: f64,
    /// Check only these metrics; may be repeated [default: throughput, TTFT, ITL or TPOT, latency]
    #[arg(long, value_name = "METRIC", value_parser = metric(), value_delimiter = ',')]
    pub(crate) metric: Vec<Compared>,
    #[command(flatten)]
    pub(crate) terms: TermArgs,
    /// Write the checks as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print Markdown for a GitHub job summary
    #[arg(long, conflicts_with = "json")]
    pub(crate) github: bool,
    /// Print the checks as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Directory of the baselines
    #[arg(long, value_name = "DIR", default_value = BASELINES)]
    pub(crate) baselines: PathBuf,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
}

/// The default directory of baselines.
pub(crate) const BASELINES: &str = "dyno-baselines";

fn metric() -> impl TypedValueParser<Value = Compared> {
    let names = Compared::all().filter(|metric| !metric.is_share());
    let names = PossibleValuesParser::new(names.map(Compared::name));
    names.try_map(|name| {
        Compared::named(&name).ok_or_else(|| message!("there is no such metric", "没有这个指标"))
    })
}

/// What to do with baselines.
#[derive(Debug, Subcommand)]
pub(crate) enum BaselineAction {
    /// Save the summary of a run under a name
    #[command(after_help = "Examples:\n  dyno baseline save main dyno-runs/tonight")]
    Save {
        /// Name of the baseline: letters, digits, `-`, `_` and `.`
        #[arg(value_name = "NAME", value_parser = name)]
        name: String,
        /// The run [default: the latest]
        #[arg(value_name = "RUN")]
        run: Option<PathBuf>,
        /// Replace a baseline of that name
        #[arg(long)]
        force: bool,
        /// Directory of the baselines
        #[arg(long, value_name = "DIR", default_value = BASELINES)]
        baselines: PathBuf,
    },
    /// List the baselines
    #[command(after_help = "Examples:\n  dyno baseline list")]
    List {
        /// Directory of the baselines
        #[arg(long, value_name = "DIR", default_value = BASELINES)]
        baselines: PathBuf,
    },
}

fn name(text: &str) -> Result<String, Message> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.starts_with('.') || !text.chars().all(fine) {
        return Err(message!(
            "use letters, digits, `-`, `_` and `.`, and no `.` first",
            "请使用字母、数字、`-`、`_` 和 `.`，且不以 `.` 开头"
        ));
    }
    Ok(text.to_owned())
}
