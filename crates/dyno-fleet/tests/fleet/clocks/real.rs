//! Both sides of the protocol over real sockets, with a network between them. Both clocks are this
//! machine's, so the true offset is known; the agent's starts elsewhere, and its stamps are made to drift.

use crate::clocks::proxy::{self, Way, connection};
use crate::clocks::trial::Judged;
use crate::clocks::world::Rng;
use dyno_fleet::{
    AgentLevelEnd, AgentLine, AgentOrder, Arrived, Fleet, FromAgent, Hello, Hub, LevelWatch,
    PROTOCOL, Post, PrepareLevel, decode, encode, inbox,
};
use dyno_model::fleet::AgentSeen;
use dyno_model::frame::Ending;
use dyno_model::{Message, Nanos};
use dyno_net::Clock;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A network: its name, and what it does to calls and to their answers.
pub(crate) const PATHS: [(&str, Way, Way); 8] = [
    ("loopback, through the proxy", way(0.0, 0.0), way(0.0, 0.0)),
    ("0.5 ms each way", way(0.5, 0.0), way(0.5, 0.0)),
    ("0.5 ms, jitter 0.5 ms", way(0.5, 0.5), way(0.5, 0.5)),
    ("asymmetric, 5 : 0.5 ms", way(5.0, 0.5), way(0.5, 0.05)),
    ("asymmetric, 0.5 : 5 ms", way(0.5, 0.05), way(5.0, 0.5)),
    ("5 % lost, sent again after 40 ms", lossy(0.5, 0.1), lossy(0.5, 0.1)),
    ("queueing, 10 ms on average there", way(0.2, 10.0), way(0.2, 0.2)),
    ("distant, 20 ms, jitter 2 ms", way(20.0, 2.0), way(20.0, 2.0)),
];

const fn way(base: f64, jitter: f64) -> Way {
    Way { base, jitter, lost: 0.0, again: 0.0 }
}

const fn lossy(base: f64, jitter: f64) -> Way {
    Way { base, jitter, lost: 0.05, again: 40.0 }
}

const LEVELS: u32 = 5;

/// So many fits over each of the networks, in fleets of a few levels.
pub(crate) fn judged(fits: u64, seed: u64) -> Vec<Vec<Judged>> {
    let fleets = fits.div_ceil(u64::from(LEVELS));
    let one = move |path: usize| {
        let (_, there, back) = PATHS[path];
        let mut seeds = Rng::new(seed + path as u64);
        (0..fleets).flat_map(|_| levels((there, back), seeds.next())).collect::<Vec<Judged>>()
    };
    let threads: Vec<_> = (0..PATHS.len()).map(|path| thread::spawn(move || one(path))).collect();
    threads.into_iter().map(|thread| thread.join().expect("all levels")).collect()
}

/// The agent's clock: it starts elsewhere and drifts.
#[derive(Clone, Copy)]
struct Drifting {
    clock: Clock,
    from: Nanos,
    ppm: i64,
}

impl Drifting {
    /// What it shows when the undisturbed clock shows a time.
    fn shown(&self, time: Nanos) -> Nanos {
        let drifted = (time - self.from) as i64 * self.ppm / 1_000_000;
        time.saturating_add_signed(drifted)
    }

    fn now(&self) -> Nanos {
        self.shown(self.clock.now())
    }
}

/// Some levels of a fleet of one agent over a network: how far the fit was off at the end of each.
fn levels((there, back): (Way, Way), seed: u64) -> Vec<Judged> {
    let mut rng = Rng::new(seed);
    let from = rng.next() % 100_000_000_000_000;
    let clock = Clock::start();
    let theirs = Drifting {
        clock: Clock::resume(u64::MAX, from),
        from,
        ppm: rng.one_of(&[0, 20, -20, 100, -100]),
    };
    let (near, far) = connection(there, back, rng.next()).expect("sockets");
    let closed = [near.try_clone().expect("a socket"), far.try_clone().expect("a socket")];
    let agent = thread::spawn(move || work(far, theirs));

    let (intake, inbox) = inbox(1);
    let receiving = near.try_clone().expect("a socket");
    let reader = thread::spawn(move || receive(receiving, clock, |it| intake.put(0, it)));
    let hub = Hub::new(vec![sending(near, None)], inbox);
    let within = Duration::from_secs(20);
    let mut fleet = Fleet::gather(hub, clock, "test", Duration::from_millis(5), within, &|| false)
        .expect("the agent is there");
    let judged = (0..LEVELS).map(|level| {
        let parts = fleet.level(&prepare(level), &mut Unwatched).expect("a level");
        let fit = parts[0].clock.expect("clocks were compared");
        // Interrupted readings would be errors of the test.
        let readings = (0..5).map(|_| (clock.now(), theirs.now(), clock.now()));
        let (before, at, after) = readings.min_by_key(|it| it.2 - it.0).expect("some");
        let ours = fit.to_coordinator(at) as f64;
        let error = (before as f64 - ours).max(ours - after as f64).max(0.0);
        Judged { error, bound: fit.bound_ns as f64 }
    });
    let judged = judged.collect();
    drop(fleet);
    agent.join().expect("the agent ends");
    for socket in closed {
        let _ = socket.shutdown(Shutdown::Both);
    }
    reader.join().expect("the reader ends");
    judged
}

/// An agent whose levels last for some milliseconds.
fn work(socket: TcpStream, clock: Drifting) {
    let (arrivals, inbox) = mpsc::channel();
    let receiving = socket.try_clone().expect("a socket");
    thread::spawn(move || receive(receiving, clock.clock, |it| arrivals.send(it).is_ok()));
    let line = AgentLine::new(sending(socket, Some(clock)), inbox);
    let post = Post::take(line, clock.clock).expect("a thread");
    let say = |message: FromAgent| drop(post.say(&message, &[]));
    say(FromAgent::Hello(Hello {
        protocol: PROTOCOL,
        version: "test".to_owned(),
        name: "1".to_owned(),
        host: "here".to_owned(),
        process: 1,
        cpus: 1,
    }));
    loop {
        match post.next() {
            AgentOrder::Prepare(prepare) => say(FromAgent::Ready { level: prepare.level }),
            AgentOrder::Start { level, at } => {
                let early = at.saturating_sub(clock.now());
                thread::sleep(Duration::from_nanos(early) + Duration::from_millis(20));
                say(FromAgent::Done(Box::new(done(level))));
            }
            AgentOrder::Leave { .. } => return,
            _ => {}
        }
    }
}

fn sending(
    mut socket: TcpStream,
    clock: Option<Drifting>,
) -> Box<dyn FnMut(Vec<u8>) -> Result<(), Message> + Send> {
    Box::new(move |packet| {
        let packet = match clock {
            Some(clock) => drifted(packet, clock),
            None => packet,
        };
        proxy::write(&mut socket, &packet).map_err(Message::quoted)
    })
}

/// A packet of the agent with its stamps as the drifting clock shows them.
fn drifted(packet: Vec<u8>, clock: Drifting) -> Vec<u8> {
    match decode::<FromAgent>(&packet) {
        Ok((FromAgent::Beat { number, sent, received, answered, beat }, bytes)) => {
            let (received, answered) = (clock.shown(received), clock.shown(answered));
            let beat = FromAgent::Beat { number, sent, received, answered, beat };
            encode(&beat, bytes).expect("a small packet")
        }
        _ => packet,
    }
}

fn receive(mut socket: TcpStream, clock: Clock, report: impl Fn(Arrived) -> bool) {
    loop {
        let packet = proxy::read(&mut socket).map_err(Message::quoted);
        let last = packet.is_err();
        if !report(Arrived { at: clock.now(), packet }) || last {
            return;
        }
    }
}

struct Unwatched;

impl LevelWatch for Unwatched {
    fn started(&mut self, _: Nanos) {}

    fn beats(&mut self, _: &[AgentSeen]) {}

    fn stop(&self) -> usize {
        0
    }
}

fn prepare(level: u32) -> PrepareLevel {
    let plan = serde_json::json!({
        "label": "1", "load": { "kind": "concurrency", "concurrency": 1 }, "requests": 1,
        "duration_ns": null, "warmup": null, "drain_ns": 0,
        "input_tokens": "1",
        "output_tokens": "1",
    });
    let plan = serde_json::from_value(plan).expect("a plan");
    PrepareLevel { level, plan, taken: 0, failures: None }
}

fn done(level: u32) -> AgentLevelEnd {
    AgentLevelEnd {
        level,
        ending: Ending::Requests,
        start_error_ns: 0,
        taken: 0,
        failed: 0,
        lost_target: None,
        trouble: None,
        told: serde_json::Value::Null,
        bytes: 0,
    }
}
