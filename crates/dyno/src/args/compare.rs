//! `dyno compare`, `dyno gate` and `dyno baseline`: whether a difference is real.

use super::language::LanguageArgs;
use super::slo;
use super::values;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use dyno_analysis::compare::Compared;
use dyno_model::slo::Slo;
use std::path::PathBuf;

/// What decides whether a difference is one; shared by the commands that compare.
#[derive(Debug, Args)]
pub(crate) struct TermArgs {
    /// How much runs of the same server are taken to differ, where there is one run of each
    /// [default: 1% in a closed loop, 5% at a rate]
    #[arg(long, value_name = "SHARE", value_parser = values::share)]
    pub(crate) between_runs: Option<f64>,
    /// The runs were interleaved, round by round: compare the differences within rounds. Runs of
    /// `dyno bench --versus` are known to be
    #[arg(long)]
    pub(crate) paired: bool,
}

/// `dyno compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Puts runs side by side, level by level: those of the same load and lengths. Where a side has no
such level, its curve is read between the two nearest, marked ~ and not tested. The first run is
what the others are held against. Any of them may be another tool's results.

A difference is called only when it is more than chance: by the spread between rounds where runs
were repeated (--repeat), paired where they were interleaved (--versus), else by the samples within
the runs and an assumption on how much runs differ. Many figures are tested, and the tests are
corrected for that.

Formats: table, markdown, csv, parquet, json, svg, png, html.

Examples:
  dyno compare dyno-runs/vllm dyno-runs/sglang
  dyno compare before after --slo 'ttft.p99<500ms'      and the capacity of each
  dyno compare old.json \"results.md#sglang 4xA100\" --format markdown
  dyno compare a b c --format svg --out compare.svg     overlaid curves
  dyno compare imported --pair 1,2 --pair 3,2 --format svg --out charts/
                                                        several comparisons, and each run's charts")]
pub(crate) struct CompareArgs {
    /// Run directories, imported results, saved summaries, or other tools' files; PATH#NAME picks
    /// by name
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) terms: TermArgs,
    /// A difference up to this share does not matter
    #[arg(long, value_name = "SHARE", value_parser = values::share, default_value = "5%")]
    pub(crate) margin: f64,
    /// Also compare the highest load that each holds at this SLO
    #[arg(long, value_name = "SLO", value_parser = slo::slo)]
    pub(crate) slo: Option<Slo>,
    /// Compare only these two, by their place among all that were named, from 1; may be given
    /// several times
    #[arg(long, value_name = "I,J", value_parser = pair)]
    pub(crate) pair: Vec<(usize, usize)>,
    /// The format
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "table")]
    pub(crate) format: CompareFormat,
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
    /// Two of them one after the other are none.
    pub(crate) fn is_one_document(self) -> bool {
        !matches!(self, Self::Table | Self::Markdown)
    }
}

/// `1,2`.
fn pair(text: &str) -> Result<(usize, usize), String> {
    let places = text.split_once(',').map(|(a, b)| (a.trim().parse(), b.trim().parse()));
    match places {
        Some((Ok(a), Ok(b))) if a > 0 && b > 0 && a != b => Ok((a, b)),
        _ => Err("write two different places from 1 on, such as 1,2".to_owned()),
    }
}

/// `dyno gate`.
#[derive(Debug, Args)]
#[command(after_help = "\
For CI: is this run worse than the baseline by more than is allowed? By the same statistics as dyno
compare, not by a raw threshold: it passes when the figure is surely (95 %) within the bound, and
fails when it is surely beyond. Otherwise it is inconclusive, and says about how many more rounds
it would take.

The exit status is 0 when it passes, 5 when it fails, 6 when it is inconclusive.

Examples:
  dyno gate dyno-runs/tonight --baseline main --max-regression 5%
  dyno gate --baseline last-week/summary.json --max-regression 3% --metric ttft_p99
  dyno gate RUN --baseline main --max-regression 5% --junit gate.xml
  dyno gate RUN --baseline main --max-regression 5% --github >> \"$GITHUB_STEP_SUMMARY\"")]
pub(crate) struct GateArgs {
    /// The run [default: the latest]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<PathBuf>,
    /// What to hold it against: a saved baseline's name, a run directory, or a file of results
    #[arg(long, value_name = "RUN|FILE|NAME")]
    pub(crate) baseline: PathBuf,
    /// The most that a figure may be worse
    #[arg(long, value_name = "SHARE", value_parser = values::share)]
    pub(crate) max_regression: f64,
    /// Only these figures; may be given several times [default: throughput, TTFT, time per token,
    /// latency]
    #[arg(long, value_name = "FIGURE", value_parser = metric(), value_delimiter = ',')]
    pub(crate) metric: Vec<Compared>,
    #[command(flatten)]
    pub(crate) terms: TermArgs,
    /// Write the checks as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print Markdown, as a job summary on GitHub shows it
    #[arg(long, conflicts_with = "json")]
    pub(crate) github: bool,
    /// Print the checks as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Where baselines are kept
    #[arg(long, value_name = "DIR", default_value = BASELINES)]
    pub(crate) baselines: PathBuf,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
}

/// Where baselines are kept unless told otherwise.
pub(crate) const BASELINES: &str = "dyno-baselines";

fn metric() -> impl TypedValueParser<Value = Compared> {
    let names = Compared::all().filter(|metric| !metric.is_failures());
    let names = PossibleValuesParser::new(names.map(Compared::name));
    names.try_map(|name| Compared::named(&name).ok_or("there is no such figure"))
}

/// `dyno baseline`.
#[derive(Debug, Args)]
#[command(after_help = "\
A baseline is the summary of a run under a name: a small file, fit for git, that dyno gate and dyno
compare read. Records are not kept.

Examples:
  dyno baseline save main                     the latest run becomes the baseline main
  dyno baseline save main dyno-runs/tonight
  dyno baseline list
  dyno gate --baseline main --max-regression 5%")]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    pub(crate) action: BaselineAction,
}

/// What to do with baselines.
#[derive(Debug, Subcommand)]
pub(crate) enum BaselineAction {
    /// Keep a run's summary under a name
    Save(SaveArgs),
    /// List what is kept
    List(ListArgs),
}

/// `dyno baseline save`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dyno baseline save main dyno-runs/tonight")]
pub(crate) struct SaveArgs {
    /// Its name: letters, digits, `-`, `_` and `.`
    #[arg(value_name = "NAME", value_parser = name)]
    pub(crate) name: String,
    /// The run [default: the latest]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<PathBuf>,
    /// Replace a baseline of that name
    #[arg(long)]
    pub(crate) force: bool,
    /// Where baselines are kept
    #[arg(long, value_name = "DIR", default_value = BASELINES)]
    pub(crate) baselines: PathBuf,
}

/// `dyno baseline list`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dyno baseline list")]
pub(crate) struct ListArgs {
    /// Where baselines are kept
    #[arg(long, value_name = "DIR", default_value = BASELINES)]
    pub(crate) baselines: PathBuf,
}

fn name(text: &str) -> Result<String, String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.starts_with('.') || !text.chars().all(fine) {
        return Err("use letters, digits, `-`, `_` and `.`, and no `.` first".to_owned());
    }
    Ok(text.to_owned())
}
