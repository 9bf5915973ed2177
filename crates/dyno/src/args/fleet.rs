//! The flags for several load generators, and those of `dyno agent`.

use super::bench::ConnectionArgs;
use super::language::LanguageArgs;
use super::target::{TargetUrl, target};
use super::values;
use clap::Args;
use dyno_model::limits::MOST_AGENTS;
use dyno_model::{Message, Nanos, message};
use std::fmt;
use std::path::PathBuf;

/// Several load generators.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Several load generators")]
pub(crate) struct FleetArgs {
    /// Send from N processes on this machine, each with a core of its own, and report on all of them
    /// together; auto: as many as the load needs and the machine has cores for [default: this process
    /// sends]
    #[arg(long, value_name = "N|auto", value_parser = agents, allow_hyphen_values = true)]
    pub(crate) agents: Option<Agents>,
    /// With --agents on this machine: each stays on a CPU of its own
    #[arg(long, conflicts_with = "bus")]
    pub(crate) pin: bool,
    /// With --bus: how long to wait until enough agents are there [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = values::some_duration, allow_hyphen_values = true)]
    pub(crate) agents_within: Option<Nanos>,
    #[command(flatten)]
    pub(crate) bus: BusArgs,
}

/// Where coordinators and agents meet.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct BusArgs {
    /// A NATS server on which agents of other machines wait (`dyno agent`): nats://HOST:4222 or
    /// tls://HOST:4222; several, separated by commas
    #[arg(long, value_name = "URL", value_parser = bus_url)]
    pub(crate) bus: Option<BusUrl>,
    /// What the subjects on the bus begin with [default: dyno]
    #[arg(long, value_name = "WORD", value_parser = values::some_text)]
    pub(crate) bus_prefix: Option<String>,
    /// File with NATS credentials (JWT and seed)
    #[arg(long, value_name = "FILE")]
    pub(crate) bus_creds: Option<PathBuf>,
    /// File with the seed of an NKey
    #[arg(long, value_name = "FILE")]
    pub(crate) bus_nkey: Option<PathBuf>,
    /// File with the token of the bus [default: $DYNO_BUS_TOKEN; user and password: $DYNO_BUS_USER,
    /// $DYNO_BUS_PASSWORD]
    #[arg(long, value_name = "FILE")]
    pub(crate) bus_token: Option<PathBuf>,
    /// PEM file with the certificates to trust on the bus, instead of the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) bus_ca: Option<PathBuf>,
    /// PEM file with a client certificate for the bus
    #[arg(long, value_name = "FILE")]
    pub(crate) bus_cert: Option<PathBuf>,
    /// PEM file with its private key
    #[arg(long, value_name = "FILE")]
    pub(crate) bus_key: Option<PathBuf>,
}

/// The address of a bus, which may have a password in it: it is not shown.
#[derive(Clone)]
pub(crate) struct BusUrl(pub(crate) String);

impl fmt::Debug for BusUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// `--bus`.
fn bus_url(text: &str) -> Result<BusUrl, Message> {
    values::some_text(text).map(BusUrl)
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
#[command(after_help = "\
Waits on a bus and sends its part of the runs that `dyno bench --bus … --agents N` starts, one after the other.
It dials out and listens nowhere. Keys do not travel: each agent has its own. It accepts plans of its own version,
for the targets that it is given here, and never a command or a path.

Examples:
  dyno agent --bus nats://10.0.0.1:4222 --target http://10.0.0.9:8000
  dyno agent --bus tls://bus:4222 --bus-creds agent.creds --target https://llm.example --api-key-file key
  dyno bench http://10.0.0.9:8000 --bus nats://10.0.0.1:4222 --agents 8 --concurrency 4096")]
pub(crate) struct AgentArgs {
    /// Take orders on standard input: for `dyno bench --agents`, which starts these itself
    #[arg(long, value_name = "NAME", hide = true, conflicts_with = "bus")]
    pub(crate) child: Option<String>,
    #[command(flatten)]
    pub(crate) bus: BusArgs,
    /// Its name in reports [default: the host's name and a number]
    #[arg(long, value_name = "NAME", value_parser = values::some_text)]
    pub(crate) name: Option<String>,
    /// A server that it may measure; may be repeated
    #[arg(long, value_name = "URL", value_parser = target)]
    pub(crate) target: Vec<TargetUrl>,
    /// It may measure any server
    #[arg(long, conflicts_with = "target")]
    pub(crate) any_target: bool,
    /// End after one run
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
}

/// `--agents`.
fn agents(text: &str) -> Result<Agents, Message> {
    if text == "auto" {
        return Ok(Agents::Auto);
    }
    let number = text.parse().ok().filter(|number| (1..=MOST_AGENTS).contains(number));
    number.map(Agents::Number).ok_or_else(|| {
        message!(
            "`{text}` is not a number of agents; write one from 1 to {MOST_AGENTS}, or auto",
            "`{text}` 不是压测端数；请写 1 到 {MOST_AGENTS} 之间的数，或 auto"
        )
    })
}
