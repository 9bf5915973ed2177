//! `dyno import` and `dyno lint`: other tools' results.

use super::language::LanguageArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `dyno import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Reads the output and result files of other tools into the format of Dyno's own runs, so that every
other command accepts them. What a file does not state is absent, never 0; what could not be read is
reported with its line. A document may hold many tables of several tools; their headings become names.

Supported: guidellm tables and JSON, EvalScope summaries, tables, JSON and SQLite, vLLM and SGLang
result blocks, JSON and JSON lines, the length matrix of vLLM's old scripts, aiperf JSON, CSV and
JSON lines, LMDeploy CSV.

Examples:
  dyno import results.md                        every table and block of a document
  dyno import results.md --out imported         save them as runs
  dyno report imported --format markdown        report them like runs of Dyno
  dyno lint results.md                          check them for inconsistencies
  dyno compare \"results.md#vllm\" \"results.md#sglang\"")]
pub(crate) struct ImportArgs {
    /// Files or directories of results
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Save the results in this directory, one subdirectory each
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the summaries as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `dyno lint`.
#[derive(Debug, Args)]
#[command(after_help = "\
Checks results for relations that hold on any server: Little's law, token and request counts that
match, latency as the sum of TTFT and gaps, plausible rates, the effect of load on throughput and
waiting. Works on Dyno's own runs and on everything that dyno import reads. Each finding names the
rows, the relation that fails with its values, the likely cause, and how certain that is.

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
    /// Output format
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
