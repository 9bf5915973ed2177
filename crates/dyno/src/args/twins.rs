//! The flags of `dyno twins`.

use clap::{Args, Subcommand};

/// `dyno twins`.
#[derive(Debug, Args)]
#[command(after_help = "\
A twin is the embedded engine with the settings and coefficients of one real system, fitted to
published or measured results. Everything that comes from a twin is simulated.

Examples:
  dyno twins                            all twins, with the error of each
  dyno twins show qwen1-5-7b-8x910b4-mindie settings, coefficients, and every row next to the twin
  dyno twins verify                     replay every twin on all of its rows, without fitting
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
}
