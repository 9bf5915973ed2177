//! The flags that say how a run goes from level to level.

use super::{levels, values};
use clap::{Args, ValueEnum};
use dyno_model::Nanos;
use dyno_model::slo::Condition;

/// From level to level.
#[derive(Debug, Args)]
#[command(next_help_heading = "Levels")]
pub(crate) struct CourseArgs {
    /// Run all levels N times, one round after the other
    #[arg(long, value_name = "N", value_parser = levels::repeats, allow_hyphen_values = true, default_value = "1")]
    pub(crate) repeat: u32,
    /// Order of the levels: as given, or shuffled by the seed to counter drift
    #[arg(long, value_name = "ORDER", default_value = "given")]
    pub(crate) level_order: LevelOrderArg,
    /// Pause between levels, after the previous one has drained
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true, default_value = "0s")]
    pub(crate) cooldown: Nanos,
    /// Reset the server's prefix cache before each level (/reset_prefix_cache or /flush_cache)
    #[arg(long)]
    pub(crate) reset_cache: bool,
    /// Stop after the first level that meets this condition: errors>5%, ttft.p99>10s or saturated;
    /// may be repeated
    #[arg(long, value_name = "CONDITION", value_parser = levels::condition)]
    pub(crate) stop_on: Vec<Condition>,
    /// Print the plan and exit; nothing is sent
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Order of levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelOrderArg {
    Given,
    Shuffle,
}
