//! An agent's end of a bus: it waits in the lobby until a coordinator engages it, belongs to that run until
//! its line is dropped, and is back in the lobby then.

use super::connection::{self, Change, Connection, thread_ended, untaken};
use super::error::BusError;
use super::link::{self, Link};
use super::notice::{self, FromCoordinator, Present, RunNotice};
use super::options::BusOptions;
use super::{Id, Subjects};
use crate::message::{Hello, PROTOCOL, named};
use crate::port::{AgentLine, Arrived, Sender};
use async_nats::Subscriber;
use dyno_model::{Message, message};
use dyno_net::Clock;
use futures_util::StreamExt;
use std::sync::mpsc as std_mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

/// Packets that wait for the bus thread.
const WAITING: usize = 65_536;
/// How often the line is looked after.
const TICK: Duration = Duration::from_millis(250);
/// Between attempts to find the bus.
const AGAIN: Duration = Duration::from_secs(1);
/// An agent that was engaged, and then heard nothing for so long, is free again. It has sent nothing yet, so
/// this is longer than the silence in a level: the coordinator may have many to greet.
const UNUSED: Duration = Duration::from_secs(10);
/// Between two remarks that something was refused: who floods the bus fills no terminal.
const REFUSED_AGAIN: Duration = Duration::from_secs(10);

/// What happens in a lobby, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The bus is not there yet; it is tried again.
    NotThere {
        /// Why.
        why: Message,
    },
    /// The agent is on the bus, and free.
    Free,
    /// It belongs to a run.
    Engaged {
        /// What people call the run.
        run: String,
    },
    /// Something was said to it that it does not accept.
    Refused {
        /// What was wrong.
        why: Message,
    },
    /// The connection to the bus was interrupted.
    Interrupted,
    /// It is there again.
    Back,
}

/// A run that an agent belongs to, until the line is dropped.
#[derive(Debug)]
pub struct Engagement {
    /// What people call the run.
    pub run: String,
    /// The line to the coordinator.
    pub line: AgentLine,
}

/// An agent on a bus.
#[derive(Debug)]
pub struct Lobby {
    engagements: std_mpsc::Receiver<Result<Engagement, BusError>>,
    leave: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lobby {
    /// Goes to the bus, and waits for it where it is not there yet. The clock is that of its [`Post`](crate::Post)s.
    pub fn join(
        options: &BusOptions,
        hello: Hello,
        clock: Clock,
        tell: impl Fn(Notice) + Send + 'static,
    ) -> Result<Self, BusError> {
        let (engage, engagements) = std_mpsc::channel();
        let (leave, mut left) = mpsc::channel(1);
        let options = options.clone();
        let thread = connection::spawn("dyno-bus", move || async move {
            let waiting = async {
                let agent = Agent::arrive(&options, hello, clock, &engage, &tell).await;
                match agent {
                    Ok(agent) => Some(agent),
                    Err(error) => {
                        let _ = engage.send(Err(error));
                        None
                    }
                }
            };
            let agent = tokio::select! {
                agent = waiting => agent,
                _ = left.recv() => None,
            };
            if let Some(agent) = agent {
                agent.stay(&mut left).await;
            }
        })?;
        Ok(Self { engagements, leave: Some(leave), thread: Some(thread) })
    }

    /// The next engagement within a time; `Ok(None)` if there was none. An error is the end: the bus does not
    /// let this agent in.
    pub fn next(&self, within: Duration) -> Result<Option<Engagement>, BusError> {
        match self.engagements.recv_timeout(within) {
            Ok(engagement) => engagement.map(Some),
            Err(std_mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(std_mpsc::RecvTimeoutError::Disconnected) => Err(thread_ended()),
        }
    }
}

impl Drop for Lobby {
    fn drop(&mut self) {
        self.leave = None;
        connection::end(self.thread.take());
    }
}

/// Why nothing more comes from a coordinator.
fn gone() -> Message {
    message!("the coordinator has left the bus", "协调端已离开总线")
}

/// An agent that is on the bus.
struct Agent<'a> {
    id: Id,
    hello: Hello,
    clock: Clock,
    connection: Connection,
    to_all: Subscriber,
    to_me: Subscriber,
    subjects: Subjects,
    engaged: Option<Engaged>,
    /// When it last said that something was refused.
    refused: Option<Instant>,
    engage: &'a std_mpsc::Sender<Result<Engagement, BusError>>,
    tell: &'a dyn Fn(Notice),
}

/// The run that an agent belongs to.
struct Engaged {
    run: RunNotice,
    line: Link,
    arrivals: std_mpsc::Sender<Arrived>,
    outgoing: mpsc::Receiver<Vec<u8>>,
    /// When the coordinator last said so, for as long as the line was not used.
    said: Instant,
}

impl Engaged {
    /// The line is at its end; what uses it will drop it.
    fn end(&self, clock: Clock, why: Message) {
        let _ = self.arrivals.send(Arrived { at: clock.now(), packet: Err(why) });
    }
}

impl<'a> Agent<'a> {
    async fn arrive(
        options: &BusOptions,
        hello: Hello,
        clock: Clock,
        engage: &'a std_mpsc::Sender<Result<Engagement, BusError>>,
        tell: &'a dyn Fn(Notice),
    ) -> Result<Self, BusError> {
        let mut said = None;
        let connection = loop {
            match connection::connect(options, "dyno agent").await {
                Ok(connection) => break connection,
                Err(BusError::Unreachable { why, .. }) => {
                    if said.as_ref() != Some(&why) {
                        said = Some(why.clone());
                        tell(Notice::NotThere { why });
                    }
                    tokio::time::sleep(AGAIN).await;
                }
                Err(error) => return Err(error),
            }
        };
        let (id, subjects) = (Id::draw(), options.subjects());
        let to_all = connection.subscribe(subjects.lobby()).await?;
        let to_me = connection.subscribe(subjects.agent(id)).await?;
        connection.flush().await;
        tell(Notice::Free);
        Ok(Self {
            id,
            hello,
            clock,
            connection,
            to_all,
            to_me,
            subjects,
            engaged: None,
            refused: None,
            engage,
            tell,
        })
    }

    async fn stay(mut self, left: &mut mpsc::Receiver<()>) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_engaged = self.engaged.is_some();
            let engaged = &mut self.engaged;
            let packet = async move {
                match engaged {
                    Some(engaged) => engaged.outgoing.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = left.recv() => break,
                message = self.to_all.next() => {
                    let Some(message) = message else { break };
                    self.hear(&message.payload).await;
                }
                message = self.to_me.next() => {
                    let at = self.clock.now();
                    let Some(message) = message else { break };
                    match link::session_of(&message.payload) {
                        Some(session) => self.take(session, &message.payload, at).await,
                        None => self.hear(&message.payload).await,
                    }
                }
                packet = packet => match packet {
                    Some(packet) => self.send(&packet).await,
                    None => {
                        self.part().await;
                        (self.tell)(Notice::Free);
                    }
                },
                change = self.connection.changed() => self.change(change).await,
                _ = tick.tick(), if is_engaged => self.look_after().await,
            }
        }
        self.part().await;
    }

    /// A notice of a coordinator.
    async fn hear(&mut self, notice: &[u8]) {
        let notice = match notice::read(notice) {
            Ok(notice) => notice,
            Err(why) => return self.refuse(why),
        };
        match notice {
            FromCoordinator::Call(run) => self.answer(&run).await,
            FromCoordinator::Engage(run) => {
                self.be_engaged(&run);
                self.answer(&run).await;
            }
            FromCoordinator::Release(run) => {
                if let Some(engaged) = &self.engaged
                    && engaged.run.session() == run.session()
                    && !engaged.line.met()
                {
                    engaged.end(self.clock, message!("the run did not begin", "测试没有开始"));
                }
            }
        }
    }

    /// Says that it is there, and whether it is free.
    async fn answer(&self, run: &RunNotice) {
        let Some(session) = run.session() else { return };
        let busy = self.engaged.as_ref().map(|engaged| engaged.run.clone());
        let present = notice::written(&Present::new(&self.hello, busy));
        self.connection.send(self.subjects.run(session, self.id), present).await;
    }

    /// Says that something was refused, now and then.
    fn refuse(&mut self, why: Message) {
        if self.refused.is_none_or(|at| at.elapsed() >= REFUSED_AGAIN) {
            self.refused = Some(Instant::now());
            (self.tell)(Notice::Refused { why });
        }
    }

    fn be_engaged(&mut self, run: &RunNotice) {
        let Some(session) = run.session() else { return };
        if run.version != self.hello.version || run.protocol != PROTOCOL {
            let theirs = named(&notice::clean(&run.version), run.protocol);
            let ours = &self.hello.version;
            let why = message!(
                "a run of Dyno {theirs}, and this is {ours}",
                "测试来自 Dyno {theirs}，而本机为 {ours}"
            );
            return self.refuse(why);
        }
        if let Some(engaged) = &mut self.engaged {
            if engaged.run.session() == Some(session) {
                engaged.said = Instant::now();
            }
            return;
        }
        let (packets, outgoing) = mpsc::channel(WAITING);
        let (arrivals, inbox) = std_mpsc::channel();
        let sender: Sender = Box::new(move |packet| match packets.try_send(packet) {
            Ok(()) => Ok(()),
            Err(error) => Err(untaken(&error)),
        });
        let run = RunNotice::new(session, &run.run, &run.version, run.protocol);
        let engagement = Engagement { run: run.run.clone(), line: AgentLine::new(sender, inbox) };
        (self.tell)(Notice::Engaged { run: run.run.clone() });
        let (line, said) = (Link::new(session, gone()), Instant::now());
        self.engaged = Some(Engaged { run, line, arrivals, outgoing, said });
        let _ = self.engage.send(Ok(engagement));
    }

    /// A frame of a line.
    async fn take(&mut self, session: Id, frame: &[u8], at: u64) {
        let engaged = self.engaged.as_mut().filter(|engaged| engaged.line.session() == session);
        let Some(engaged) = engaged else {
            // A coordinator that believes to have this agent, which left it while the bus was interrupted.
            let subject = self.subjects.run(session, self.id);
            return self.connection.send(subject, link::bye(session)).await;
        };
        let taken = engaged.line.take(frame, Instant::now());
        if let Some(packet) = taken.packet {
            let _ = engaged.arrivals.send(Arrived { at, packet });
        }
        for frame in taken.send {
            self.connection.send(self.subjects.run(session, self.id), frame).await;
        }
    }

    async fn send(&mut self, packet: &[u8]) {
        let most = self.connection.most();
        let Some(engaged) = &mut self.engaged else { return };
        let session = engaged.line.session();
        match engaged.line.push(packet, most, Instant::now()) {
            Ok(frames) => {
                for frame in frames {
                    self.connection.send(self.subjects.run(session, self.id), frame).await;
                }
            }
            Err(why) => engaged.end(self.clock, why),
        }
    }

    /// Leaves its run, if it belongs to one.
    async fn part(&mut self) {
        // What was said last may still wait.
        while let Some(packet) = self.engaged.as_mut().and_then(|one| one.outgoing.try_recv().ok())
        {
            self.send(&packet).await;
        }
        if let Some(engaged) = self.engaged.take() {
            let session = engaged.line.session();
            let subject = self.subjects.run(session, self.id);
            self.connection.send(subject, link::bye(session)).await;
            self.connection.flush().await;
        }
    }

    async fn change(&mut self, change: Change) {
        match change {
            Change::Up => {
                (self.tell)(Notice::Back);
                if let Some(engaged) = &mut self.engaged {
                    engaged.line.interrupted();
                }
                self.look_after().await;
            }
            Change::Down => (self.tell)(Notice::Interrupted),
            Change::Forbidden(why) => {
                let servers = self.connection.servers().to_owned();
                let _ =
                    self.engage.send(Err(BusError::Denied { servers, why: Message::quoted(why) }));
            }
        }
    }

    async fn look_after(&mut self) {
        let now = Instant::now();
        let Some(engaged) = &mut self.engaged else { return };
        if !engaged.line.met() && now - engaged.said >= UNUSED {
            engaged.said = now;
            let why =
                message!("nothing more was heard from the coordinator", "再未收到协调端的消息");
            engaged.end(self.clock, why);
        }
        let session = engaged.line.session();
        if let Some(question) = engaged.line.due(now) {
            self.connection.send(self.subjects.run(session, self.id), question).await;
        }
    }
}
