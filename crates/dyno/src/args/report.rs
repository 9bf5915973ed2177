//! `dyno report`: which runs, in which format and language, and where to.

use super::charts::ChartArgs;
use super::columns::ColumnArgs;
use super::language::LanguageArgs;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dyno_model::message;
use dyno_report::layout::Layout;
use std::path::PathBuf;

const EXAMPLES: &str = "
Examples:
  dyno report                                     the latest run under dyno-runs/
  dyno report dyno-runs/20260102T030405Z-9f3c     that run
  dyno report --json | jq '.levels[].throughput'
  dyno report --format markdown --lang zh         for a document, in Chinese
  dyno report --columns requests,ttft,latency --percentiles 50,95,99.9
  dyno report a b --format guidellm               two runs, one table each
  dyno report --format csv --per-request --out requests.csv
  dyno report --format parquet --per-request --out requests.parquet
  dyno report --format svg --out charts.svg       charts, for a browser
  dyno report --format png --out charts.png       charts, for a chat or a slide
  dyno report --format png --layout 2x2 --size 1600x1000 --out four.png
  dyno report --format html --out report.html     the whole report as one page";

/// The description of every format. A variant of the one before is added to its line.
fn formats() -> String {
    let mut text = "\
The report is computed from the records, so its bytes are the same each time. An interrupted run is
reported as far as it got, and marked as partial. An absent value is –, an empty field or null,
never 0.

Formats:"
        .to_owned();
    let mut before = "";
    for layout in Layout::ALL {
        let (name, about) = (layout.name(), layout.about().replace('\n', "\n                 "));
        if !before.is_empty() && name.strip_prefix(before).is_some_and(|rest| rest.starts_with('-'))
        {
            text += &format!("; {name}: {about}");
        } else {
            text += &format!("\n  {name:<15}{about}");
        }
        before = name;
    }
    text + "\n"
}

/// `dyno report`.
#[derive(Debug, Args)]
#[command(after_help = formats() + EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Runs: names, labels or paths (see `dyno runs --help`) [default: the latest]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The format
    #[arg(long, value_name = "FORMAT", value_parser = layout(), default_value = "table")]
    pub(crate) format: Layout,
    /// Print summary.json instead of tables; the same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// With --format csv or parquet: one row per request instead of one per level
    #[arg(long, conflicts_with = "json")]
    pub(crate) per_request: bool,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) charts: ChartArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// A report to write beside a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// None.
    Nothing,
    /// In this layout.
    As(Layout),
}

/// The layouts that may be written beside a run by their names, and `none`.
pub(crate) fn written() -> impl TypedValueParser<Value = Written> {
    let names = Layout::ALL.iter().map(|layout| layout.name()).chain(["none"]);
    PossibleValuesParser::new(names).map(|name| match Layout::named(&name) {
        Some(layout) => Written::As(layout),
        None => Written::Nothing,
    })
}

/// The formats by name; the help page describes them.
fn layout() -> impl TypedValueParser<Value = Layout> {
    let names = PossibleValuesParser::new(Layout::ALL.iter().map(|layout| layout.name()));
    names.try_map(|name| {
        Layout::named(&name).ok_or_else(|| message!("there is no such layout", "没有这个格式"))
    })
}
