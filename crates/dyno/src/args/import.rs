//! `dyno import` and `dyno lint`: other tools' results.

use super::language::LanguageArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `dyno import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads what other tools print and save, into the same form as Dyno's own runs: every other command
then takes it. What a file does not tell is absent, never 0; what could not be read is named, with
its line. One document may hold many tables, of several tools; their headings become names.

Known: guidellm tables and JSON, EvalScope summaries, tables, JSON and SQLite, vLLM and SGLang
result blocks, JSON and JSON lines, the length matrix of vLLM's old scripts, aiperf JSON, CSV and
JSON lines, LMDeploy CSV.

Examples:
  dyno import results.md                        every table and block of a document
  dyno import results.md --out imported         and keep them
  dyno report imported --format markdown        then as if they were Dyno's
  dyno lint results.md                          what is wrong with them
  dyno compare \"results.md#vllm\" \"results.md#sglang\"")]
pub(crate) struct ImportArgs {
    /// Files or directories of results
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Keep what was read in this directory, one folder each
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the summaries as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `dyno lint`.
#[derive(Debug, Args)]
#[command(after_help = "\
Checks results by what must be so whatever the server: Little's law, tokens and requests that
belong together, latency that is TTFT and gaps, rates on their grid, what load does to throughput
and waits. Works on Dyno's own runs and on whatever dyno import reads. Each finding names the rows,
the identity that fails with its figures, the likely cause, and how sure that is.

The exit status is 5 when there is an error among the findings.

Examples:
  dyno lint                              the latest run
  dyno lint results.md other.json        other tools' results, as they are
  dyno lint results.md --format json
  dyno lint results/ --format github     annotations for a pull request")]
pub(crate) struct LintArgs {
    /// Run directories, imported results, or files of other tools [default: the latest run]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How findings are printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub(crate) format: LintFormat,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    Text,
    Json,
    Github,
}
