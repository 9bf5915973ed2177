//! An agent's side of the protocol: a thread that answers the coordinator's calls at once, whatever the
//! agent is doing, passes orders on, and stops the agent when nothing is heard.

use crate::message::{FromAgent, PrepareLevel, Setup, ToAgent};
use crate::port::{AgentLine, Out, closed, taken};
use dyno_model::fleet::Beat;
use dyno_model::{Message, Nanos, message};
use dyno_net::Clock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TrySendError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// An agent that has heard nothing for so long stops sending.
pub const SILENCE: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(250);
/// Times kept for the medians of a beat.
const TIMES: usize = 4_096;
/// A coordinator waits for what its orders give: at most a few are not carried out yet.
const MOST_ORDERS: usize = 64;

/// What an agent is to do next.
#[derive(Debug, PartialEq)]
pub enum AgentOrder {
    /// What to do in all levels.
    Setup(Box<Setup>),
    /// A piece of a file.
    File {
        /// Its SHA-256.
        hash: String,
        /// Where the piece begins.
        from: u64,
        /// The piece.
        bytes: Vec<u8>,
    },
    /// Prepare a level.
    Prepare(Box<PrepareLevel>),
    /// Start it at a time on the agent's clock.
    Start {
        /// Its number.
        level: u32,
        /// When.
        at: Nanos,
    },
    /// The level is not to be started.
    Stop {
        /// Its number.
        level: u32,
    },
    /// Send a piece of the records.
    Pull {
        /// Where it begins.
        from: u64,
    },
    /// The run is over for this agent: why, and whether the coordinator said so.
    Leave {
        /// For people.
        why: Message,
        /// The coordinator is there, and said so.
        told: bool,
    },
}

/// What an agent has done in a level so far. The measuring thread counts, the answers to calls tell.
#[derive(Debug, Default)]
pub struct Counters {
    /// Requests sent that have ended.
    pub sent: AtomicU64,
    /// Requests completed.
    pub completed: AtomicU64,
    /// Requests that failed.
    pub failed: AtomicU64,
    /// Requests that the server refused.
    pub shed: AtomicU64,
    /// Requests in flight.
    pub in_flight: AtomicU64,
    /// Output tokens received in the run.
    pub tokens: AtomicU64,
    /// How late the measuring thread was at most since the last beat.
    pub lag_ns: AtomicU64,
    /// Output tokens of responses that failed in this level.
    pub wasted: AtomicU64,
    /// Of the tokens of the run, the ones of earlier levels.
    tokens_before: AtomicU64,
    running: AtomicUsize,
    times: Mutex<(Vec<u64>, Vec<u64>)>,
    stop: Mutex<Option<Arc<AtomicUsize>>>,
}

impl Counters {
    /// What is done before the first level; `stop` is raised when it must stop.
    pub fn prepare(&self, stop: Arc<AtomicUsize>) {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
    }

    /// A level begins; `stop` is raised when it must stop.
    pub fn begin(&self, stop: Arc<AtomicUsize>) {
        let Self { sent, completed, failed, shed, in_flight, wasted, .. } = self;
        for counter in [sent, completed, failed, shed, in_flight, wasted] {
            counter.store(0, Ordering::Relaxed);
        }
        self.tokens_before.store(self.tokens.load(Ordering::Relaxed), Ordering::Relaxed);
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
        self.running.store(1, Ordering::Relaxed);
    }

    /// The level is over.
    pub fn end(&self) {
        self.running.store(0, Ordering::Relaxed);
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A request took so long to its first output, where it has one, and in all. Never waits.
    pub fn took(&self, ttft: Option<u64>, latency: u64) {
        if let Ok(mut times) = self.times.try_lock()
            && times.1.len() < TIMES
        {
            times.0.extend(ttft);
            times.1.push(latency);
        }
    }

    fn beat(&self) -> Option<Beat> {
        if self.running.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let in_flight = get(&self.in_flight);
        let times = std::mem::take(&mut *self.times.lock().unwrap_or_else(PoisonError::into_inner));
        Some(Beat {
            sent: get(&self.sent) + in_flight,
            completed: get(&self.completed),
            failed: get(&self.failed),
            shed: get(&self.shed),
            in_flight,
            tokens: get(&self.tokens).saturating_sub(get(&self.tokens_before)),
            wasted: get(&self.wasted),
            lag_ns: self.lag_ns.swap(0, Ordering::Relaxed),
            ttft_ns: median(times.0),
            latency_ns: median(times.1),
        })
    }

    fn raise(&self, times: usize) {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stop) = &*stop {
            stop.fetch_add(times, Ordering::SeqCst);
        }
    }
}

fn median(mut times: Vec<u64>) -> Option<u64> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// An agent at its post.
#[derive(Debug)]
pub struct Post {
    out: Out,
    orders: Receiver<AgentOrder>,
    counters: Arc<Counters>,
    /// Why the run is over, and whether the coordinator said so, if it is.
    left: Arc<OnceLock<(Message, bool)>>,
}

impl std::fmt::Debug for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Out")
    }
}

impl Post {
    /// Takes up the post: from now on calls are answered.
    pub fn take(line: AgentLine, clock: Clock) -> std::io::Result<Self> {
        Self::take_until(line, clock, || false)
    }

    /// The same, until the coordinator ends the run or this agent's user ends it.
    pub fn take_until(
        line: AgentLine,
        clock: Clock,
        ends: impl Fn() -> bool + Send + 'static,
    ) -> std::io::Result<Self> {
        let (pass_on, orders) = mpsc::sync_channel(MOST_ORDERS);
        let counters = Arc::new(Counters::default());
        let out = line.out.clone();
        let watched = Arc::clone(&counters);
        let left = Arc::new(OnceLock::new());
        let leaves = Arc::clone(&left);
        thread::Builder::new().name("dyno-post".into()).spawn(move || {
            let keep = |order| match pass_on.try_send(order) {
                Ok(()) => Ok(()),
                Err(TrySendError::Full(_)) => Err(floods()),
                Err(TrySendError::Disconnected(_)) => {
                    Err(message!("the agent has ended", "压测端已退出"))
                }
            };
            let (why, told) = stand(&line, clock, &watched, keep, ends);
            // Known before anything stops because of it.
            let _ = leaves.set((why.clone(), told));
            // Nobody will take what is in flight.
            watched.raise(2);
            let _ = pass_on.send(AgentOrder::Leave { why, told });
        })?;
        Ok(Self { out, orders, counters, left })
    }

    /// What is counted for the coordinator.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Says something to the coordinator; the reason if it is gone.
    pub fn say(&self, message: &FromAgent, bytes: &[u8]) -> Result<(), Message> {
        self.out.send(message, bytes)
    }

    /// The next order.
    pub fn next(&self) -> AgentOrder {
        self.orders.recv().unwrap_or_else(|_| self.leave())
    }

    /// The next order within a time.
    pub fn next_within(&self, time: Duration) -> Option<AgentOrder> {
        match self.orders.recv_timeout(time) {
            Ok(order) => Some(order),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(self.leave()),
        }
    }

    /// Why the run is over, and whether the coordinator said so, if it is.
    pub fn left(&self) -> Option<(Message, bool)> {
        self.left.get().cloned()
    }

    /// The run stays over after the last order, which may be taken by who waits for another.
    fn leave(&self) -> AgentOrder {
        let (why, told) = self.left().unwrap_or_else(|| (closed(), false));
        AgentOrder::Leave { why, told }
    }
}

/// Answers calls and passes orders on until the run is over: why, and whether the coordinator said so.
fn stand(
    line: &AgentLine,
    clock: Clock,
    counters: &Counters,
    pass_on: impl Fn(AgentOrder) -> Result<(), Message>,
    ends: impl Fn() -> bool,
) -> (Message, bool) {
    // Not by the clock: one that was stopped itself has not listened, and what was said meanwhile waits.
    let mut silent = Duration::ZERO;
    let mut met = false;
    loop {
        if ends() {
            let why = told_to_end();
            let _ = line.out.send(&FromAgent::Leaving { why: why.clone() }, &[]);
            return (why, false);
        }
        let arrived = match line.next(TICK) {
            Ok(Some(arrived)) => arrived,
            Ok(None) => {
                silent += TICK;
                if met && silent >= SILENCE {
                    let why = message!(
                        "nothing was heard from the coordinator for {} s",
                        "{} 秒内未收到协调端的消息",
                        SILENCE.as_secs()
                    );
                    return (why, false);
                }
                continue;
            }
            Err(why) => return (why, false),
        };
        silent = Duration::ZERO;
        let packet = match arrived.packet {
            Ok(packet) => packet,
            Err(why) => return (why, false),
        };
        let (message, bytes) = match taken(&packet) {
            Ok(taken) => taken,
            Err(error) => {
                let why = Message::of(error);
                let _ = line.out.send(&FromAgent::Refused { why: why.clone() }, &[]);
                return (why, false);
            }
        };
        met = true;
        let order = match message {
            ToAgent::Call { number, sent } => {
                let (received, beat) = (arrived.at, counters.beat());
                let answered = clock.now();
                let beat = FromAgent::Beat { number, sent, received, answered, beat };
                if let Err(why) = line.out.send(&beat, &[]) {
                    return (why, false);
                }
                continue;
            }
            ToAgent::Setup(setup) => AgentOrder::Setup(setup),
            ToAgent::File { hash, from } => AgentOrder::File { hash, from, bytes },
            ToAgent::Prepare(prepare) => AgentOrder::Prepare(prepare),
            ToAgent::Start { level, at } => AgentOrder::Start { level, at },
            ToAgent::Stop { level, now } => {
                counters.raise(if now { 2 } else { 1 });
                AgentOrder::Stop { level }
            }
            ToAgent::Pull { from } => AgentOrder::Pull { from },
            ToAgent::Leave { why } => return (why, true),
        };
        if let Err(why) = pass_on(order) {
            return (why, false);
        }
    }
}

/// Why a coordinator is left that does not wait for what its orders give.
fn floods() -> Message {
    message!(
        "the coordinator gives more orders than can be carried out",
        "协调端下达的指令超出可执行的数量"
    )
}

/// Why an agent leaves that its user ends.
fn told_to_end() -> Message {
    message!("it was told to end by a signal", "它收到了结束信号")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::encode;
    use crate::port::Arrived;

    #[test]
    fn why_a_run_is_over_stays_known() {
        let (arrivals, inbox) = mpsc::channel();
        let post = Post::take(AgentLine::new(Box::new(|_| Ok(())), inbox), Clock::start()).unwrap();
        let leave = ToAgent::Leave { why: Message::quoted("enough") };
        arrivals.send(Arrived { at: 0, packet: Ok(encode(&leave, &[]).unwrap()) }).unwrap();
        let left = AgentOrder::Leave { why: Message::quoted("enough"), told: true };
        // Somebody who waits for a start or a piece of a file takes it.
        while post.next_within(Duration::from_secs(1)).is_none_or(|order| order != left) {}
        assert_eq!(post.next(), left);
        assert_eq!(post.next_within(Duration::ZERO).unwrap(), left);
        assert_eq!(post.left(), Some((Message::quoted("enough"), true)));
    }

    #[test]
    fn an_agent_that_is_told_to_end_stops_and_says_so() {
        let (_arrivals, inbox) = mpsc::channel();
        let (said, heard) = mpsc::channel();
        let line = AgentLine::new(
            Box::new(move |packet| said.send(packet).map_err(Message::quoted)),
            inbox,
        );
        let end = Arc::new(AtomicUsize::new(0));
        let told = Arc::clone(&end);
        let ends = move || told.load(Ordering::SeqCst) > 0;
        let post = Post::take_until(line, Clock::start(), ends).unwrap();
        let stopped = Arc::new(AtomicUsize::new(0));
        post.counters().begin(Arc::clone(&stopped));
        assert_eq!(post.next_within(Duration::ZERO), None);
        end.store(1, Ordering::SeqCst);
        assert_eq!(post.next(), AgentOrder::Leave { why: told_to_end(), told: false });
        assert_eq!(stopped.load(Ordering::SeqCst), 2, "nobody will take what is in flight");
        let packet = heard.recv().unwrap();
        let (last, _): (FromAgent, _) = taken(&packet).unwrap();
        assert_eq!(last, FromAgent::Leaving { why: told_to_end() });
    }

    #[test]
    fn a_coordinator_that_floods_the_agent_is_left() {
        let (arrivals, inbox) = mpsc::channel();
        let post = Post::take(AgentLine::new(Box::new(|_| Ok(())), inbox), Clock::start()).unwrap();
        let stopped = Arc::new(AtomicUsize::new(0));
        post.counters().begin(Arc::clone(&stopped));
        let packet = encode(&ToAgent::Pull { from: 0 }, &[]).unwrap();
        for _ in 0..10 * MOST_ORDERS {
            // Nobody takes it any more once the agent has left.
            let _ = arrivals.send(Arrived { at: 0, packet: Ok(packet.clone()) });
        }
        while stopped.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        let orders = std::iter::from_fn(|| match post.next() {
            AgentOrder::Leave { why, told } => {
                assert_eq!((why, told), (floods(), false));
                None
            }
            order => Some(order),
        });
        assert_eq!(orders.count(), MOST_ORDERS);
    }
}
