//! The flags of `dyno data`.

use super::bench::ChoiceArgs;
use super::values;
use clap::{Args, Subcommand};
use dyno_workload::data::Format;
use std::path::PathBuf;

/// What to do with data.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Print the kind of a file, the lengths of its prompts, and three of them
    Show(ShowArgs),
    /// Write the prompts of a file in another format
    Convert(ConvertArgs),
}

/// `dyno data show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Print what agentic traffic holds as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `dyno data convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// lines, json or parquet
    #[arg(long, value_name = "FORMAT", value_parser = values::parsed::<Format>)]
    pub(crate) to: Format,
    /// File to write; it must not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// Which prompts.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    #[arg(
        value_name = "SPEC",
        value_parser = values::some_text,
        help = "KIND[:PATH][,key=value…] or a file"
    )]
    pub(crate) spec: String,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// Seed of the shuffle
    #[arg(long, value_name = "N", value_parser = values::seed, allow_hyphen_values = true, default_value = "0")]
    pub(crate) seed: u64,
}
