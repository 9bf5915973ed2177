//! The arguments of every command that makes a plan: `bench`, `predict` and `capacity`.

use super::bench::{ConnectionArgs, DataArgs, OutputArgs, RequestArgs, TimeoutArgs};
use super::cost::CostArgs;
use super::fleet::FleetArgs;
use super::metrics::MetricsArgs;
use super::overload::OverloadArgs;
use super::target::{TargetUrl, target};
use super::values;
use crate::config::presets::PRESETS;
use clap::Args;
use clap::builder::PossibleValuesParser;
use dyno_model::Nanos;
use dyno_model::plan::Warmup;
use std::path::PathBuf;

/// What every plan has.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) each: EachLevelArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// What happens around each level, listed or searched.
#[derive(Debug, Args)]
#[command(next_help_heading = "Levels")]
pub(crate) struct EachLevelArgs {
    /// Warm up each level with N requests, or for a time such as 10s; recorded but not measured
    #[arg(long, value_name = "N|TIME", value_parser = values::warmup, allow_hyphen_values = true)]
    pub(crate) warmup: Option<Warmup>,
    /// Time to wait for running requests after the end of a level or Ctrl-C; those still running then
    /// are recorded as censored
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true, default_value = "30s")]
    pub(crate) drain: Nanos,
    /// Pause between levels, after the previous one has drained
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true, default_value = "0s")]
    pub(crate) cooldown: Nanos,
    /// Reset the server's prefix cache before each level (/reset_prefix_cache or /flush_cache)
    #[arg(long)]
    pub(crate) reset_cache: bool,
    /// Seed of arrivals and prompts: the same seed repeats both [default: random, printed and
    /// recorded; 0 for predictions]
    #[arg(long, value_name = "N", value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
    /// Print the plan and exit; nothing is sent
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Where settings come from that are not typed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings (typed flags, then DYNO_… variables, --config, --preset)")]
pub(crate) struct SettingsArgs {
    /// TOML or YAML file (.yaml, .yml) with settings named like these flags
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Settings that ship with Dyno, for a purpose; `dyno presets` lists and shows them
    #[arg(long, value_name = "NAME", value_parser = preset())]
    pub(crate) preset: Option<String>,
}

/// The server, and how it is asked. A prediction has none.
#[derive(Debug, Default, Args)]
pub(crate) struct ServerArgs {
    /// Base URL of the server, with or without /v1, or a full endpoint path [default: an embedded
    /// engine]
    #[arg(value_name = "TARGET", value_parser = target)]
    pub(crate) target: Option<TargetUrl>,
    /// Twin that the embedded engine simulates: a shipped one by name (`dyno twins`), or a file
    #[arg(long, value_name = "NAME|FILE", value_parser = values::some_text, conflicts_with = "target")]
    pub(crate) twin: Option<String>,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) timeouts: TimeoutArgs,
    #[command(flatten)]
    pub(crate) overload: OverloadArgs,
    #[command(flatten)]
    pub(crate) fleet: FleetArgs,
    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,
}

/// The name of a preset.
pub(super) fn preset() -> PossibleValuesParser {
    PossibleValuesParser::new(PRESETS.iter().map(|preset| preset.name))
}
