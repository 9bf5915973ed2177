//! The flags of `dyno data`.

use super::bench::ChoiceArgs;
use super::values;
use clap::{Args, Subcommand};
use dyno_workload::data::Format;
use std::path::PathBuf;

/// `dyno data`.
#[derive(Debug, Args)]
#[command(after_help = "\
SPEC is KIND[:PATH][,key=value…], or a file whose contents decide the kind. Kinds: openqa, long,
lines, json, csv, parquet, sharegpt, trace, agentic. Keys: prompt=, context=, system=, output_tokens=,
messages= name the fields of the file; turns=all|first, skip_bad=true; for a trace, speed=, from=,
to=, block=.
Files compressed with gzip or zstd are read directly. `dyno help data` explains them.

Examples:
  dyno data show open_qa.jsonl
  dyno data show code.jsonl,prompt=input --tokenizer models/qwen2
  dyno data show openqa                         the built-in questions
  dyno data show trace:trace.jsonl,speed=2      arrivals, lengths and shared prefixes of a trace
  dyno data show ~/.claude/projects             what the logs of a coding agent hold
  dyno data show traces/ --json                 the same of agentic traffic, for programs
  dyno data show agentic,turns=20               generated traffic of coding agents
  dyno data convert sharegpt.json --to lines --out prompts.jsonl")]
pub(crate) struct DataCommandArgs {
    #[command(subcommand)]
    pub(crate) command: DataCommand,
}

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
