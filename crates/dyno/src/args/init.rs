//! The flags of `dyno init`.

use super::bench::ConnectionArgs;
use super::language::LanguageArgs;
use super::target::{TargetUrl, target};
use super::values;
use clap::Args;
use std::path::PathBuf;

/// `dyno init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Asks the server for its API, its model and its limits, with a few requests of a few tokens, and writes a
short file that says what was found and what can be changed. Keys and header values are not written.

Examples:
  dyno init http://localhost:8000                  writes dyno.toml
  dyno bench --config dyno.toml                    runs what it says
  dyno bench --config dyno.toml --concurrency 32   typed flags go before it
  dyno init http://localhost:8000 --out -          prints it")]
pub(crate) struct InitArgs {
    /// Base URL of the server, with or without /v1, or a full endpoint path
    #[arg(value_name = "TARGET", value_parser = target)]
    pub(crate) target: TargetUrl,
    /// File to write; - prints it
    #[arg(long, value_name = "FILE", default_value = "dyno.toml")]
    pub(crate) out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Model to use [default: the server's only model]
    #[arg(long, value_name = "NAME", value_parser = values::some_text)]
    pub(crate) model: Option<String>,
    /// API dialect [default: from the path of the target, else what the server is found to have]
    #[arg(long, value_name = "API", value_parser = values::api())]
    pub(crate) api: Option<String>,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
}
