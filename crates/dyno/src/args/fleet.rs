//! The flags for several load generators, and those of `dyno agent`.

use clap::Args;

/// Several load generators.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several load generators")]
pub(crate) struct FleetArgs {
    /// Send from N processes on this machine, one core each, and report on all of them together
    #[arg(long, value_name = "N", value_parser = agents, allow_hyphen_values = true)]
    pub(crate) agents: Option<u32>,
}

/// `dyno agent`.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Take orders on standard input: for `dyno bench --agents`, which starts these itself
    #[arg(long, value_name = "NAME", hide = true)]
    pub(crate) child: Option<String>,
}

/// `--agents`.
fn agents(text: &str) -> Result<u32, String> {
    const MOST: u32 = 1000;
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number of agents; write one from 1 to {MOST}"))
}
