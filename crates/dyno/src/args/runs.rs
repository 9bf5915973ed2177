//! `dyno runs` and `dyno open`: the runs that there are.

use super::language::LanguageArgs;
use super::values;
use crate::commands::RUNS;
use clap::{Args, Subcommand};
use dyno_model::units::parse_duration;
use dyno_model::{Message, Verdict, message, when};
use std::path::PathBuf;

/// `dyno runs`.
#[derive(Debug, Args)]
#[command(
    subcommand_precedence_over_arg = true,
    after_help = include_str!("../help/runs.txt")
)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) action: Option<RunsAction>,
    /// Only runs with these words in their name, label, tags, model or target
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Only runs with this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Only runs whose label contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
    /// Only runs whose model contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) model: Option<String>,
    /// Only runs started since: 2d or 12h ago, or a date such as 2026-01-31 (UTC)
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<Since>,
    /// Only runs with this verdict
    #[arg(long, value_name = "VERDICT", value_parser = values::one_of(VERDICTS))]
    pub(crate) verdict: Option<Verdict>,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Directory that holds the runs
    #[arg(long, value_name = "DIR", default_value = RUNS, global = true)]
    pub(crate) dir: PathBuf,
}

/// What to do with runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// Set the label of a run; '' removes it
    Label {
        /// The run
        #[arg(value_name = "RUN")]
        run: String,
        /// The label, one line
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// Add and remove tags: +nightly -old
    Tag {
        /// The run
        #[arg(value_name = "RUN")]
        run: String,
        /// +TAG or TAG adds, -TAG removes
        #[arg(value_name = "±TAG", required = true, allow_hyphen_values = true)]
        tags: Vec<String>,
    },
    /// Delete runs for good
    Delete {
        /// The runs
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Print the command line that made a run, without keys and other secrets
    Command {
        /// The run
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
    },
    /// Show the HTML report of a run
    Open(OpenArgs),
}

/// `dyno open`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Opens report.html of the run with $BROWSER, else with xdg-open where there is a display. Over ssh or
without a display it says how to view the page instead. A page that is missing, or older than the
run's label, is written first.

Examples:
  dyno open                 the latest run
  dyno open 9f3c            the run whose name ends in 9f3c
  dyno open nightly         the run with that label")]
pub(crate) struct OpenArgs {
    /// The run [default: the latest]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
}

/// The earliest start of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// So many nanoseconds ago.
    Ago(u64),
    /// At this time, in nanoseconds since 1970.
    At(u64),
}

fn since(text: &str) -> Result<Since, Message> {
    if let Some(at) = when::parse_utc(text) {
        return Ok(Since::At(at));
    }
    parse_duration(text).map(Since::Ago).map_err(|_| {
        message!("`{text}` is neither a time span nor a date", "`{text}` 既不是时间段也不是日期")
            .with_hint(message!(
                "write 2d, 12h or 30min, or a date such as 2026-01-31",
                "请写 2d、12h 或 30min，或日期，例如 2026-01-31"
            ))
    })
}

/// The verdicts by name.
const VERDICTS: &[(&str, Verdict)] =
    &[("valid", Verdict::Valid), ("suspect", Verdict::Suspect), ("invalid", Verdict::Invalid)];
