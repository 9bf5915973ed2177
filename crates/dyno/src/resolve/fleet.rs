//! Several load generators: what the plan says of them, and how they are started.

use super::notes::Notes;
use super::{Aim, data, needs};
use crate::args::fleet::{Agents, BusArgs, FleetArgs};
use crate::commands::own_binary;
use crate::usage::UsageError;
use dyno_model::fleet::FleetPlan;
use dyno_model::plan::Plan;
use dyno_model::{Message, message};
use dyno_run::fleet::need::{self, Machine};
use dyno_run::fleet::{AgentSource, Local, OnBus, nats};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for agents on a bus.
const AGENTS_WITHIN: Duration = Duration::from_secs(30);

/// The load generators of a plan that is complete but for them.
pub(super) fn plan(
    args: &FleetArgs,
    plan: &Plan,
    aim: Aim,
    host: Option<&str>,
    notes: &mut Notes,
) -> Result<Option<FleetPlan>, UsageError> {
    check_bus(&args.bus)?;
    needs(&[("--pin", args.pin)], "--agents", args.agents.is_some())?;
    let Some(agents) = args.agents else {
        return match args.bus.bus {
            Some(_) => Err(UsageError::new(
                "--bus",
                message!(
                    "say how many agents are needed with --agents N",
                    "请用 --agents N 说明需要多少个压测端"
                ),
            )),
            None => Ok(None),
        };
    };
    let bus = args.bus.bus.is_some();
    let wrong = |message| Err(UsageError::new("--agents", message));
    if aim == Aim::Predict {
        return wrong(message!(
            "a prediction sends nothing, so it needs no agents",
            "预测不发送任何请求，不需要压测端"
        ));
    }
    if data::is_stdin(plan) {
        return wrong(message!(
            "standard input cannot be sent to agents; write the prompts to a file",
            "标准输入无法发送给压测端；请先将提示词写入文件"
        ));
    }
    if plan.levels.iter().any(|level| level.until.is_some()) {
        return wrong(message!(
            "--until-stable looks at every response while it runs, but agents report once a \
             level is over; use --duration or --requests",
            "--until-stable 在运行中检查每个响应，而压测端在每档结束后才上报；请使用 --duration \
             或 --requests"
        ));
    }
    let agents = match agents {
        Agents::Number(number) => number,
        Agents::Auto if bus => {
            return wrong(message!(
                "auto is for agents on this machine; say how many of the bus are needed",
                "auto 只用于本机压测端；请说明需要总线上的多少个压测端"
            ));
        }
        Agents::Auto => {
            let need = need::agents(plan, None, machine(plan, host));
            notes.push(need.said());
            need.agents
        }
    };
    Ok(Some(FleetPlan { agents, bus }))
}

/// What --versus does to the number of agents.
pub(super) fn note_two(plan: &Plan, notes: &mut Notes) {
    if let Some(fleet) = &plan.fleet {
        let (each, all) = (fleet.agents, fleet.agents.saturating_mul(2));
        notes.push(match fleet.bus {
            true => message!(
                "--versus: {all} agents are needed on the bus, {each} for each server",
                "--versus：总线上需要 {all} 个压测端，每台服务器 {each} 个"
            ),
            false => message!(
                "--versus: {all} agents are started, {each} for each server; those of the server \
                 that is not measured do nothing",
                "--versus：将启动 {all} 个压测端，每台服务器 {each} 个；未被测量的服务器的压测端空\
                 闲"
            ),
        });
    }
}

/// Refuses what says how to be let in where there is no bus, and half of a certificate with its key.
fn check_bus(args: &BusArgs) -> Result<(), UsageError> {
    let (cert, key) = (args.bus_cert.is_some(), args.bus_key.is_some());
    needs(&[("--bus-cert", cert)], "--bus-key", key)?;
    needs(&[("--bus-key", key)], "--bus-cert", cert)?;
    let given = [
        ("--bus-prefix", args.bus_prefix.is_some()),
        ("--bus-creds", args.bus_creds.is_some()),
        ("--bus-nkey", args.bus_nkey.is_some()),
        ("--bus-token", args.bus_token.is_some()),
        ("--bus-ca", args.bus_ca.is_some()),
        ("--bus-cert", cert),
    ];
    needs(&given, "--bus", args.bus.is_some())
}

/// What this machine has for load generators.
fn machine(plan: &Plan, host: Option<&str>) -> Machine {
    Machine {
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        server_here: host.is_none_or(is_this_machine),
        open_files: dyno_net::raise_open_files(),
        ports: dyno_net::local_ports(),
        sources: plan.target.source_addresses.unwrap_or(0) as usize,
    }
}

/// Whether a host is certainly this machine.
fn is_this_machine(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Checks that a resumed run gets as many load generators as it had.
pub(super) fn check_resumed(args: &FleetArgs, plan: &Plan) -> Result<(), UsageError> {
    let had = plan.fleet.as_ref().map_or(0, |fleet| fleet.agents);
    let on_bus = plan.fleet.as_ref().is_some_and(|fleet| fleet.bus);
    if on_bus != args.bus.bus.is_some() {
        return Err(UsageError::new(
            "--bus",
            match on_bus {
                true => {
                    message!(
                        "the agents of this run were on a bus, whose address is not stored; give \
                         it again",
                        "此次运行的压测端在总线上，总线地址未保存；请重新给出"
                    )
                }
                false => message!(
                    "the agents of this run were on this machine; remove it",
                    "此次运行的压测端在本机；请去掉该选项"
                ),
            },
        ));
    }
    match args.agents {
        Some(Agents::Number(asked)) if asked != had => Err(UsageError::new(
            "--agents",
            match had {
                0 => message!(
                    "this run has no agents, and levels of one run must be sent in the same way; \
                     remove it",
                    "此测试没有压测端，而同一测试的各档位必须以相同方式发送；请去掉"
                ),
                _ => message!(
                    "this run has {had} agents, and levels of one run must be sent in the same \
                     way; write {had}, or remove it",
                    "此测试有 {had} 个压测端，而同一测试的各档位必须以相同方式发送；请写 {had}，\
                     或去掉"
                ),
            },
        )),
        _ => Ok(()),
    }
}

/// Where the agents of a plan come from.
pub(super) fn crew(
    args: &FleetArgs,
    plan: &Plan,
    warnings: &mut Vec<Message>,
) -> Result<Option<AgentSource>, UsageError> {
    let Some(fleet) = &plan.fleet else { return Ok(None) };
    if fleet.bus {
        let within = args.agents_within.map_or(AGENTS_WITHIN, Duration::from_nanos);
        let options = bus(&args.bus)?;
        warnings.extend(visible(&options));
        return Ok(Some(AgentSource::Bus(OnBus { options, within })));
    }
    let command = |number: usize| {
        let mut command = own_binary();
        command.args(["agent", "--child", &(number + 1).to_string()]);
        command
    };
    Ok(Some(AgentSource::Local(Local { command: Arc::new(command), pin: args.pin })))
}

/// What to say of an address that shows others how to be let in.
pub(crate) fn visible(options: &nats::BusOptions) -> Option<Message> {
    options.has_visible_secret().then(|| message!(
        "--bus: the password or token in the address is visible in the process list and the shell \
         history; use DYNO_BUS_USER and DYNO_BUS_PASSWORD, or DYNO_BUS_TOKEN",
        "--bus：地址中的密码或令牌会出现在进程列表和命令历史中；请使用 DYNO_BUS_USER 和 \
         DYNO_BUS_PASSWORD，或 DYNO_BUS_TOKEN"
    ))
}

/// The bus, and how to be let in.
pub(crate) fn bus(args: &BusArgs) -> Result<nats::BusOptions, UsageError> {
    check_bus(args)?;
    let given = nats::Given {
        bus: args.bus.as_ref().map(|url| url.0.clone()).unwrap_or_default(),
        prefix: args.bus_prefix.clone(),
        creds: args.bus_creds.clone(),
        nkey: args.bus_nkey.clone(),
        token: args.bus_token.clone(),
        ca: args.bus_ca.clone(),
        cert: args.bus_cert.clone(),
        key: args.bus_key.clone(),
    };
    nats::BusOptions::new(&given, |name| std::env::var(name).ok())
        .map_err(|error| UsageError::new("--bus", error))
}
