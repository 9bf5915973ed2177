//! Agents on a bus that are ended by a signal: in the middle of a run they stop sending, say so, and the
//! coordinator knows at once why.

use crate::engines::EngineProcess;
use crate::place::Place;
use crate::process::Process;
use rustix::process::Signal;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;

/// A NATS server on a free port of the loopback.
fn bus(place: &Place) -> (Process, String) {
    for _ in 0..10 {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program());
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]).current_dir(place.path());
        let mut server = Process::start(command);
        let answers = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        while server.is_running() {
            if answers() {
                return (server, format!("nats://127.0.0.1:{port}"));
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    panic!("nats-server does not start");
}

/// `NATS_SERVER`, or the one that is installed; `scripts/test` installs it.
fn program() -> PathBuf {
    if let Some(program) = std::env::var_os("NATS_SERVER") {
        return program.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    let mut programs = folders.map(|folder| folder.join("nats-server"));
    programs.find(|program| program.exists()).expect("nats-server is missing: run scripts/test")
}

fn agent(place: &Place, bus: &str, target: &str, name: &str) -> Process {
    let mut agent =
        Process::start(place.dyno(&format!("agent --bus {bus} --target {target} --name {name}")));
    agent.wait_for_words("waiting for a run");
    agent
}

#[test]
fn an_agent_that_is_told_to_end_leaves_its_run() {
    for signal in [Signal::TERM, Signal::INT] {
        let place = Place::new();
        let engine = EngineProcess::start(&place, "ttft=50ms,itl=10ms,tokens=16");
        let (_server, bus) = bus(&place);
        let mut stays = agent(&place, &bus, &engine.url(), "stays");
        let mut leaves = agent(&place, &bus, &engine.url(), "leaves");
        let load = "--agents 2 --concurrency 4 --duration 50s --drain 1s --input-tokens 8 \
                    --output-tokens 16";
        let mut bench = Process::start(place.bench(&engine.url(), &format!("--bus {bus} {load}")));
        leaves.wait_for_words("taking part in run");
        bench.wait_until("requests", || engine.begun() > 20);
        leaves.signal(signal);
        leaves.end().expect_status(&[0]).expect_words(&["it was told to end by a signal"]);
        let ended = bench.end().expect_status(&[4]);
        let level = &ended.json()["levels"][0];
        let said = level.to_string();
        assert!(said.contains("agent_lost"), "{}", ended.said());
        assert!(said.contains("it was told to end by a signal"), "{}", ended.said());
        stays.wait_for_words("is over");
        stays.signal(signal);
        stays.end().expect_status(&[0]);
    }
}
