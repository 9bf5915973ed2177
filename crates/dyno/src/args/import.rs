//! `dyno import` and `dyno lint`: other tools' results.

use super::language::LanguageArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `dyno import`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/import.txt"))]
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
#[command(after_help = include_str!("../help/lint.txt"))]
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
