//! The coordinator: agents in place of one client.

use super::files::Files;
use super::merge::{Stream, merge};
use super::settled::Settled;
use crate::error::RunError;
use crate::identity::one_line;
use crate::levels::Bench;
use crate::metrics::Metrics;
use crate::order::{Order, Secrets};
use crate::pulse::Pulse;
use crate::target::Measured;
use crate::workload::Items;
use dyno_drive::{LevelOutcome, LevelSetup, Observer, Stop, StopSignal, TransportError};
use dyno_fleet::pipe::{self, Children};
use dyno_fleet::{Done, Fleet, FleetError, Part, Prepare, Setup, Watch, nats};
use dyno_model::Nanos;
use dyno_model::fleet::{AgentEnd, AgentSeen, FleetPlan, merged_health};
use dyno_model::frame::{ClientHealth, Ending, EngineSlip, LevelEnd};
use dyno_model::plan::{Plan, Shard};
use dyno_net::Clock;
use dyno_record::RunDir;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// How long agents of this machine may take to start, and how much longer for each of them.
const TO_START: Duration = Duration::from_secs(20);
const EACH_TO_START: Duration = Duration::from_millis(100);
/// Between the order to start and the start, on this machine.
const LEAD: Duration = Duration::from_millis(20);
/// The same over a bus.
const BUS_LEAD: Duration = Duration::from_secs(2);
const INCOMPLETE: &str = "its records end before the end of the level";

/// Where agents come from.
#[derive(Clone)]
pub enum Crew {
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
    pub options: nats::Options,
    /// How long to wait for enough of them.
    pub within: Duration,
}

/// A target that is measured by several agents.
pub(crate) struct Coordinated {
    /// This process's own client: health, metrics, the cache.
    own: Measured,
    fleet: Fleet,
    /// Prompts or conversations taken by earlier levels.
    taken: u64,
    failed: u64,
    /// Output tokens that agents reported in earlier levels.
    tokens: u64,
    max_failures: Option<u64>,
    /// They end after the fleet was told to leave.
    _children: Option<Children>,
    _bus: Option<nats::Bus>,
    /// Temporary files of this process and of its children, which may be killed: removed when all have
    /// ended.
    folder: TempDir,
}

/// Gathers the agents of an order and tells them what was settled.
pub(crate) fn gather(
    order: &Order,
    wanted: &FleetPlan,
    own: Measured,
    settled: &Settled,
    clock: Clock,
    run: &str,
) -> Result<Coordinated, RunError> {
    let agents = wanted.agents.max(1);
    let folder = tempfile::Builder::new().prefix("dyno-fleet-").tempdir();
    let folder = folder.map_err(|error| RunError::Own(format!("a temporary folder: {error}")))?;
    let stop = || order.stop.get() > Stop::No;
    let (children, bus, hub, lead) = match &order.crew {
        Some(Crew::Local(local)) => {
            let secrets = secrets(&order.reach.secrets, order);
            let command = |number: usize| {
                let mut command = (local.command)(number);
                command.env(SECRETS, &secrets).env("TMPDIR", folder.path());
                command
            };
            let (children, hub) = pipe::spawn(agents as usize, clock, command)
                .map_err(|error| RunError::Own(format!("--agents: cannot start one: {error}")))?;
            (Some(children), None, hub, LEAD)
        }
        Some(Crew::Bus(OnBus { options, within })) => {
            let call = nats::Call {
                run: run.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                agents: agents as usize,
                within: *within,
            };
            let (bus, hub) = nats::hub(options, &call, clock, &stop).map_err(no_bus)?;
            (None, Some(bus), hub, BUS_LEAD)
        }
        None => return Err(RunError::Usage("--agents: there is nowhere to start them".to_owned())),
    };
    let within = TO_START + EACH_TO_START * agents;
    let fleet = Fleet::gather(hub, clock, env!("CARGO_PKG_VERSION"), lead, within, &stop);
    let mut fleet = fleet.map_err(wrong)?;
    let url = match &order.plan.target.url {
        // Values of the query may be secret: an agent has its own.
        Some(url) => url.split('?').next().unwrap_or_default().to_owned(),
        None => format!("http://{}", own.target.endpoint.host_header()),
    };
    let value = serde_json::to_value(settled)
        .map_err(|error| RunError::Own(format!("what was settled: {error}")))?;
    let files = match wanted.bus {
        true => Files::of(&order.plan).map_err(|why| RunError::setting("--data", why))?,
        false => Files::default(),
    };
    let cpus = match &order.crew {
        Some(Crew::Local(local)) if local.pin => dyno_net::allowed_cpus().unwrap_or_default(),
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
        _children: children,
        _bus: bus,
        folder,
    })
}

/// The environment variable with what must not be seen in a list of processes.
pub(super) const SECRETS: &str = "DYNO_AGENT_SECRETS";

/// Key, headers and query, for children of this process alone.
fn secrets(secrets: &Secrets, order: &Order) -> String {
    let tls = &order.reach.tls;
    let query = order.reach.url.as_ref().and_then(|url| url.query());
    serde_json::json!({
        "api_key": secrets.api_key,
        "headers": secrets.headers,
        "query": query,
        "tls": {
            "insecure": tls.insecure, "ca_cert": tls.ca_cert, "client_cert": tls.client_cert,
        },
    })
    .to_string()
}

fn no_bus(error: nats::BusError) -> RunError {
    match error {
        nats::BusError::Interrupted => RunError::Interrupted("interrupted".to_owned()),
        error => RunError::Usage(format!("--bus: {}", one_line(&error.to_string()))),
    }
}

fn wrong(error: FleetError) -> RunError {
    let message = format!("--agents: {}", one_line(&error.to_string()));
    match error {
        FleetError::Interrupted => RunError::Interrupted("interrupted".to_owned()),
        FleetError::Version { .. } | FleetError::Refused { .. } => RunError::Usage(message),
        FleetError::Missing { .. } | FleetError::Lost { .. } => RunError::Own(message),
    }
}

/// Passes what agents do on to the level's observer.
struct Watching<'a, 'o> {
    observer: &'o mut (dyn Observer + 'a),
    stop: &'o StopSignal,
    clock: Clock,
    /// What was received and when that changed last.
    progress: (u64, Nanos),
    /// The target has gone silent.
    silent: bool,
    started: Option<Nanos>,
    /// Output tokens of earlier levels, and of this one.
    tokens: (u64, u64),
}

impl Watch for Watching<'_, '_> {
    fn started(&mut self, at: Nanos) {
        self.started = Some(at);
        self.observer.started(at);
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
        if done != self.progress.0 || in_flight == 0 {
            self.progress = (done, now);
        }
        self.silent |= self.observer.silent(now.saturating_sub(self.progress.1));
    }

    fn stop(&self) -> usize {
        let by_user = match self.stop.get() {
            Stop::No => 0,
            Stop::Sending => 1,
            Stop::Now => 2,
        };
        let by_us = if self.silent { 2 } else { usize::from(self.observer.must_stop()) };
        by_user.max(by_us)
    }
}

impl Bench for Coordinated {
    fn now(&self) -> Nanos {
        self.own.now()
    }

    fn run_level(
        &mut self,
        setup: LevelSetup<'_>,
        _items: Items,
        _ahead: usize,
    ) -> Result<LevelOutcome, TransportError> {
        let prepare = Prepare {
            level: setup.level,
            plan: setup.plan.clone(),
            taken: self.taken,
            failures: self.max_failures.map(|most| most.saturating_sub(self.failed)),
        };
        let clock = self.own.target.client.clock();
        let mut watching = Watching {
            observer: setup.observer,
            stop: setup.stop,
            clock,
            progress: (0, clock.now()),
            silent: false,
            started: None,
            tokens: (self.tokens, 0),
        };
        let mut parts = match self.fleet.level(&prepare, &mut watching) {
            Ok(parts) => parts,
            Err(FleetError::Lost { name, why }) => {
                let now = clock.now();
                setup.observer.started(now);
                return Ok(lost_before(&name, why, now));
            }
            Err(error) => return Err(TransportError::from(io::Error::other(error.to_string()))),
        };
        let (silent, started) = (watching.silent, watching.started);
        self.tokens += watching.tokens.1;
        let started = started.unwrap_or_else(|| {
            // It has records of its end, so it has one of its beginning.
            let now = clock.now();
            setup.observer.started(now);
            now
        });
        let ends = self.collect(&mut parts, setup.observer)?;
        let now = clock.now();
        let mut outcome = together(&parts, ends, started, now);
        let lost = parts.iter().any(|part| part.done.is_none());
        let over = prepare.failures.is_some_and(|most| outcome.failed >= most);
        if lost {
            outcome.ending = Ending::AgentLost;
        } else if silent {
            outcome.ending = Ending::TargetLost;
        } else if over && !outcome.ending.carried_out() {
            outcome.ending = Ending::MaxFailures;
        }
        self.failed += outcome.failed;
        Ok(outcome)
    }

    fn taken_so_far(&mut self, taken: u64) {
        self.taken = taken;
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

    fn answers(&mut self, stop: &StopSignal) -> Result<(), String> {
        self.own.answers(stop)
    }

    fn forget(&mut self, stop: &StopSignal) -> Result<(), String> {
        self.own.forget(stop)
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
        parts: &mut [Part],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Option<LevelEnd>>, TransportError> {
        let folder = tempfile::Builder::new().prefix("records-").tempdir_in(&self.folder)?;
        let mut streams = Vec::new();
        let mut of_agent = Vec::new();
        for (number, part) in parts.iter_mut().enumerate() {
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
            streams.push(Stream::new(number as u32, clock, reader));
            of_agent.push(number);
        }
        let merged = merge(streams, |record| observer.ended(record));
        let mut ends: Vec<Option<LevelEnd>> = parts.iter().map(|_| None).collect();
        for (number, end) in of_agent.into_iter().zip(merged) {
            ends[number] = end;
        }
        for (part, _) in parts.iter_mut().zip(&ends).filter(|(_, end)| end.is_none()) {
            // Without them the level would look as if it had been smaller.
            if part.done.take().is_some() {
                let why = part.clock.map_or("its clock could not be compared", |_| INCOMPLETE);
                part.lost.get_or_insert_with(|| why.to_owned());
            }
        }
        Ok(ends)
    }
}

/// A level that did not begin, because an agent was lost since the last one.
fn lost_before(name: &str, why: String, now: Nanos) -> LevelOutcome {
    let agent = AgentEnd { lost: Some(why), ..AgentEnd::new(0, name, "") };
    LevelOutcome {
        started: now,
        ended: now,
        sending_stopped: now,
        ending: Ending::AgentLost,
        starved: None,
        planned: None,
        issued: 0,
        warmup: 0,
        taken: 0,
        client: ClientHealth::default(),
        agents: vec![agent],
        failed: 0,
        lost: None,
        lost_to_agent: None,
    }
}

/// One level of all parts.
fn together(
    parts: &[Part],
    ends: Vec<Option<LevelEnd>>,
    started: Nanos,
    now: Nanos,
) -> LevelOutcome {
    let done = || parts.iter().filter_map(|part| part.done.as_ref());
    let agents: Vec<AgentEnd> = (0..).zip(parts.iter().zip(ends.iter())).map(agent_end).collect();
    let ends: Vec<LevelEnd> = ends.into_iter().flatten().collect();
    let client = merged_health(ends.iter().map(|end| &end.client));
    let last = |of: fn(&LevelEnd) -> Nanos| ends.iter().map(of).max().unwrap_or(now);
    let planned: Option<Vec<u64>> = ends.iter().map(|end| end.planned).collect();
    LevelOutcome {
        started,
        ended: last(|end| end.ended),
        sending_stopped: last(|end| end.sending_stopped),
        ending: weightiest(done()),
        starved: ends.iter().filter_map(|end| end.starved).min(),
        planned: planned.map(|each| each.into_iter().sum()),
        issued: ends.iter().map(|end| end.issued).sum(),
        warmup: ends.iter().map(|end| end.warmup).sum(),
        taken: done().map(|done| done.taken).max().unwrap_or(0),
        client,
        agents,
        failed: done().map(|done| done.failed).sum(),
        lost: None,
        lost_to_agent: done().find_map(|done| done.lost_target.clone()),
    }
}

fn agent_end((number, (part, end)): (u32, (&Part, &Option<LevelEnd>))) -> AgentEnd {
    let done = part.done.as_ref();
    AgentEnd {
        clock: part.clock,
        start_error_ns: part.start_error_ns,
        ending: done.map(|done| done.ending),
        sending_stopped: end.as_ref().map(|end| end.sending_stopped),
        planned: end.as_ref().and_then(|end| end.planned),
        issued: end.as_ref().map_or(0, |end| end.issued),
        warmup: end.as_ref().map_or(0, |end| end.warmup),
        beats: part.beats,
        longest_silence_ns: part.longest_silence_ns,
        client: end.as_ref().map_or_else(ClientHealth::default, |end| end.client.clone()),
        lost: part.lost.clone().or_else(|| done.and_then(|done| done.trouble.clone())),
        ..AgentEnd::new(number, &part.name, &part.host)
    }
}

/// How the level ended: as planned where all parts did.
fn weightiest<'a>(done: impl Iterator<Item = &'a Done>) -> Ending {
    let weight = |ending: Ending| match ending {
        Ending::Requests => 0,
        Ending::Duration => 1,
        Ending::Stable => 2,
        Ending::Interrupted => 3,
        Ending::Aborted => 4,
        Ending::MaxFailures => 5,
        Ending::TargetLost => 6,
        Ending::AgentLost => 7,
    };
    done.map(|done| done.ending).max_by_key(|ending| weight(*ending)).unwrap_or(Ending::Requests)
}

/// The plan of one agent.
pub(super) fn plan_of(plan: &Plan, shard: Shard) -> Plan {
    Plan { shard, ..plan.clone() }
}
