//! The coordinator's side of the protocol: agents gathered and set up, and their records fetched; `level`
//! leads them through a level.

mod error;
mod level;

pub use error::FleetError;

use crate::clock::{ClockStamps, ClockSync};
use crate::message::{AgentLevelEnd, FromAgent, Hello, PROTOCOL, Setup, ToAgent, named};
use crate::patience::{Late, Patience, Requests, can_be, can_have_done, is_at_work};
use crate::port::{Hub, Out, taken};
use dyno_model::fleet::{AgentSeen, Beat, ClockFit};
use dyno_model::units::format_duration;
use dyno_model::{Message, Nanos, message};
use dyno_net::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between the calls that keep agents at work.
const BEAT: Duration = Duration::from_secs(1);
/// An agent that has not answered for so long is lost.
const LOST_AFTER: Duration = Duration::from_secs(10);
/// Calls in quick succession, to compare clocks.
const SAMPLES: usize = 30;
const BETWEEN_SAMPLES: Duration = Duration::from_millis(1);
/// How often the caller is asked whether to stop.
const GLANCE: Duration = Duration::from_millis(50);
/// How long the next piece of records may take.
const PIECE_WITHIN: Duration = Duration::from_secs(10);
const TRIES: u32 = 3;

/// The part of the file with a hash that begins at a position; the reason if there is none.
pub type RecordPieces<'a> = dyn FnMut(&str, u64) -> Result<Vec<u8>, Message> + 'a;

/// Watches a level.
pub trait LevelWatch {
    /// All agents start at this time.
    fn started(&mut self, at: Nanos);

    /// What the agents have done so far; about once a second.
    fn beats(&mut self, seen: &[AgentSeen]);

    /// How urgently to stop: 0 not at all, 1 send no more, 2 give up what is in flight.
    fn stop(&self) -> usize;
}

/// What one agent did in a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPart {
    /// The agent.
    pub name: String,
    /// Its machine.
    pub host: String,
    /// What it says of the level; absent where it was lost.
    pub done: Option<AgentLevelEnd>,
    /// Why it was lost, if it was.
    pub lost: Option<Message>,
    /// How much later than the others' agreed time it started, as far as its clock is known now.
    pub start_error_ns: Option<i64>,
    /// How its clock relates to the coordinator's.
    pub clock: Option<ClockFit>,
    /// Beats received during the level.
    pub beats: u64,
    /// The longest time between two of them.
    pub longest_silence_ns: u64,
}

struct Member {
    hello: Option<Hello>,
    clock: ClockSync,
    heard: Nanos,
    beat: Option<Beat>,
    beats: u64,
    /// Since when its beats say that it does nothing.
    at_rest: Option<Nanos>,
    longest_silence: u64,
    lost: Option<Message>,
    /// It was lost because something could not be sent: why it is gone may still arrive.
    unsent: bool,
    /// When it was told to start, on its own clock.
    told: Option<Nanos>,
}

impl Member {
    fn name(&self, number: usize) -> String {
        self.hello.as_ref().map_or_else(|| (number + 1).to_string(), |hello| hello.name.clone())
    }
}

/// Agents under one coordinator. They are told to leave when it is dropped.
pub struct Fleet {
    hub: Hub,
    clock: Clock,
    members: Vec<Member>,
    /// The least time between the order to start and the start.
    lead: Duration,
    patience: Patience,
    requests: Requests,
    calls: Arc<AtomicU64>,
    ticker: Option<Ticker>,
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").field("agents", &self.members.len()).finish_non_exhaustive()
    }
}

/// Calls all agents once a second, on a thread of its own: the coordinator may be busy.
struct Ticker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// What a member said, or why it is gone.
enum Heard {
    Said(FromAgent, Vec<u8>),
    Gone,
}

impl Fleet {
    /// Waits until an agent of this version is at the end of each line. Orders to start are given at
    /// least `lead` ahead.
    pub fn gather(
        hub: Hub,
        clock: Clock,
        version: &str,
        lead: Duration,
        within: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, FleetError> {
        let wanted = hub.out.len();
        let member = || Member {
            hello: None,
            clock: ClockSync::default(),
            heard: clock.now(),
            beat: None,
            beats: 0,
            at_rest: None,
            longest_silence: 0,
            lost: None,
            unsent: false,
            told: None,
        };
        let members = (0..wanted).map(|_| member()).collect();
        let calls = Arc::new(AtomicU64::new(0));
        let (patience, requests) = (Patience::default(), Requests::default());
        let mut fleet = Self { hub, clock, members, lead, patience, requests, calls, ticker: None };
        let until = Instant::now() + within;
        while fleet.members.iter().any(|member| member.hello.is_none()) {
            if stop() {
                return Err(FleetError::Interrupted);
            }
            if Instant::now() >= until {
                let found = fleet.members.iter().filter(|member| member.hello.is_some()).count();
                return Err(FleetError::Missing { found, wanted, seconds: within.as_secs() });
            }
            fleet.pump(until.min(Instant::now() + GLANCE));
            fleet.all_there()?;
        }
        for (number, member) in fleet.members.iter().enumerate() {
            let Some(hello) = &member.hello else { continue };
            if hello.protocol != PROTOCOL || hello.version != version {
                return Err(FleetError::Version {
                    name: member.name(number),
                    theirs: named(&hello.version, hello.protocol),
                    ours: version.to_owned(),
                });
            }
        }
        fleet.ticker = Some(fleet.tick()?);
        fleet.compare_clocks();
        fleet.all_there()?;
        Ok(fleet)
    }

    /// Gives agents other times than usual.
    pub fn wait(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// How many agents there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The agents, as they introduced themselves.
    pub fn hellos(&self) -> Vec<Hello> {
        self.members.iter().filter_map(|member| member.hello.clone()).collect()
    }

    fn tick(&self) -> Result<Ticker, FleetError> {
        let (lines, clock, calls) = (self.hub.out.clone(), self.clock, Arc::clone(&self.calls));
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let run = move || {
            while !stopped.load(Ordering::Relaxed) {
                lines.iter().for_each(|line| call(line, &calls, &clock));
                thread::park_timeout(BEAT);
            }
        };
        let thread = thread::Builder::new().name("dyno-calls".into()).spawn(run);
        let why = |error: std::io::Error| FleetError::Refused {
            name: "0".to_owned(),
            why: message!("no thread for the calls: {error}", "无法为呼叫创建线程：{error}"),
        };
        Ok(Ticker { stop, thread: Some(thread.map_err(why)?) })
    }

    /// Calls every agent several times, for the shortest round trip.
    fn compare_clocks(&mut self) {
        for _ in 0..SAMPLES {
            for number in 0..self.members.len() {
                if self.members[number].lost.is_none() {
                    call(&self.hub.out[number], &self.calls, &self.clock);
                }
            }
            let until = Instant::now() + BETWEEN_SAMPLES;
            while self.pump(until).is_some() {}
        }
    }

    /// Takes arrivals until one needs an answer: beats are noted, everything else is returned, with the
    /// agent's number. `None` if there was nothing else until then.
    fn pump(&mut self, until: Instant) -> Option<(usize, Heard)> {
        loop {
            let Some((number, arrived)) = self.hub.next(until) else {
                self.find_silent();
                return None;
            };
            let member = self.members.get_mut(number)?;
            let silence = arrived.at.saturating_sub(member.heard);
            member.longest_silence = member.longest_silence.max(silence);
            member.heard = member.heard.max(arrived.at);
            let said = arrived.packet.and_then(|packet| taken(&packet).map_err(Message::of));
            match said {
                Ok((FromAgent::Beat { beat: Some(beat), .. }, _)) if !can_be(&beat) => {
                    member.lost.get_or_insert_with(impossible);
                    return Some((number, Heard::Gone));
                }
                Ok((FromAgent::Done(done), _)) if !can_have_done(&done) => {
                    member.lost.get_or_insert_with(impossible);
                    return Some((number, Heard::Gone));
                }
                Ok((FromAgent::Beat { sent, received, answered, beat, .. }, _)) => {
                    member.clock.add(ClockStamps { sent, received, answered, back: arrived.at });
                    member.beats += u64::from(beat.is_some());
                    match beat.is_some_and(|beat| is_at_work(&beat, member.beat.as_ref())) {
                        true => member.at_rest = None,
                        false => drop(member.at_rest.get_or_insert(arrived.at)),
                    }
                    member.beat = beat.or(member.beat);
                }
                Ok((FromAgent::Hello(hello), _)) => member.hello = Some(hello),
                Ok((FromAgent::Leaving { why }, _)) => {
                    member.lost.get_or_insert(why);
                    return Some((number, Heard::Gone));
                }
                Ok((message, bytes)) => return Some((number, Heard::Said(message, bytes))),
                Err(why) => {
                    if std::mem::take(&mut member.unsent) {
                        member.lost = None;
                    }
                    member.lost.get_or_insert(why);
                    return Some((number, Heard::Gone));
                }
            }
        }
    }

    /// Gives up agents that have not answered for a while. Only asked when nothing is left to read: the
    /// coordinator may have been busy.
    fn find_silent(&mut self) {
        let now = self.clock.now();
        for member in &mut self.members {
            let silent = Duration::from_nanos(now.saturating_sub(member.heard));
            if member.lost.is_none() && self.ticker.is_some() && silent >= LOST_AFTER {
                let why = message!(
                    "nothing was heard from it for {} s",
                    "已有 {} s 没有收到它的消息",
                    LOST_AFTER.as_secs()
                );
                member.lost = Some(why);
            }
        }
    }

    /// Gives up an agent that took longer than it may.
    fn give_up(&mut self, number: usize, took: Duration, may_take: Duration, what: Late) {
        if took >= may_take {
            let time = format_duration(may_take.as_nanos() as u64);
            self.members[number].lost.get_or_insert(what.why(&time));
        }
    }

    fn all_there(&self) -> Result<(), FleetError> {
        let mut lost = self.members.iter().enumerate().filter_map(|(number, member)| {
            let why = member.lost.clone()?;
            Some(FleetError::Lost { name: member.name(number), why })
        });
        lost.next().map_or(Ok(()), Err)
    }

    fn send(&mut self, number: usize, message: &ToAgent, bytes: &[u8]) {
        let sent = self.hub.out.get(number).map(|out| out.send(message, bytes));
        if let (Some(Err(why)), Some(member)) = (sent, self.members.get_mut(number)) {
            member.unsent |= member.lost.is_none();
            member.lost.get_or_insert(why);
        }
    }

    /// Tells each agent what the run is, and gives it the files that it lacks: `piece` is the part of the
    /// file with a hash that begins at a position.
    pub fn set_up(
        &mut self,
        setups: Vec<Setup>,
        piece: &mut RecordPieces<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), FleetError> {
        self.requests =
            setups.first().map_or_else(Requests::default, |setup| Requests::of(&setup.plan));
        let mut waiting: Vec<bool> = vec![true; setups.len()];
        let mut progress = vec![Instant::now(); setups.len()];
        for (number, setup) in setups.into_iter().enumerate() {
            self.send(number, &ToAgent::Setup(Box::new(setup)), &[]);
        }
        while waiting.iter().any(|waits| *waits) {
            if stop() {
                return Err(FleetError::Interrupted);
            }
            self.all_there()?;
            for (number, since) in
                progress.iter().enumerate().filter(|(number, _)| waiting[*number])
            {
                self.give_up(number, since.elapsed(), self.patience.to_settle, Late::Settling);
            }
            let Some((number, heard)) = self.pump(Instant::now() + GLANCE) else { continue };
            progress[number] = Instant::now();
            match heard {
                Heard::Said(FromAgent::Settled, _) => waiting[number] = false,
                Heard::Said(FromAgent::Wants { hash, from }, _) => {
                    let name = self.members[number].name(number);
                    let bytes =
                        piece(&hash, from).map_err(|why| FleetError::Refused { name, why })?;
                    self.send(number, &ToAgent::File { hash, from }, &bytes);
                }
                Heard::Said(FromAgent::Refused { why }, _) => {
                    let name = self.members[number].name(number);
                    return Err(FleetError::Refused { name, why });
                }
                Heard::Said(..) | Heard::Gone => {}
            }
        }
        Ok(())
    }

    /// Fetches the records of an agent's last level; `keep` takes them piece by piece.
    pub fn pull(
        &mut self,
        agent: usize,
        bytes: u64,
        keep: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<(), FleetError> {
        let name = self.members[agent].name(agent);
        let (mut from, mut tries) = (0, 0);
        while from < bytes {
            tries += 1;
            let lost = self.members[agent].lost.clone();
            if lost.is_some() || tries > TRIES {
                let why =
                    lost.unwrap_or_else(|| message!("its records did not arrive", "未收到其记录"));
                return Err(FleetError::Lost { name, why });
            }
            self.send(agent, &ToAgent::Pull { from }, &[]);
            let until = Instant::now() + PIECE_WITHIN;
            while Instant::now() < until && self.members[agent].lost.is_none() {
                let heard = self.pump((Instant::now() + GLANCE).min(until));
                let (at, piece) = match heard {
                    Some((number, Heard::Said(FromAgent::Piece { from: at }, piece)))
                        if number == agent =>
                    {
                        (at, piece)
                    }
                    Some((number, Heard::Said(FromAgent::Refused { why }, _))) => {
                        self.members[number].lost.get_or_insert(why);
                        continue;
                    }
                    _ => continue,
                };
                if at == from && (piece.is_empty() || piece.len() as u64 > bytes - from) {
                    let why = message!(
                        "its records are not the {bytes} bytes that it announced",
                        "其记录与所声明的 {bytes} 字节不符"
                    );
                    self.members[agent].lost.get_or_insert(why);
                } else if at == from {
                    let kept = keep(&piece).map_err(Message::of);
                    kept.map_err(|why| FleetError::Refused { name: name.clone(), why })?;
                    (from, tries) = (from + piece.len() as u64, 0);
                    break;
                }
            }
        }
        Ok(())
    }
}

fn impossible() -> Message {
    message!("it reported inconsistent counts", "它上报的计数自相矛盾")
}

fn call(out: &Out, calls: &AtomicU64, clock: &Clock) {
    let number = calls.fetch_add(1, Ordering::Relaxed);
    // One that is gone is noticed where its packets arrive.
    let _ = out.send(&ToAgent::Call { number, sent: clock.now() }, &[]);
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for number in 0..self.members.len() {
            let why = message!("the run is over", "测试已结束");
            self.send(number, &ToAgent::Leave { why }, &[]);
        }
    }
}
