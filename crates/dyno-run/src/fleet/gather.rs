//! Gathers the agents of a run, on this machine or on a bus, and tells them what was settled.

use super::coordinated::Coordinated;
use super::files::Files;
use super::folder::Folder;
use super::settled::AgreedWorkload;
use super::told::Learned;
use crate::error::RunError;
use crate::identity::on_one_line;
use crate::order::{ConnectionSettings, Order, Secrets};
use crate::target::{OpenTarget, ServerBackend};
use dyno_drive::Stop;
use dyno_fleet::pipe::{self};
use dyno_fleet::{Fleet, FleetError, Setup, nats};
use dyno_model::fleet::FleetPlan;
use dyno_model::message;
use dyno_model::plan::{Plan, Shard};
use dyno_net::Clock;
use dyno_wire::url::TargetUrl;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// How long agents of this machine may take to start, and how much longer for each of them.
const TO_START: Duration = Duration::from_secs(20);
const EACH_TO_START: Duration = Duration::from_millis(100);
/// Between the order to start and the start, on this machine.
const LEAD: Duration = Duration::from_millis(20);
/// The same over a bus.
const BUS_LEAD: Duration = Duration::from_secs(2);

/// Where agents come from.
#[derive(Clone)]
pub enum AgentSource {
    /// Children of this process.
    Local(Local),
    /// Agents that wait on a bus.
    Bus(OnBus),
}

/// How to start an agent on this machine.
#[derive(Clone)]
pub struct Local {
    /// The command of agent number `0`, `1` …; it speaks the protocol on its standard input and output.
    pub command: Arc<dyn Fn(usize) -> Command + Send + Sync>,
    /// Each stays on a CPU of its own, as far as there are enough.
    pub pin: bool,
}

/// Where agents wait.
#[derive(Clone)]
pub struct OnBus {
    /// The bus.
    pub options: nats::BusOptions,
    /// How long to wait for enough of them.
    pub within: Duration,
}

/// Gathers the agents of an order and tells them what was settled.
pub(crate) fn gather(
    order: &Order,
    wanted: &FleetPlan,
    own: ServerBackend,
    settled: &AgreedWorkload,
    clock: Clock,
    run: &str,
) -> Result<Coordinated, RunError> {
    let agents = wanted.agents.max(1);
    let folder = Folder::of_fleet();
    let folder = folder.map_err(|error| {
        RunError::Own(message!("a temporary folder: {error}", "临时文件夹：{error}"))
    })?;
    let stop = || order.stop.get() > Stop::No;
    let (children, bus, hub, lead) = match &order.crew {
        Some(AgentSource::Local(local)) => {
            let directory =
                order.place.directory(run).and_then(|path| std::path::absolute(path).ok());
            let secrets = secrets(&order.reach, directory.as_deref());
            let command = |number: usize| {
                let mut command = (local.command)(number);
                command.env(SECRETS, &secrets).env("TMPDIR", folder.path());
                command
            };
            let started = pipe::spawn(agents as usize, clock, command);
            let (children, hub) = started.map_err(|error| {
                RunError::Own(message!(
                    "--agents: cannot start one: {error}",
                    "--agents：无法启动压测端：{error}",
                ))
            })?;
            (Some(children), None, hub, LEAD)
        }
        Some(AgentSource::Bus(OnBus { options, within })) => {
            let call = nats::Call {
                run: run.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                agents: agents as usize,
                within: *within,
            };
            let found = nats::hub(options, &call, clock, &stop);
            let (bus, hub) = found.map_err(|error| no_bus(error, agents, &order.plan))?;
            (None, Some(bus), hub, BUS_LEAD)
        }
        None => {
            return Err(RunError::Usage(message!(
                "--agents: there is nowhere to start them",
                "--agents：没有可以启动压测端的地方",
            )));
        }
    };
    let within = TO_START + EACH_TO_START * agents;
    let fleet = Fleet::gather(hub, clock, env!("CARGO_PKG_VERSION"), lead, within, &stop);
    let mut fleet = fleet.map_err(wrong)?;
    let url = bare_url(&order.plan, &own.target);
    let value = serde_json::to_value(settled).map_err(|error| {
        RunError::Own(message!("what was settled: {error}", "预检结果：{error}"))
    })?;
    let files = match wanted.bus {
        true => Files::of(&order.plan).map_err(|why| RunError::setting("--data", why))?,
        false => Files::default(),
    };
    let cpus = match &order.crew {
        Some(AgentSource::Local(local)) if local.pin => {
            dyno_net::allowed_cpus().unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let sources = order.reach.sources.shared_by(agents as usize);
    let setups = (0..agents).map(|index| Setup {
        run: run.to_owned(),
        plan: order.plan.clone(),
        shard: Shard { index, of: agents },
        url: url.clone(),
        settled: value.clone(),
        files: files.refs(),
        cpu: cpus.get(index as usize % cpus.len().max(1)).map(|cpu| *cpu as u32),
        sources: sources.get(index as usize).filter(|_| !wanted.bus).cloned().unwrap_or_default(),
    });
    let mut piece = |hash: &str, from: u64| files.piece(hash, from);
    fleet.set_up(setups.collect(), &mut piece, &stop).map_err(wrong)?;
    let max_failures = order.plan.max_failures;
    Ok(Coordinated {
        own,
        fleet,
        taken: 0,
        failed: 0,
        tokens: 0,
        max_failures,
        addresses: settled.addresses.clone(),
        learned: Learned::default(),
        _children: children,
        _bus: bus,
        folder,
    })
}

/// The environment variable with what must not be seen in a list of processes.
pub(super) const SECRETS: &str = "DYNO_AGENT_SECRETS";

/// Where a target is, without the values of its query, which may be secret: an agent has its own.
pub(crate) fn bare_url(plan: &Plan, target: &OpenTarget) -> String {
    match &plan.target.url {
        Some(url) => url.split('?').next().unwrap_or_default().to_owned(),
        None => format!("http://{}", target.endpoint.host_header()),
    }
}

/// Key, headers and query, for children of this process alone, and the directory of the run.
fn secrets(reach: &ConnectionSettings, directory: Option<&Path>) -> String {
    let ConnectionSettings { url, secrets, counting, tls, .. } = reach;
    let counting = counting.as_ref().map(|counter| {
        let Secrets { api_key, headers } = &counter.secrets;
        serde_json::json!({"url": counter.url.full(), "api_key": api_key, "headers": headers})
    });
    serde_json::json!({
        "api_key": secrets.api_key,
        "headers": secrets.headers,
        "url": url.as_ref().map(TargetUrl::full),
        "counting": counting,
        "run_dir": directory.and_then(Path::to_str),
        "tls": {
            "insecure": tls.insecure, "ca_cert": tls.ca_cert, "client_cert": tls.client_cert,
        },
    })
    .to_string()
}

fn no_bus(error: nats::BusError, agents: u32, plan: &Plan) -> RunError {
    match error {
        nats::BusError::Interrupted => RunError::Interrupted(message!("interrupted", "已中断")),
        nats::BusError::TooFew(few) if plan.course.versus.is_some() => {
            let all = agents.saturating_mul(2);
            let few = message!("--bus: {}", "--bus：{}", on_one_line(&few));
            RunError::Usage(few.with_hint(message!(
                "--versus needs agents for each of the two servers, {all} in all",
                "--versus 的两台服务器各需要压测端，共 {all} 个",
            )))
        }
        error => {
            let why = on_one_line(&error);
            RunError::Usage(message!("--bus: {why}", "--bus：{why}"))
        }
    }
}

fn wrong(error: FleetError) -> RunError {
    let message = message!("--agents: {}", "--agents：{}", on_one_line(&error));
    match error {
        FleetError::Interrupted => RunError::Interrupted(message!("interrupted", "已中断")),
        FleetError::Version { .. } | FleetError::Refused { .. } => RunError::Usage(message),
        FleetError::Missing { .. } | FleetError::Lost { .. } => RunError::Own(message),
    }
}

/// The plan of one agent.
pub(super) fn plan_of(plan: &Plan, shard: Shard) -> Plan {
    Plan { shard, ..plan.clone() }
}
