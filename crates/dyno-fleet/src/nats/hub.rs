//! The coordinator's end of a bus: agents called for and engaged, then a line to each.

use super::connection::{self, Change, Connection, thread_ended, untaken};
use super::early::Early;
use super::error::BusError;
use super::link::{self, Link};
use super::notice::{self, FromCoordinator, Present, RunNotice};
use super::options::BusOptions;
use super::roster::Roll;
use super::{Id, Subjects};
use crate::agent_protocol::SILENCE;
use crate::inbox::{Intake, inbox};
use crate::message::{Hello, PROTOCOL};
use crate::port::{Arrived, Hub, Sender};
use async_nats::{Message, StatusCode, Subscriber};
use dyno_model::{Message as Said, message};
use dyno_net::Clock;
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as std_mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

/// Packets that wait for the bus thread: all agents are called in quick succession to compare clocks.
const WAITING: usize = 65_536;
/// How often agents are called for, and engaged ones told that they are.
const CALL: Duration = Duration::from_millis(500);
/// How often lines are looked after.
const TICK: Duration = Duration::from_millis(250);
/// How often it is looked whether the waiting for agents is over.
const LOOK: Duration = Duration::from_millis(100);
/// How often the caller is asked whether to stop.
const GLANCE: Duration = Duration::from_millis(50);
/// Agents that hear nothing for 3 s leave their run, so a bus that is away for longer has none.
const DOWN: Duration = Duration::from_secs(SILENCE.as_secs() + 1);
/// An agent that is not connected to the bus hears nothing, and has left the run by itself after this.
const ABSENT: Duration = Duration::from_millis(SILENCE.as_millis() as u64 + 250);

/// A call for agents.
#[derive(Debug, Clone)]
pub struct Call {
    /// What people call the run.
    pub run: String,
    /// The version of Dyno that agents must have.
    pub version: String,
    /// How many are needed.
    pub agents: usize,
    /// How long to wait for them.
    pub within: Duration,
}

/// A coordinator's connection to a bus. Drop it after everything that uses the [`Hub`]: it waits until what
/// was sent last is with the server.
#[derive(Debug)]
pub struct Bus {
    thread: Option<JoinHandle<()>>,
}

impl Drop for Bus {
    fn drop(&mut self) {
        connection::end(self.thread.take());
    }
}

/// Calls for agents on a bus, and engages them. Their numbers follow their names.
pub fn hub(
    options: &BusOptions,
    call: &Call,
    clock: Clock,
    stop: &dyn Fn() -> bool,
) -> Result<(Bus, Hub), BusError> {
    let (packets, outgoing) = mpsc::channel(WAITING);
    let (intake, inbox) = inbox(call.agents);
    let (settle, settled) = std_mpsc::channel();
    let given_up = Arc::new(AtomicBool::new(false));
    let (options, call_for, given) = (options.clone(), call.clone(), Arc::clone(&given_up));
    let thread = connection::spawn("dyno-hub", move || async move {
        match Gathering::begin(&options, &call_for).await {
            Ok(gathering) => match gathering.agents(&given).await {
                Ok(lines) => {
                    let _ = settle.send(Ok(()));
                    lines.serve(outgoing, &intake, clock).await;
                }
                Err(error) => drop(settle.send(Err(error))),
            },
            Err(error) => drop(settle.send(Err(error))),
        }
    })?;
    let bus = Bus { thread: Some(thread) };
    loop {
        match settled.recv_timeout(GLANCE) {
            Ok(Ok(())) => break,
            Ok(Err(error)) => return Err(error),
            Err(std_mpsc::RecvTimeoutError::Timeout) => {
                if stop() {
                    given_up.store(true, Ordering::Relaxed);
                }
            }
            Err(std_mpsc::RecvTimeoutError::Disconnected) => {
                return Err(thread_ended());
            }
        }
    }
    let sender = |number: usize| -> Sender {
        let packets = packets.clone();
        Box::new(move |packet| match packets.try_send((number, packet)) {
            Ok(()) => Ok(()),
            Err(error) => Err(untaken(&error)),
        })
    };
    Ok((bus, Hub::new((0..call.agents).map(sender).collect(), inbox)))
}

/// Why nothing more comes from an agent.
fn gone() -> Said {
    message!("it has left the bus", "它已离开总线")
}

fn cut_off() -> Said {
    message!("its connection to the bus has ended", "它与总线的连接已断开")
}

fn connection_closed() -> Said {
    message!("its connection was closed", "其连接已关闭")
}

/// Agents are being called for.
struct Gathering {
    connection: Connection,
    from_agents: Subscriber,
    subjects: Subjects,
    session: Id,
    run: RunNotice,
    roll: Roll,
    within: Duration,
    early: Early,
}

impl Gathering {
    async fn begin(options: &BusOptions, call: &Call) -> Result<Self, BusError> {
        let connection = connection::connect(options, "dyno bench").await?;
        let (session, subjects) = (Id::draw(), options.subjects());
        let from_agents = connection.subscribe(subjects.whole_run(session)).await?;
        let run = RunNotice::new(session, &call.run, &call.version, PROTOCOL);
        let (roll, within) = (Roll::new(session, call), call.within);
        let early = Early::new(session);
        Ok(Self { connection, from_agents, subjects, session, run, roll, within, early })
    }

    async fn agents(mut self, given_up: &AtomicBool) -> Result<Lines, BusError> {
        let gathered = self.gathered(given_up).await;
        let taken = gathered.as_ref().map_or(&[][..], |agents| &agents[..]);
        let release = notice::written(&FromCoordinator::Release(self.run.clone()));
        for id in self.roll.surplus(taken) {
            self.connection.send(self.subjects.agent(id), release.clone()).await;
        }
        self.connection.flush().await;
        let agents = gathered?;
        let numbers = agents.iter().enumerate().map(|(number, (id, _))| (*id, number)).collect();
        let lines = agents.iter().map(|(id, _)| LineTo::new(*id, self.session)).collect();
        let Self { connection, from_agents, subjects, early, .. } = self;
        Ok(Lines { connection, from_agents, subjects, numbers, lines, early })
    }

    async fn gathered(&mut self, given_up: &AtomicBool) -> Result<Vec<(Id, Hello)>, BusError> {
        let until = Instant::now() + self.within;
        let mut tick = tokio::time::interval(LOOK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut called, mut down): (Option<Instant>, Option<Instant>) = (None, None);
        let call = notice::written(&FromCoordinator::Call(self.run.clone()));
        let engage = notice::written(&FromCoordinator::Engage(self.run.clone()));
        loop {
            tokio::select! {
                message = self.from_agents.next() => {
                    let Some(message) = message else {
                        return Err(BusError::Own(connection_closed()));
                    };
                    let Some(id) = Subjects::sender(&message.subject) else { continue };
                    if self.roll.has_asked(id) {
                        self.early.keep(id, &message.payload);
                    }
                    // Whatever is no notice is none of an agent.
                    if let Ok(present) = notice::read::<Present>(&message.payload) {
                        self.roll.heard(id, &present, Instant::now());
                    }
                    if let Some(agents) = self.roll.complete() {
                        return Ok(agents);
                    }
                }
                change = self.connection.changed() => {
                    down = (change == Change::Down).then(Instant::now);
                    if let Change::Forbidden(why) = change {
                        let servers = self.connection.servers().to_owned();
                        return Err(BusError::Denied { servers, why: Said::quoted(why) });
                    }
                }
                _ = tick.tick() => {
                    let now = Instant::now();
                    if down.is_some_and(|since| now - since >= DOWN) {
                        let servers = self.connection.servers().to_owned();
                        let why = connection_closed();
                        return Err(BusError::Unreachable { servers, why });
                    }
                    if given_up.load(Ordering::Relaxed) {
                        return Err(BusError::Interrupted);
                    }
                    if now >= until {
                        let too_few = self.roll.too_few(self.within, self.connection.servers());
                        return Err(BusError::TooFew(Box::new(too_few)));
                    }
                    if called.is_none_or(|at| now - at >= CALL) {
                        called = Some(now);
                        self.connection.send(self.subjects.lobby(), call.clone()).await;
                        for id in self.roll.chosen(now) {
                            self.connection.send(self.subjects.agent(id), engage.clone()).await;
                        }
                    }
                }
            }
        }
    }
}

/// A line to each agent of a run.
struct Lines {
    connection: Connection,
    from_agents: Subscriber,
    subjects: Subjects,
    numbers: BTreeMap<Id, usize>,
    lines: Vec<LineTo>,
    early: Early,
}

/// A line to an agent.
struct LineTo {
    id: Id,
    link: Link,
    heard: Instant,
    /// The server says that nobody is there.
    absent: bool,
}

impl LineTo {
    fn new(id: Id, session: Id) -> Self {
        Self { id, link: Link::new(session, gone()), heard: Instant::now(), absent: false }
    }
}

impl Lines {
    /// Carries packets until nobody wants to send any more.
    async fn serve(
        mut self,
        mut outgoing: mpsc::Receiver<(usize, Vec<u8>)>,
        intake: &Intake,
        clock: Clock,
    ) {
        for number in 0..self.lines.len() {
            let (at, id) = (clock.now(), self.lines[number].id);
            for frame in self.early.take(id) {
                if let Some(packet) = self.take(number, &frame).await {
                    intake.put(number, Arrived { at, packet });
                }
            }
        }
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut down: Option<Instant> = None;
        loop {
            tokio::select! {
                packet = outgoing.recv() => {
                    let Some((number, packet)) = packet else { break };
                    if let Err(why) = self.send(number, &packet).await {
                        intake.put(number, Arrived { at: clock.now(), packet: Err(why) });
                    }
                }
                message = self.from_agents.next() => {
                    let at = clock.now();
                    let Some(message) = message else { break };
                    if let Some((number, packet)) = self.hear(&message).await {
                        intake.put(number, Arrived { at, packet });
                    }
                }
                change = self.connection.changed() => {
                    down = (change == Change::Down).then(Instant::now);
                    if change == Change::Up {
                        self.lines.iter_mut().for_each(|line| line.link.interrupted());
                        self.look_after().await;
                    }
                }
                _ = tick.tick() => {
                    if down.is_some_and(|since| since.elapsed() >= DOWN) {
                        down = None;
                        self.all_gone(intake, clock);
                    }
                    self.find_absent(intake, clock);
                    self.look_after().await;
                }
            }
        }
        for line in &self.lines {
            self.tell(line, link::bye(line.link.session())).await;
        }
        self.connection.flush().await;
    }

    /// Sends a frame to an agent, and asks the server whether there is one.
    async fn tell(&self, line: &LineTo, frame: Vec<u8>) {
        let answers = self.subjects.run(line.link.session(), line.id);
        self.connection.send_asking(self.subjects.agent(line.id), answers, frame).await;
    }

    async fn send(&mut self, number: usize, packet: &[u8]) -> Result<(), Said> {
        let most = self.connection.most();
        let Some(line) = self.lines.get_mut(number) else { return Ok(()) };
        for frame in line.link.push(packet, most, Instant::now())? {
            self.tell(&self.lines[number], frame).await;
        }
        Ok(())
    }

    /// The agent's number and its packet, once one is complete.
    async fn hear(&mut self, message: &Message) -> Option<(usize, Result<Vec<u8>, Said>)> {
        let number = *self.numbers.get(&Subjects::sender(&message.subject)?)?;
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            self.lines.get_mut(number)?.absent = true;
            return None;
        }
        self.take(number, &message.payload).await.map(|packet| (number, packet))
    }

    /// The packet of an agent, once it is complete.
    async fn take(&mut self, number: usize, frame: &[u8]) -> Option<Result<Vec<u8>, Said>> {
        let line = self.lines.get_mut(number)?;
        if link::session_of(frame) == Some(line.link.session()) {
            (line.heard, line.absent) = (Instant::now(), false);
        }
        let taken = line.link.take(frame, Instant::now());
        for frame in taken.send {
            self.tell(&self.lines[number], frame).await;
        }
        taken.packet
    }

    /// Every line is at its end: agents have stopped by themselves, and nobody can be told anything.
    fn all_gone(&self, intake: &Intake, clock: Clock) {
        let why = message!(
            "the bus could not be reached for {} s",
            "{} 秒内无法连接总线",
            DOWN.as_secs()
        );
        for number in 0..self.lines.len() {
            intake.put(number, Arrived { at: clock.now(), packet: Err(why.clone()) });
        }
    }

    /// Lines to agents that the server does not know are at their end. One whose connection was interrupted
    /// may come back until it leaves by itself.
    fn find_absent(&mut self, intake: &Intake, clock: Clock) {
        for (number, line) in self.lines.iter_mut().enumerate() {
            if line.absent && line.heard.elapsed() >= ABSENT {
                line.absent = false;
                intake.put(number, Arrived { at: clock.now(), packet: Err(cut_off()) });
            }
        }
    }

    async fn look_after(&mut self) {
        let now = Instant::now();
        for number in 0..self.lines.len() {
            if let Some(question) = self.lines[number].link.due(now) {
                self.tell(&self.lines[number], question).await;
            }
        }
    }
}
