//! An agent whose process is killed: the bus knows at once that its connection is gone, and the coordinator
//! does not wait until it has been silent for long.

use crate::agents::{Agent, Work, hello};
use crate::run::Run;
use crate::server::{Server, options};
use dyno_fleet::nats::Given;
use std::io::Read;
use std::process::{Child, Command, Stdio};
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

struct Victim(Child);

impl Victim {
    fn start(bus: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "killed::act"]).env(BUS, bus);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// kill -9.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The two users of the guide, each of which may do nothing else.
const USERS: &str = r#"authorization { users: [
    { user: bench, password: one, permissions: {
        publish: ["dyno.lobby", "dyno.agent.*"], subscribe: ["dyno.run.>"] } }
    { user: agent, password: two, permissions: {
        publish: ["dyno.run.>"], subscribe: ["dyno.lobby", "dyno.agent.*"] } } ] }"#;

#[test]
fn the_others_stop_within_five_seconds() {
    let server = Server::start(USERS);
    let at = |user: &str| format!("nats://{user}@127.0.0.1:{}", server.port);
    let entry = |user: &str| options(&Given { bus: at(user), ..Given::default() });
    let others = Agent::several(&entry("agent:two"), 2, WORK);
    let mut victim = Victim::start(&at("agent:two"));
    let mut run = Run::begin(&entry("bench:one"), "run", 3);
    let sends = || others.iter().all(|agent| agent.last_sent().is_some());
    let (parts, killed) = thread::scope(|scope| {
        let level = scope.spawn(|| run.level(1).unwrap());
        while !sends() {
            thread::sleep(Duration::from_millis(5));
        }
        victim.kill();
        let killed = Instant::now();
        (level.join().unwrap(), killed)
    });
    let lost: Vec<_> = parts.iter().filter_map(|part| part.lost.as_deref()).collect();
    assert_eq!(lost, ["its connection to the bus has ended"], "{parts:?}");
    for agent in &others {
        let after = agent.last_sent().unwrap().saturating_duration_since(killed);
        println!("sent until {after:?} after the kill");
        assert!(after < Duration::from_secs(5), "sent {after:?} after the kill");
    }
}
