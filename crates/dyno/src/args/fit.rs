//! The flags of `dyno fit`.

use super::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `dyno fit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Searches for the engine that gives the times of the measured runs. Where a run has records, every
request is sent again, as it was sent, to engines in virtual time, so warm-up, Poisson arrivals,
ramps, conversations, traces and mixed lengths can all be used. Other tools' results are fitted as
tables of means, which needs closed loops or constant arrivals without a warm-up. Skips invalid
and partial levels and others that cannot be used, and says why.

Measure closed loops from one request at a time to beyond the knee, and one or two request rates:
kinds of load are left out in turn to see how well the others predict them. What the runs do not
show is listed, with the next command to run. A poor fit is written, too, with a warning and exit
status 6.

Examples:
  dyno bench http://localhost:8000 --concurrency 1,2,4,8,16,32,64,128 --duration 20s --out ladder
  dyno bench http://localhost:8000 --rate 4,12 --duration 60s --warmup 10s --out rates
  dyno fit ladder rates --out my-server.toml
  dyno fit ladder rates --out my-server.toml --hardware '1 × L20' --max-seqs 256
  dyno fit 'results.md#Qwen1.5-7B' --out their-server.toml      another tool's results
  dyno predict --twin my-server.toml --rate 6 --output-tokens 512
  dyno twins check new-run --twin my-server.toml                is the server still the same?")]
pub(crate) struct FitArgs {
    /// Run directories or imported results whose levels are fitted together
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Twin file to write; must not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Fit to every request (records) or to the means of each level (table); auto: records where all
    /// runs have them
    #[arg(long, value_name = "SOURCE", value_enum, default_value_t)]
    pub(crate) from: FitFrom,
    /// Maximum number of sequences in the server's batch, if you know it
    #[arg(long, value_name = "N", value_parser = values::tokens, allow_hyphen_values = true)]
    pub(crate) max_seqs: Option<u32>,
    /// Maximum number of tokens in a step of the server, if you know it
    #[arg(long, value_name = "N", value_parser = values::tokens, allow_hyphen_values = true)]
    pub(crate) token_budget: Option<u32>,
    /// Name of the inference engine, for the twin file
    #[arg(long, value_name = "TEXT", value_parser = values::some_text)]
    pub(crate) engine: Option<String>,
    /// Name of the model, for the twin file [default: the run's]
    #[arg(long, value_name = "TEXT", value_parser = values::some_text)]
    pub(crate) model: Option<String>,
    /// Hardware description, for the twin file
    #[arg(long, value_name = "TEXT", value_parser = values::some_text)]
    pub(crate) hardware: Option<String>,
    /// Print no notes and no progress; only warnings, errors and the result
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print no progress
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// What a fit is made from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FitFrom {
    /// Records where all runs have them, else tables
    #[default]
    Auto,
    /// Every request and every token
    Records,
    /// The means of each level
    Table,
}
