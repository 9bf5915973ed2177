//! The flags of `dyno twins`.

use super::values;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `dyno twins`.
#[derive(Debug, Args)]
#[command(after_help = "\
A twin is the embedded engine with the settings and coefficients of one real system, fitted to
published or measured results. Everything that comes from a twin is simulated.

Examples:
  dyno twins                            all twins, with the error of each
  dyno twins show qwen1-5-7b-8x910b4-mindie settings, coefficients, and every row next to the twin
  dyno twins verify                     replay every twin on all of its rows, without fitting
  dyno twins check RUN --twin my-server.toml   is the server still what the twin says?
  dyno predict --twin NAME --rate 4     predict with one")]
pub(crate) struct TwinsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<TwinsCommand>,
}

/// What to do with twins.
#[derive(Debug, Subcommand)]
pub(crate) enum TwinsCommand {
    /// Show one twin: its settings, and its predictions next to the measurements
    #[command(after_help = "\
Examples:
  dyno twins show qwen1-5-7b-8x910b4-mindie
  dyno twins show my-server.toml")]
    Show {
        /// Name of a shipped twin, or a file
        #[arg(value_name = "NAME|FILE")]
        twin: String,
    },
    /// Replay twins on all of their reference rows and print the errors
    #[command(after_help = "\
Examples:
  dyno twins verify
  dyno twins verify qwen1-5-7b-8x910b4-mindie")]
    Verify {
        /// Names of shipped twins, or files [default: all shipped ones]
        #[arg(value_name = "NAME|FILE")]
        twins: Vec<String>,
    },
    /// Compare a measured run with a twin: is the server still the same, and if not, what changed?
    #[command(after_help = "\
Sends every request of the run to the twin, as it was sent, and compares throughput and times of
each level. A level differs if it is further from the twin than runs repeat and than the twin's
own errors. Then changes of the twin are tried, one at a time: a slower accelerator, prompts,
decoding, launches, a front end short of CPU, a smaller batch limit.

Exit status: 0 if no level differs, 5 if one does, 6 if no level could be compared.

Examples:
  dyno bench http://localhost:8000 --concurrency 1,16,64 --duration 20s --out today
  dyno twins check today --twin my-server.toml
  dyno twins check today --twin my-server.toml --json")]
    Check {
        /// Run directories of dyno bench whose levels are compared
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<PathBuf>,
        /// The twin: a file, or a shipped one by name
        #[arg(long, value_name = "NAME|FILE", value_parser = values::some_text)]
        twin: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
