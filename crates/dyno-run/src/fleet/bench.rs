//! The coordinator: agents in place of one client.

use super::files::Files;
use super::folder::Folder;
use super::merge::{AgentStream, Bounds, merge};
use super::outcome::{blame, lost_before, together};
use super::served::{Served, Signs};
use super::settled::AgreedWorkload;
use super::told::{Learned, Numbers, ToldByAgent, joined};
use crate::error::RunError;
use crate::identity::on_one_line;
use crate::levels::Backend;
use crate::metrics::Metrics;
use crate::order::{ConnectionSettings, Order, Secrets};
use crate::pulse::Pulse;
use crate::target::{OpenTarget, ServerBackend};
use crate::workload::Items;
use dyno_drive::{
    LevelOutcome, LevelRecorder, LevelSetup, LostTarget, Observer, Stop, StopSignal, TransportError,
};
use dyno_fleet::pipe::{self, Children};
use dyno_fleet::{
    AgentLevelEnd, AgentPart, Fleet, FleetError, LevelWatch, PrepareLevel, Setup, nats,
};
use dyno_model::environment::Address;
use dyno_model::fleet::{AgentSeen, FleetPlan};
use dyno_model::frame::{Ending, EngineSlip, LevelEnd};
use dyno_model::plan::{Plan, Shard};
use dyno_model::{Message, Nanos, message};
use dyno_net::Clock;
use dyno_record::RunDir;
use dyno_wire::url::TargetUrl;
use std::fs::OpenOptions;
use std::io::{self, Write};
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

/// A target that is measured by several agents.
pub(crate) struct Coordinated {
    /// This process's own client: health, metrics, the cache.
    own: ServerBackend,
    fleet: Fleet,
    /// Prompts or conversations taken by earlier levels.
    taken: u64,
    failed: u64,
    /// Output tokens that agents reported in earlier levels.
    tokens: u64,
    max_failures: Option<u64>,
    /// The target's addresses by number, those of all agents included.
    addresses: Vec<Address>,
    learned: Learned,
    /// They end after the fleet was told to leave.
    _children: Option<Children>,
    _bus: Option<nats::Bus>,
    /// Temporary files of this process and of its children, which may be killed: removed when all have
    /// ended.
    folder: Folder,
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

/// Passes what agents do on to the level's recorder and observer.
struct Watching<'a, 'o> {
    recorder: &'o mut (dyn LevelRecorder + 'a),
    observer: &'o dyn Observer,
    stop: &'o StopSignal,
    clock: Clock,
    /// What was received and when that changed last.
    progress: (u64, Nanos),
    /// The target has gone silent.
    silent: bool,
    served: Served,
    started: Option<Nanos>,
    /// Output tokens of earlier levels, and of this one.
    tokens: (u64, u64),
}

impl LevelWatch for Watching<'_, '_> {
    fn started(&mut self, at: Nanos) {
        self.started = Some(at);
        self.recorder.started(at);
        self.observer.tokens_received(self.tokens.0);
    }

    fn beats(&mut self, seen: &[AgentSeen]) {
        let beats = || seen.iter().filter_map(|agent| agent.beat);
        let sum = |of: fn(&dyno_model::fleet::Beat) -> u64| beats().map(|beat| of(&beat)).sum();
        let in_flight: u64 = sum(|beat| beat.in_flight);
        let tokens: u64 = sum(|beat| beat.tokens);
        let done: u64 = sum(|beat| beat.tokens + beat.completed + beat.failed + beat.shed);
        self.observer.in_flight(in_flight as usize);
        self.tokens.1 = self.tokens.1.max(tokens);
        self.observer.tokens_received(self.tokens.0 + self.tokens.1);
        self.observer.agents(seen);
        let now = self.clock.now();
        self.served.beats(seen, now);
        if done != self.progress.0 || in_flight == 0 {
            self.progress = (done, now);
        }
        self.silent |= self.recorder.silent(now.saturating_sub(self.progress.1));
    }

    fn stop(&self) -> usize {
        let by_user = match self.stop.get() {
            Stop::No => 0,
            Stop::Sending => 1,
            Stop::Now => 2,
        };
        let by_us = match self.silent {
            true => 2,
            false => usize::from(self.served.lost.is_some() || self.recorder.must_stop()),
        };
        by_user.max(by_us)
    }
}

impl Backend for Coordinated {
    fn now(&self) -> Nanos {
        self.own.now()
    }

    fn run_level(
        &mut self,
        setup: LevelSetup<'_>,
        _items: Items,
        _ahead: usize,
    ) -> Result<LevelOutcome, TransportError> {
        let prepare = PrepareLevel {
            level: setup.level,
            plan: setup.plan.clone(),
            taken: self.taken,
            failures: self.max_failures.map(|most| most.saturating_sub(self.failed)),
        };
        let clock = self.own.target.client.clock();
        let mut watching = Watching {
            recorder: &mut *setup.recorder,
            observer: setup.observer,
            stop: setup.stop,
            clock,
            progress: (0, clock.now()),
            silent: false,
            served: Served::default(),
            started: None,
            tokens: (self.tokens, 0),
        };
        let mut parts = match self.fleet.level(&prepare, &mut watching) {
            Ok(parts) => parts,
            Err(FleetError::Lost { name, why }) => {
                let now = clock.now();
                setup.recorder.started(now);
                return Ok(lost_before(setup.level, &name, why, now));
            }
            Err(error) => {
                return Err(TransportError::from(io::Error::other(on_one_line(&error))));
            }
        };
        let (silent, started) = (watching.silent, watching.started);
        let unserved = watching.served.lost;
        self.tokens += watching.tokens.1;
        let started = started.unwrap_or_else(|| {
            // It has records of its end, so it has one of its beginning.
            let now = clock.now();
            setup.recorder.started(now);
            now
        });
        let mut signs = Signs::default();
        let bounds = Bounds { level: setup.level, from: started, until: clock.now() };
        let ends =
            self.collect(&mut parts, bounds, (setup.recorder, setup.observer), &mut signs)?;
        parts.iter_mut().zip(&ends).for_each(|(part, end)| blame(part, end.as_ref(), &signs));
        let now = clock.now();
        let mut outcome = together(setup.level, &parts, ends, started, now);
        let over = prepare.failures.is_some_and(|most| outcome.failed >= most);
        if parts.iter().any(|part| part.lost.is_some() || part.done.is_none()) {
            outcome.end.ending = Ending::AgentLost;
        } else if silent {
            outcome.end.ending = Ending::TargetLost;
        } else if let Some((failures, time)) = unserved {
            let lost =
                |last: Box<_>| LostTarget { unreachable: false, failures, time, last: *last };
            (outcome.end.ending, outcome.lost) = (Ending::TargetLost, signs.failure.map(lost));
        } else if outcome.end.ending == Ending::Interrupted
            && setup.stop.get() == Stop::No
            && parts.iter().flat_map(|part| &part.done).any(is_behind)
        {
            // The others were told to stop because of that.
            outcome.end.ending = Ending::BehindSchedule;
        } else if over && !outcome.end.ending.carried_out() {
            outcome.end.ending = Ending::MaxFailures;
        }
        self.failed += outcome.failed;
        Ok(outcome)
    }

    fn taken_so_far(&mut self, taken: u64) {
        self.taken = taken;
    }

    fn agent_reports(&mut self) -> Learned {
        std::mem::take(&mut self.learned)
    }

    fn prime(&mut self, setup: LevelSetup<'_>, items: Items) -> Result<(), TransportError> {
        self.own.prime(setup, items)
    }

    fn slip(&mut self) -> Option<EngineSlip> {
        self.own.slip()
    }

    fn rest(&mut self, time: Nanos, stop: &StopSignal) {
        self.own.rest(time, stop);
    }

    fn check_health(&mut self, stop: &StopSignal) -> Result<(), Message> {
        self.own.check_health(stop)
    }

    fn reset_cache(&mut self, stop: &StopSignal) -> Result<(), Message> {
        self.own.reset_cache(stop)
    }

    fn pulse(&self, stop: &StopSignal) -> Option<Pulse> {
        self.own.pulse(stop)
    }

    fn metrics(&mut self) -> Option<Metrics> {
        self.own.metrics()
    }
}

impl Coordinated {
    /// Fetches the records of all agents, and passes them on in the order in which they ended. What came
    /// of an agent that is lost meanwhile is kept.
    fn collect(
        &mut self,
        parts: &mut [AgentPart],
        bounds: Bounds,
        (recorder, observer): (&mut dyn LevelRecorder, &dyn Observer),
        signs: &mut Signs,
    ) -> Result<Vec<Option<LevelEnd>>, TransportError> {
        let mut numbers = self.hear(parts).into_iter();
        let folder = tempfile::Builder::new().prefix("records-").tempdir_in(self.folder.path())?;
        let mut streams = Vec::new();
        let mut of_agent = Vec::new();
        for (number, part) in parts.iter_mut().enumerate() {
            let addresses = numbers.next().unwrap_or_default();
            let (Some(done), Some(clock)) = (&part.done, part.clock) else { continue };
            let path = folder.path().join(number.to_string());
            let dir = RunDir::create(&path).map_err(io::Error::other)?;
            let records = path.join("records.dyno");
            let mut file = OpenOptions::new().create_new(true).write(true).open(&records)?;
            let pulled = self.fleet.pull(number, done.bytes, &mut |piece| file.write_all(piece));
            match pulled {
                Ok(()) => {}
                Err(FleetError::Lost { why, .. }) => (part.done, part.lost) = (None, Some(why)),
                Err(error) => return Err(io::Error::other(error).into()),
            }
            // Less than the head of the file may have come.
            let Ok(reader) = dir.records() else { continue };
            streams.push(AgentStream::new(number as u32, clock, addresses, reader));
            of_agent.push(number);
        }
        let merged = merge(streams, bounds, |record| {
            signs.note(&record);
            observer.ended(&record);
            recorder.record(record);
        });
        let mut ends: Vec<Option<LevelEnd>> = parts.iter().map(|_| None).collect();
        for (number, end) in of_agent.into_iter().zip(merged) {
            match end {
                Ok(end) => ends[number] = end,
                Err(why) => {
                    (parts[number].done, parts[number].lost) = (None, Some(why));
                }
            }
        }
        for (part, _) in parts.iter_mut().zip(&ends).filter(|(_, end)| end.is_none()) {
            // Without them the level would look as if it had been smaller.
            if part.done.take().is_some() {
                let why = match part.clock {
                    Some(_) => message!(
                        "its records end before the end of the level",
                        "其记录在该档位结束之前中断",
                    ),
                    None => message!("its clock could not be compared", "无法比对其时钟"),
                };
                part.lost.get_or_insert(why);
            }
        }
        Ok(ends)
    }

    /// Takes what agents tell of the data and of the target; the numbers of each one's addresses.
    fn hear(&mut self, parts: &[AgentPart]) -> Vec<Numbers> {
        let done = |part: &AgentPart| part.done.as_ref().map(|done| ToldByAgent::read(&done.told));
        let told: Vec<ToldByAgent> =
            parts.iter().map(|part| done(part).unwrap_or_default()).collect();
        let known = self.addresses.clone();
        let (addresses, data): (Vec<_>, Vec<_>) =
            told.into_iter().map(|told| (told.addresses, told.data)).unzip();
        let numbers = joined(&mut self.addresses, &addresses);
        let addresses = (self.addresses != known).then(|| self.addresses.clone());
        self.learned = Learned { data: (0..).zip(data).collect(), addresses };
        numbers
    }
}

fn is_behind(done: &AgentLevelEnd) -> bool {
    done.ending == Ending::BehindSchedule
}

/// The plan of one agent.
pub(super) fn plan_of(plan: &Plan, shard: Shard) -> Plan {
    Plan { shard, ..plan.clone() }
}
