//! An agent: it sends its part of each level, and keeps its records until they are fetched.

use super::files::Fetched;
use super::gather::{SECRETS, plan_of};
use super::keeping::{AtStart, Counting, Keeping};
use super::kept::{KeepRecords, KeptRecords, note};
use super::notices::told_once;
use super::settled::AgreedWorkload;
use super::told::ToldByAgent;
use crate::api::dialect_of;
use crate::error::RunError;
use crate::host;
use crate::identity::{self, on_one_line};
use crate::levels::{Backend, ahead, on_failure, served_nothing};
use crate::order::{ConnectionSettings, MetricsFrom, Order, Secrets};
use crate::target::{ServerBackend, open};
use crate::workload::{Attempt, Workload};
use dyno_drive::{LevelSetup, OnFailure, Stop, StopSignal};
use dyno_fleet::{
    AgentLevelEnd, AgentLine, FromAgent, Hello, PROTOCOL, Post, PrepareLevel, Setup, check_level,
    check_setup, nats,
};
use dyno_model::environment::{Environment, Server};
use dyno_model::frame::{Ending, Frame, LevelChosen};
use dyno_model::plan::{DataPlan, Plan};
use dyno_model::{Localized, Message, message};
use dyno_net::Clock;
use dyno_record::Recorder;
use dyno_wire::client::Sources;
use dyno_wire::encode::Encoder;
use dyno_wire::url::TargetUrl;
use dyno_workload::data::DataSpec;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How often a waiting agent looks whether it should end.
const GLANCE: Duration = Duration::from_millis(250);

/// Whether the target at a URL may be measured; the reason if not.
pub type Permission = Box<dyn Fn(&str) -> Result<(), Message>>;

/// What an agent has of its own: nothing of it travels.
pub struct AgentWork {
    /// Its name in reports.
    pub name: String,
    /// Keys, headers and TLS for the target.
    pub reach: ConnectionSettings,
    /// URLs of servers whose queries hold secrets, each for its own server.
    pub targets: Vec<TargetUrl>,
    /// Key and headers for the server that counts tokens, where that is not the target and they differ.
    pub counting: Option<Secrets>,
    /// The files of a plan are where the plan says: the agent is a child of the coordinator.
    pub shares_files: bool,
    /// Whether it may measure the target at a URL; the reason if not.
    pub may_measure: Permission,
    /// Where it keeps records that its coordinator did not fetch.
    pub keep: KeepRecords,
}

/// How a run was that is over for an agent.
#[derive(Debug)]
pub struct Ended {
    /// As it should be where the coordinator said so.
    pub how: Result<(), RunError>,
    /// Where the records are that the coordinator did not fetch, or why they could not be kept.
    pub kept: Option<Result<PathBuf, Message>>,
}

impl AgentWork {
    /// A child of the coordinator: it gets its secrets through its environment, and measures what it is
    /// told to.
    pub fn child(name: String, mut reach: ConnectionSettings) -> Self {
        let given = std::env::var(SECRETS).ok();
        let given: serde_json::Value =
            given.and_then(|given| serde_json::from_str(&given).ok()).unwrap_or_default();
        reach.secrets = secrets(&given);
        let counting = given.get("counting").filter(|given| given.is_object());
        let url = |given: &serde_json::Value| TargetUrl::parse(given.get("url")?.as_str()?).ok();
        let targets = [Some(&given), counting].into_iter().flatten().filter_map(url).collect();
        if let Some(tls) = given.get("tls") {
            let path =
                |field: &str| tls.get(field).and_then(|path| path.as_str()).map(PathBuf::from);
            reach.tls.insecure = tls.get("insecure").and_then(|on| on.as_bool()).unwrap_or(false);
            (reach.tls.ca_cert, reach.tls.client_cert) = (path("ca_cert"), path("client_cert"));
        }
        let run_dir = given.get("run_dir").and_then(|path| path.as_str().map(PathBuf::from));
        Self {
            name,
            reach,
            targets,
            counting: counting.map(secrets),
            shares_files: true,
            may_measure: Box::new(|_| Ok(())),
            keep: run_dir.map_or(KeepRecords::Below(Vec::new()), KeepRecords::InRun),
        }
    }
}

/// Key and headers, as the coordinator writes them.
fn secrets(given: &serde_json::Value) -> Secrets {
    let headers = given.get("headers").cloned().map(serde_json::from_value);
    Secrets {
        api_key: given.get("api_key").and_then(|key| key.as_str().map(str::to_owned)),
        headers: headers.and_then(Result::ok).unwrap_or_default(),
    }
}

/// An agent that takes orders on its standard input until the run is over.
pub fn serve_child(agent: &AgentWork) -> Result<(), RunError> {
    let clock = Clock::start();
    let line = dyno_fleet::pipe::stdio(clock);
    let line = line.map_err(|error| RunError::Own(Message::of(error)))?;
    // Its coordinator gets the signals, and tells it.
    serve(agent, line, clock, &StopSignal::new()).how
}

/// An agent that waits on a bus and takes part in one run after another, until `stop`, also in the middle of
/// one; with `once`, in one. `ended` hears how each run ended for it.
pub fn serve_bus(
    agent: &AgentWork,
    options: &nats::BusOptions,
    once: bool,
    stop: &StopSignal,
    tell: impl Fn(nats::Notice) + Send + 'static,
    ended: impl Fn(&str, Ended),
) -> Result<(), RunError> {
    let clock = Clock::start();
    let wrong =
        |error: nats::BusError| RunError::Usage(message!("--bus: {error}", "--bus：{error}"));
    let tell = told_once(once, tell);
    let lobby = nats::Lobby::join(options, hello(agent), clock, tell).map_err(wrong)?;
    while stop.get() == Stop::No {
        let Some(engagement) = lobby.next(GLANCE).map_err(wrong)? else { continue };
        let nats::Engagement { run, line } = engagement;
        ended(&run, serve(agent, line, clock, stop));
        if once {
            break;
        }
    }
    Ok(())
}

/// How an agent introduces itself.
fn hello(agent: &AgentWork) -> Hello {
    let host = host::describe();
    Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        name: agent.name.clone(),
        host: host.name,
        process: std::process::id(),
        cpus: host.cores as u32,
    }
}

/// Takes orders until the run is over, or until `stop`.
pub fn serve(agent: &AgentWork, line: AgentLine, clock: Clock, stop: &StopSignal) -> Ended {
    let mut kept = None;
    match carry_out(agent, line, clock, stop, &mut kept) {
        Ok((why, told)) => Ended {
            kept: kept.and_then(|kept| kept.keep(&agent.keep, &why, told)),
            how: if told { Ok(()) } else { Err(RunError::Own(why)) },
        },
        Err(error) => Ended { how: Err(error), kept: None },
    }
}

/// Carries orders out: why the run is over, and whether the coordinator said so. The records of the last
/// level are in `kept`.
fn carry_out(
    agent: &AgentWork,
    line: AgentLine,
    clock: Clock,
    stop: &StopSignal,
    kept: &mut Option<KeptRecords>,
) -> Result<(Message, bool), RunError> {
    let told_to_end = stop.clone();
    let ends = move || told_to_end.get() > Stop::No;
    let post = Post::take_until(line, clock, ends);
    let post = post.map_err(|error| RunError::Own(Message::of(error)))?;
    let met = post.say(&FromAgent::Hello(hello(agent)), &[]);
    met.map_err(|why| RunError::Own(Message::of(why)))?;
    let mut duty = None;
    loop {
        let said = match post.next() {
            dyno_fleet::AgentOrder::Setup(setup) => {
                match Duty::take_up(agent, &setup, &post, clock) {
                    Ok(taken) => {
                        duty = Some(taken);
                        post.say(&FromAgent::Settled, &[])
                    }
                    Err(error) => refuse(&post, &error),
                }
            }
            dyno_fleet::AgentOrder::Prepare(prepare) => match &mut duty {
                Some(duty) => {
                    *kept = None;
                    match duty.level(&prepare, &post, clock, stop) {
                        Ok((done, records)) => {
                            *kept = Some(records);
                            post.say(&FromAgent::Done(Box::new(done)), &[])
                        }
                        Err(error) => refuse(&post, &error),
                    }
                }
                None => {
                    let early = message!("a level before the setup", "尚未设置就要求开始一级");
                    refuse(&post, &early)
                }
            },
            dyno_fleet::AgentOrder::Pull { from } => {
                let piece = kept.as_mut().map(|kept| kept.piece(from));
                match piece {
                    Some(Ok(bytes)) => post.say(&FromAgent::Piece { from }, &bytes),
                    Some(Err(error)) => {
                        refuse(&post, &message!("its records: {error}", "它的记录：{error}"))
                    }
                    None => {
                        let early =
                            message!("records before a level", "尚未运行任何一级就要求记录");
                        refuse(&post, &early)
                    }
                }
            }
            dyno_fleet::AgentOrder::Leave { why, told } => return Ok((why, told)),
            dyno_fleet::AgentOrder::File { .. }
            | dyno_fleet::AgentOrder::Start { .. }
            | dyno_fleet::AgentOrder::Stop { .. } => Ok(()),
        };
        if let Err(unsaid) = said {
            let (why, told) = post.left().unwrap_or((unsaid, false));
            return Ok((why, told));
        }
    }
}

fn refuse(post: &Post, why: &impl Localized) -> Result<(), Message> {
    post.say(&FromAgent::Refused { why: on_one_line(why) }, &[])
}

/// What an agent does in one run.
struct Duty {
    plan: Plan,
    run: String,
    keep: KeepRecords,
    /// What a report of its part needs.
    environment: Environment,
    backend: ServerBackend,
    workload: Workload,
    attempt: Attempt,
    _files: Option<Fetched>,
}

impl Duty {
    fn take_up(
        agent: &AgentWork,
        setup: &Setup,
        post: &Post,
        clock: Clock,
    ) -> Result<Self, RunError> {
        check_setup(setup).map_err(|why| RunError::Usage(Message::of(why)))?;
        (agent.may_measure)(&setup.url).map_err(RunError::Usage)?;
        let files = match agent.shares_files {
            true => None,
            false => Some(Fetched::all(&setup.files, post).map_err(RunError::Usage)?),
        };
        let plan = plan_of(&setup.plan, setup.shard);
        let settled: AgreedWorkload =
            serde_json::from_value(setup.settled.clone()).map_err(|error| {
                RunError::Usage(message!("what was settled: {error}", "预检结果：{error}"))
            })?;
        let mut reach = agent.reach.clone();
        let url = agent.with_query(&setup.url)?;
        agent.has_all_of(&plan, &url)?;
        reach.url = Some(url);
        reach.metrics = MetricsFrom::Nowhere;
        let (cpu, sources) = agent.own_of(setup);
        if !sources.is_empty() {
            let sources = Sources::parse(&sources.join(","));
            reach.sources = sources.map_err(|error| RunError::Usage(Message::of(error)))?;
        }
        if let Some(cpu) = cpu {
            let pinned = dyno_net::pin_to_cpu(cpu as usize);
            pinned.map_err(|error| RunError::Own(Message::of(error)))?;
        }
        reach.numbered = settled.addresses.clone();
        let mut workload = match &files {
            None => Workload::open(&plan)?,
            Some(files) => {
                let DataPlan { spec, tokenizer, .. } = &plan.data;
                let places = &files.places;
                let named = spec.as_deref().is_some_and(|spec| {
                    spec.parse::<DataSpec>().is_ok_and(|spec| spec.path.is_some())
                });
                if named && places.data.is_none()
                    || tokenizer.is_some() && places.tokenizer.is_none()
                {
                    return Err(RunError::Usage(message!(
                        "a file of the plan was not sent",
                        "计划中的一个文件未送达",
                    )));
                }
                Workload::open_at(&plan, places)?
            }
        };
        workload.go_on_from(settled.attempt);
        let order = Order { reach, ..Order::new(plan.clone()) };
        post.counters().prepare(order.stop.counter());
        let target = open(&order, workload.needs_answers(), clock)?;
        if let Some(counting) = &settled.counting {
            agent.count_like(
                counting,
                &plan,
                &mut workload,
                (&setup.url, &target),
                &order.stop,
                clock,
            )?;
        }
        let dialect = dialect_of(&plan)?;
        let shape = settled.shape(dialect.about()).map_err(RunError::Usage)?;
        let encoder = Encoder::new(&target.endpoint, dialect, shape, &target.headers);
        let backend = ServerBackend { target, encoder };
        let (run, attempt) = (setup.run.clone(), settled.attempt);
        let AgreedWorkload { addresses, server, preflight, .. } = settled;
        let notes = vec![note(&agent.name, setup.shard)];
        let environment = identity::environment(Server { addresses, ..server }, preflight, notes);
        workload.set_context(environment.context());
        let keep = agent.keep.clone();
        Ok(Self { plan, run, keep, environment, backend, workload, attempt, _files: files })
    }

    fn level(
        &mut self,
        prepare: &PrepareLevel,
        post: &Post,
        clock: Clock,
        told_to_end: &StopSignal,
    ) -> Result<(AgentLevelEnd, KeptRecords), RunError> {
        check_level(prepare).map_err(|why| RunError::Usage(Message::of(why)))?;
        let PrepareLevel { level: number, plan: level, taken, failures } = prepare;
        self.attempt.taken = *taken;
        self.workload.go_on_from(self.attempt);
        let items = self.workload.items(&self.plan, level, *number).map_err(RunError::Usage)?;
        let kept = KeptRecords::create(&self.keep, &self.plan, &self.environment)?;
        let header = identity::header(self.run.clone(), &self.plan, &clock);
        let recorder = Recorder::start(kept.dir(), header)?;
        if *number as usize >= self.plan.levels.len() {
            let chosen = LevelChosen { level: *number, plan: level.clone() };
            recorder.send(Frame::LevelChosen(Box::new(chosen)));
        }
        let (stop, counters) = (StopSignal::new(), Arc::clone(post.counters()));
        counters.begin(stop.counter());
        let mut keeping =
            Keeping { level: *number, recorder: &recorder, clock, late: 0, records: 0 };
        let mut gate = AtStart { post, level: *number };
        let setup = LevelSetup {
            level: *number,
            plan: level,
            seed: self.plan.seed,
            trace: self.workload.schedule(),
            sessions: self.workload.is_session(),
            once: level.once,
            max_idle: self.workload.max_idle(),
            at_most: level.max_concurrency,
            shard: self.plan.shard,
            on_failure: OnFailure { seen_by_others: true, ..on_failure(&self.plan, *failures) },
            gate: Some(&mut gate),
            stop: &stop,
            recorder: &mut keeping,
            observer: &Counting(&counters),
        };
        let ran = self.backend.run_level(setup, items, ahead(level.load, self.plan.shard));
        counters.end();
        let (late, records) = (keeping.late, keeping.records);
        let outcome = ran?;
        let lost_target = outcome.lost.as_ref().map(served_nothing);
        let done = AgentLevelEnd {
            level: *number,
            ending: outcome.end.ending,
            start_error_ns: late,
            taken: outcome.taken,
            failed: outcome.failed,
            lost_target,
            trouble: self.trouble(outcome.end.ending),
            told: ToldByAgent {
                data: self.workload.report(*number, outcome.taken),
                addresses: self.backend.target.addresses.clone(),
            }
            .written(),
            bytes: 0,
        };
        // One that lost its coordinator does not know how the level ended.
        let lost = post.left().is_some_and(|(_, told)| !told) && told_to_end.get() == Stop::No;
        if !lost {
            recorder.send(Frame::LevelEnd(Box::new(outcome.end)));
        }
        let finished = recorder.finish();
        if let Some(error) = finished.error {
            return Err(RunError::Records(error));
        }
        let kept = kept.close(records)?;
        Ok((AgentLevelEnd { bytes: kept.bytes, ..done }, kept))
    }
}

impl Duty {
    /// Why prompts are missing, or are not those that another agent would have sent.
    fn trouble(&self, ending: Ending) -> Option<Message> {
        let uncounted = || {
            Some(message!(
                "the server no longer counts tokens for it, as it does for others: {}",
                "服务器不再为它计数 token，而仍为其他压测端计数：{}",
                on_one_line(&self.workload.uncounted()?),
            ))
        };
        // An error beyond the last prompt that was needed does not matter.
        let unread = self.workload.error().filter(|_| ending == Ending::Aborted);
        unread.or_else(uncounted)
    }
}
