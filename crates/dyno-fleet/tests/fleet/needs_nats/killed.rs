//! An agent whose process is killed: the bus knows at once that its connection is gone, and the coordinator
//! does not wait until it has been silent for long.

use super::agents::{Agent, Work, hello};
use super::options;
use super::run::Run;
use dyno_fleet::nats::Given;
use dyno_testing::nats::Nats;
use dyno_testing::process::{KillOnDrop, only, this_binary};
use std::io::Read;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

const BUS: &str = "DYNO_TEST_BUS";
const WORK: Work = Work { level: Duration::from_secs(60), bytes: 1_000 };

/// Not a test: an agent in a process of its own, which is this test's own binary. It ends with its parent.
#[test]
fn act() {
    if let Ok(bus) = std::env::var(BUS) {
        let options = options(&Given { bus, ..Given::default() });
        let _agent = Agent::with(&options, hello("victim"), WORK);
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    }
}

fn victim(bus: &str) -> KillOnDrop {
    let mut command = this_binary();
    command.args(only("needs_nats::killed::act")).env(BUS, bus);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    KillOnDrop(command.spawn().unwrap())
}

/// The two users of the guide, each of which may do nothing else.
const USERS: &str = r#"authorization { users: [
    { user: bench, password: one, permissions: {
        publish: ["dyno.lobby", "dyno.agent.*"], subscribe: ["dyno.run.>"] } }
    { user: agent, password: two, permissions: {
        publish: ["dyno.run.>"], subscribe: ["dyno.lobby", "dyno.agent.*"] } } ] }"#;

#[test]
fn the_others_stop_within_five_seconds() {
    let server = Nats::with(USERS);
    let at = |user: &str| format!("nats://{user}@127.0.0.1:{}", server.port());
    let entry = |user: &str| options(&Given { bus: at(user), ..Given::default() });
    let others = Agent::several(&entry("agent:two"), 2, WORK);
    let victim = victim(&at("agent:two"));
    let mut run = Run::begin(&entry("bench:one"), "run", 3);
    let sends = || others.iter().all(|agent| agent.last_sent().is_some());
    let (parts, killed) = thread::scope(|scope| {
        let level = scope.spawn(|| run.level(1).unwrap());
        while !sends() {
            thread::sleep(Duration::from_millis(5));
        }
        drop(victim);
        let killed = Instant::now();
        (level.join().unwrap(), killed)
    });
    let lost = parts.iter().filter_map(|part| part.lost.as_ref());
    let lost: Vec<String> = lost.map(ToString::to_string).collect();
    assert_eq!(lost, ["its connection to the bus has ended"], "{parts:?}");
    for agent in &others {
        let after = agent.last_sent().unwrap().saturating_duration_since(killed);
        println!("sent until {after:?} after the kill");
        assert!(after < Duration::from_secs(5), "sent {after:?} after the kill");
    }
}
