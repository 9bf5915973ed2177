//! How much of a run is shown: `--columns`, `--percentiles` and `--details`.

use super::values::{List, list};
use clap::Args;
use dyno_model::Message;
use dyno_model::metric::Statistic;
use dyno_report::{LevelColumn, ReportSelection, parse_column, parse_statistic};

/// What tables show.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ColumnArgs {
    /// Percentiles of each time in tables, such as 50,90,95,99.9; mean, min, max and std, too
    /// [default: 50,99; on a wide terminal also mean and 90]
    #[arg(long, value_name = "LIST", value_parser = statistics)]
    pub(crate) percentiles: Option<List<Statistic>>,
    /// Columns of the table of levels, such as requests,throughput,ttft,latency.p95 (dyno help
    /// metrics has the names; heads of columns work, too); level and verdict are always shown
    /// [default: as many as the terminal has room for]
    #[arg(long, value_name = "NAMES", value_parser = columns)]
    pub(crate) columns: Option<List<Vec<LevelColumn>>>,
    /// Show every level with its details above the table (the client's delays, server metrics,
    /// turns, slices of time), and all notes; the HTML report always has them
    #[arg(long)]
    pub(crate) details: bool,
}

impl ColumnArgs {
    /// What reports go by.
    pub(crate) fn selection(&self) -> ReportSelection {
        ReportSelection {
            columns: self.columns.as_ref().map(|list| list.0.iter().flatten().copied().collect()),
            statistics: self.percentiles.as_ref().map(|list| list.0.clone()),
        }
    }
}

fn statistics(text: &str) -> Result<List<Statistic>, Message> {
    list(text, |part| parse_statistic(part).map_err(Message::of))
}

fn columns(text: &str) -> Result<List<Vec<LevelColumn>>, Message> {
    list(text, |part| parse_column(part).map_err(Message::of))
}
