//! Simulated agents: they wait in the lobby, follow a coordinator through levels, and are back in the lobby.

use dyno_fleet::nats::{BusError, BusOptions, Engagement, Lobby, Notice};
use dyno_fleet::{AgentLevelEnd, AgentOrder, FromAgent, Hello, PIECE, PROTOCOL, Post};
use dyno_model::Message;
use dyno_model::frame::Ending;
use dyno_net::Clock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub(crate) const VERSION: &str = "0.1.0";

/// What all agents of a test do.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    /// How long a level takes.
    pub(crate) level: Duration,
    /// Bytes of its records.
    pub(crate) bytes: usize,
}

impl Default for Work {
    fn default() -> Self {
        Self { level: Duration::from_millis(300), bytes: 3 * PIECE / 2 }
    }
}

/// An agent on a thread.
pub(crate) struct Agent {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    pub(crate) notices: Arc<Mutex<Vec<Notice>>>,
    pub(crate) error: Arc<Mutex<Option<BusError>>>,
    /// Why the last engagement was over.
    pub(crate) left: Arc<Mutex<Option<Message>>>,
    last_sent: Arc<Mutex<Option<Instant>>>,
}

/// The records of an agent: different from those of others.
pub(crate) fn records(name: &str, bytes: usize) -> Vec<u8> {
    let start = name.bytes().map(u32::from).sum::<u32>();
    (0..bytes as u32)
        .map(|at| (at.wrapping_mul(2_654_435_761).wrapping_add(start) >> 13) as u8)
        .collect()
}

pub(crate) fn hello(name: &str) -> Hello {
    Hello {
        protocol: PROTOCOL,
        version: VERSION.to_owned(),
        name: name.to_owned(),
        host: "here".to_owned(),
        process: std::process::id(),
        cpus: 2,
    }
}

impl Agent {
    pub(crate) fn start(options: &BusOptions, name: &str) -> Self {
        Self::with(options, hello(name), Work::default())
    }

    pub(crate) fn with(options: &BusOptions, hello: Hello, work: Work) -> Self {
        let (ended, notices, error, left, last_sent) = Default::default();
        let mut agent = Self { ended, thread: None, notices, error, left, last_sent };
        let notices = Arc::clone(&agent.notices);
        let tell = move |notice| notices.lock().unwrap().push(notice);
        let clock = Clock::start();
        let lobby = Lobby::join(options, hello.clone(), clock, tell).unwrap();
        let ended = Arc::clone(&agent.ended);
        let (error, left) = (Arc::clone(&agent.error), Arc::clone(&agent.left));
        let last_sent = Arc::clone(&agent.last_sent);
        let run = move || {
            while !ended.load(Ordering::Relaxed) {
                match lobby.next(Duration::from_millis(50)) {
                    Ok(Some(engagement)) => {
                        let Engagement { line, .. } = engagement;
                        let post = Post::take(line, clock).unwrap();
                        let why = serve(&post, &hello, clock, work, &ended, &last_sent);
                        // Before it is free again: that is what tests wait for.
                        *left.lock().unwrap() = Some(why);
                    }
                    Ok(None) => {}
                    Err(why) => {
                        *error.lock().unwrap() = Some(why);
                        return;
                    }
                }
            }
        };
        agent.thread = Some(thread::spawn(run));
        agent
    }

    /// Several agents, `a0`, `a1` and so on, which are on the bus.
    pub(crate) fn several(options: &BusOptions, count: usize, work: Work) -> Vec<Self> {
        let agents: Vec<Self> = (0..count)
            .map(|number| Self::with(options, hello(&format!("a{number}")), work))
            .collect();
        agents.iter().for_each(Self::is_free);
        agents
    }

    pub(crate) fn waits_for(&self, what: &str, found: impl Fn(&[Notice]) -> bool) {
        let until = Instant::now() + Duration::from_secs(30);
        while !found(&self.notices.lock().unwrap()) {
            let seen = self.notices.lock().unwrap();
            assert!(Instant::now() < until, "no {what}: {seen:?}, {:?}", self.error);
            drop(seen);
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn is_free(&self) {
        self.waits_for("free agent", |notices| {
            notices.iter().rfind(|notice| matches!(notice, Notice::Free | Notice::Engaged { .. }))
                == Some(&Notice::Free)
        });
    }

    /// Ends, as a process does that is told to.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// When it last sent something to the target.
    pub(crate) fn last_sent(&self) -> Option<Instant> {
        *self.last_sent.lock().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        if !thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

/// Follows a coordinator; why that ended.
fn serve(
    post: &Post,
    hello: &Hello,
    clock: Clock,
    work: Work,
    ended: &AtomicBool,
    last_sent: &Mutex<Option<Instant>>,
) -> Message {
    let records = records(&hello.name, work.bytes);
    let say = |message: FromAgent, bytes: &[u8]| drop(post.say(&message, bytes));
    say(FromAgent::Hello(hello.clone()), &[]);
    let done = |level, ending| {
        FromAgent::Done(Box::new(AgentLevelEnd {
            level,
            ending,
            start_error_ns: 0,
            taken: 0,
            failed: 0,
            lost_target: None,
            trouble: None,
            told: serde_json::Value::Null,
            bytes: work.bytes as u64,
        }))
    };
    let mut over = None;
    while !ended.load(Ordering::Relaxed) {
        match post.next_within(Duration::from_millis(50)) {
            Some(AgentOrder::Prepare(prepare)) => {
                say(FromAgent::Ready { level: prepare.level }, &[])
            }
            Some(AgentOrder::Start { level, at }) => {
                let stop = Arc::new(AtomicUsize::new(0));
                post.counters().begin(Arc::clone(&stop));
                thread::sleep(Duration::from_nanos(at.saturating_sub(clock.now())));
                let until = Instant::now() + work.level;
                while Instant::now() < until
                    && stop.load(Ordering::SeqCst) == 0
                    && !ended.load(Ordering::Relaxed)
                {
                    *last_sent.lock().unwrap() = Some(Instant::now());
                    post.counters().sent.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(10));
                }
                post.counters().end();
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let stopped = stop.load(Ordering::SeqCst) > 0;
                say(done(level, if stopped { Ending::Interrupted } else { Ending::Duration }), &[]);
                over = Some(level);
            }
            Some(AgentOrder::Stop { level }) if over != Some(level) => {
                say(done(level, Ending::Interrupted), &[]);
                over = Some(level);
            }
            Some(AgentOrder::Pull { from }) => {
                let rest = records.get(from as usize..).unwrap_or_default();
                say(FromAgent::Piece { from }, &rest[..rest.len().min(PIECE)]);
            }
            Some(AgentOrder::Leave { why, .. }) => return why,
            Some(_) | None => {}
        }
    }
    Message::quoted("the test is over")
}
