//! Several load generators: what becomes of a run whose processes are killed or stopped, whether agents
//! together do what one client does, and what many of them cost.

mod bus;
mod double;
mod flood;
mod kill;
mod many;
mod pause;
mod processes;
mod same;
mod single;

use anyhow::{Result, bail, ensure};
use kill::Victim;

const HELP: &str = "\
cargo study fleet kill agent|coordinator [bus]  kill -9 at 20 moments of a run of two levels, then --resume
cargo study fleet kill bus                the same of nats-server
cargo study fleet flood                   loads that no client can send, stopped by Ctrl-C and kill -9
cargo study fleet pause                   SIGSTOP of an agent and of the coordinator
cargo study fleet double                  two agents compared with one at half the load
cargo study fleet same                    four agents compared with a single client, with intervals
cargo study fleet many [AGENTS] [bus]     CPU, memory and threads of many idle and beating agents, on pipes or a bus
cargo study fleet single OTHER            a single client, compared with the binary OTHER

They end with an error where a bar is missed.";

/// Ends with an error that lists the bars that were missed, if any.
fn all_met(missed: &[String]) -> Result<()> {
    ensure!(missed.is_empty(), "missed:\n  {}", missed.join("\n  "));
    Ok(())
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut arguments = arguments.iter().map(String::as_str);
    match (arguments.next(), arguments.next()) {
        (Some("kill"), Some("bus")) => kill::run(Victim::Bus, true),
        (Some("kill"), Some(victim @ ("agent" | "coordinator"))) => {
            let on_bus = match arguments.next() {
                None => false,
                Some("bus") => true,
                Some(_) => bail!("which one?\n{HELP}"),
            };
            let victim = if victim == "agent" { Victim::Agent } else { Victim::Coordinator };
            kill::run(victim, on_bus)
        }
        (Some("flood"), _) => flood::run(),
        (Some("pause"), _) => pause::run(),
        (Some("double"), _) => double::run(),
        (Some("same"), _) => same::run(),
        (Some("many"), agents) => {
            many::run(agents.unwrap_or("200").parse()?, arguments.next() == Some("bus"))
        }
        (Some("single"), Some(other)) => single::run(other.as_ref()),
        _ => bail!("which one?\n{HELP}"),
    }
}
