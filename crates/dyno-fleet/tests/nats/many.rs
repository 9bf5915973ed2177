//! Two hundred agents on one machine: what the bus, the coordinator and the agents cost while they beat.

use crate::agents::{Agent, Work};
use crate::run::Run;
use crate::server::Server;
use std::collections::BTreeMap;
use std::fs;
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

/// CPU seconds by the names of this process's threads, and of the bus.
fn spent(server: &Server) -> BTreeMap<String, f64> {
    let mut spent = threads("self");
    spent.insert("bus".to_owned(), threads(&server.process().to_string()).values().sum());
    spent
}

#[test]
fn two_hundred_agents_beat() {
    let server = Server::start("");
    let options = server.options();
    let agents = Agent::several(&options, AGENTS, Work { level: LEVEL, bytes: 1_000 });
    let begun = Instant::now();
    let mut run = Run::begin(&options, "run", AGENTS);
    println!("{AGENTS} agents engaged, clocks compared: {:?}", begun.elapsed());
    let (before, begun) = (spent(&server), Instant::now());
    let parts = run.level(1).unwrap();
    let (took, after) = (begun.elapsed().as_secs_f64(), spent(&server));
    let share = |name: &str| {
        let of = |spent: &BTreeMap<String, f64>| spent.get(name).copied().unwrap_or(0.0);
        100.0 * (of(&after) - of(&before)) / took
    };
    println!("% of a core over {took:.1} s of a level, both comparisons of clocks included:");
    for name in after.keys() {
        println!("  {name:16} {:8.3}", share(name));
    }
    let agents_share = (share("dyno-bus") + share("dyno-post")) / AGENTS as f64;
    println!("  an agent         {agents_share:8.3}");
    let beats = parts.iter().map(|part| part.beats).min().unwrap();
    let silence = parts.iter().map(|part| part.longest_silence_ns).max().unwrap();
    let round_trip = parts.iter().filter_map(|part| Some(part.clock?.round_trip_ns)).max().unwrap();
    println!(
        "least beats {beats}, longest silence {} ms, longest of the shortest round trips {} us",
        silence / 1_000_000,
        round_trip / 1_000
    );
    assert!(parts.iter().all(|part| part.done.is_some() && part.lost.is_none()));
    assert!(beats >= 5, "{beats}");
    drop(run);
    run_again(&options, agents);
}

/// Idle agents cost nothing to speak of, and are all still there.
fn run_again(options: &dyno_fleet::nats::Options, agents: Vec<Agent>) {
    agents.iter().for_each(Agent::is_free);
    assert_eq!(Run::begin(options, "next", AGENTS).names().len(), AGENTS);
}
