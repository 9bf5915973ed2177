//! The flags that say how a run goes from level to level.

use super::levels;
use clap::{Args, ValueEnum};
use dyno_model::slo::Condition;

/// From level to level.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Levels")]
pub(crate) struct CourseArgs {
    /// Run all levels N times, one round after the other [default: 1]
    #[arg(long, value_name = "N", value_parser = levels::repeats, allow_hyphen_values = true)]
    pub(crate) repeat: Option<u32>,
    /// Order of the levels: as given, or shuffled by the seed to counter drift
    #[arg(long, value_name = "ORDER", default_value = "given")]
    pub(crate) level_order: LevelOrderArg,
    /// Stop after the first level that meets this condition: errors>5%, ttft.p99>10s or saturated;
    /// may be repeated
    #[arg(long, value_name = "CONDITION", value_parser = levels::condition)]
    pub(crate) stop_on: Vec<Condition>,
}

/// Order of levels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelOrderArg {
    #[default]
    Given,
    Shuffle,
}
