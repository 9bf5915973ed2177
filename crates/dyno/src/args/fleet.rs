//! The flags for several load generators, and those of `dyno agent`.

use clap::Args;

/// Several load generators.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several load generators")]
pub(crate) struct FleetArgs {
    /// Send from N processes on this machine, each with a core of its own, and report on all of them
    /// together; auto: as many as the load needs and the machine has cores for [default: this process
    /// sends]
    #[arg(long, value_name = "N|auto", value_parser = agents, allow_hyphen_values = true)]
    pub(crate) agents: Option<Agents>,
}

/// How many load generators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agents {
    Number(u32),
    /// As many as the load needs.
    Auto,
}

/// `dyno agent`.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Take orders on standard input: for `dyno bench --agents`, which starts these itself
    #[arg(long, value_name = "NAME", hide = true)]
    pub(crate) child: Option<String>,
}

/// `--agents`.
fn agents(text: &str) -> Result<Agents, String> {
    const MOST: u32 = 1000;
    if text == "auto" {
        return Ok(Agents::Auto);
    }
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.map(Agents::Number).ok_or_else(|| {
        format!("`{text}` is not a number of agents; write one from 1 to {MOST}, or auto")
    })
}
