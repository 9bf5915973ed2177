//! Agents on a bus that are ended by a signal: in the middle of a run they stop sending, say so, and the
//! coordinator knows at once why.

use super::bus::Bus;
use crate::bench::engines::EngineProcess;
use crate::bench::place::Place;
use crate::bench::process::Process;
use rustix::process::Signal;

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
        let nats = Bus::start();
        let bus = nats.url();
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
