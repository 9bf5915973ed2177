//! Two hundred agents on one machine: what the bus, the coordinator and the agents cost while they beat.

use super::agents::{Agent, Work};
use super::open;
use super::run::Run;
use dyno_fleet::LevelWatch;
use dyno_model::Nanos;
use dyno_model::fleet::AgentSeen;
use dyno_testing::nats::Nats;
use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

const AGENTS: usize = 200;
const LEVEL: Duration = Duration::from_secs(10);

/// CPU seconds of a process by the names of its threads.
fn threads(process: &str) -> BTreeMap<String, f64> {
    let mut spent = BTreeMap::new();
    for task in fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten() {
        // Threads may end meanwhile.
        let read = |file: &str| fs::read_to_string(task.path().join(file)).unwrap_or_default();
        let nanoseconds =
            read("schedstat").split(' ').next().and_then(|text| text.parse::<f64>().ok());
        if let Some(nanoseconds) = nanoseconds {
            *spent.entry(read("comm").trim().to_owned()).or_default() += nanoseconds / 1e9;
        }
    }
    spent
}

/// CPU seconds of this thread, which is the coordinator's.
fn own() -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// CPU seconds at a moment: by the names of this process's threads, of the bus, and of the coordinator's
/// thread before and after the looking, which costs more than what is looked at.
struct Spent {
    at: Instant,
    threads: BTreeMap<String, f64>,
    own: [f64; 2],
}

impl Spent {
    fn now(server: &Nats) -> Self {
        let (at, before) = (Instant::now(), own());
        let mut threads = self::threads("self");
        threads
            .insert("bus".to_owned(), self::threads(&server.process().to_string()).values().sum());
        threads.retain(|name, _| name == "bus" || name.starts_with("dyno-"));
        Self { at, threads, own: [before, own()] }
    }
}

/// What was spent while a level was running, without its preparation and the comparison of clocks.
struct Beating<'a> {
    server: &'a Nats,
    begun: Option<Instant>,
    samples: Vec<Spent>,
}

impl LevelWatch for Beating<'_> {
    fn started(&mut self, _: Nanos) {
        self.begun = Some(Instant::now());
    }

    fn beats(&mut self, _: &[AgentSeen]) {
        let Some(begun) = self.begun else { return };
        let due = [LEVEL / 5, LEVEL * 4 / 5];
        if due.get(self.samples.len()).is_some_and(|due| begun.elapsed() >= *due) {
            self.samples.push(Spent::now(self.server));
        }
    }

    fn stop(&self) -> usize {
        0
    }
}

/// Prints shares of a core between two moments, and returns an agent's.
fn shares(what: &str, from: &Spent, to: &Spent) -> f64 {
    let took = (to.at - from.at).as_secs_f64();
    let share = |name: &str| {
        let of = |spent: &Spent| spent.threads.get(name).copied().unwrap_or(0.0);
        100.0 * (of(to) - of(from)) / took
    };
    let own = 100.0 * (to.own[0] - from.own[1]) / took;
    let agent = (share("dyno-bus") + share("dyno-post")) / AGENTS as f64;
    println!("{what}, % of a core over {took:.1} s:");
    println!("  bus          {:8.3}", share("bus"));
    println!("  coordinator  {:8.3}", own + share("dyno-hub") + share("dyno-calls"));
    println!(
        "    its thread {own:8.3}, calls {:.3}, bus thread {:.3}",
        share("dyno-calls"),
        share("dyno-hub")
    );
    println!("  an agent     {agent:8.4}");
    agent
}

#[test]
fn two_hundred_agents_beat() {
    let server = Nats::start();
    let options = open(&server);
    let agents = Agent::several(&options, AGENTS, Work { level: LEVEL, bytes: 1_000 });
    let now = || Spent::now(&server);
    let waiting = now();
    thread::sleep(Duration::from_secs(3));
    shares("in the lobby", &waiting, &now());
    let begun = Instant::now();
    let mut run = Run::begin(&options, "run", AGENTS);
    println!("{AGENTS} agents engaged, clocks compared: {:?}", begun.elapsed());
    let idle = now();
    thread::sleep(Duration::from_secs(3));
    shares("between levels", &idle, &now());
    let mut beating = Beating { server: &server, begun: None, samples: Vec::new() };
    let parts = run.watched(1, &mut beating).unwrap();
    let [first, last] = &beating.samples[..] else { panic!("two looks during the level") };
    let agent = shares("in a level", first, last);
    let beats = parts.iter().map(|part| part.beats).min().unwrap();
    let silence = parts.iter().map(|part| part.longest_silence_ns).max().unwrap();
    let round_trip = parts.iter().filter_map(|part| Some(part.clock?.round_trip_ns)).max().unwrap();
    println!("least beats of an agent {beats}, longest silence {} ms", silence / 1_000_000);
    println!("largest of the agents' shortest round trips {} us", round_trip / 1_000);
    assert!(parts.iter().all(|part| part.done.is_some() && part.lost.is_none()));
    assert!(beats >= 5, "{beats}");
    // Far above what it is, and far below what would matter.
    assert!(agent < 1.0, "{agent} % of a core for each agent");
    drop(run);
    agents.iter().for_each(Agent::is_free);
    assert_eq!(Run::begin(&options, "next", AGENTS).names().len(), AGENTS);
}
