//! Verdicts and the exit status that goes with them: of runs that nothing disturbs, on a server slow enough
//! for any machine to measure, and of runs that are disturbed on purpose.

use crate::bench::engines::EngineProcess;
use crate::bench::place::{Place, codes};
use crate::bench::process::{Ended, Process, run};
use rustix::process::Signal;
use std::time::Duration;

/// A first token may be known to 30 ms and a gap to 5 before a level is invalid.
const STEADY: &str = "ttft=300ms,itl=50ms,tokens=6";
/// What the client cannot tell.
const BY_THE_CLIENT: [&str; 2] = ["instrument_range", "effective_concurrency"];

#[track_caller]
fn is_believed(ended: Ended) {
    let ended = ended.expect_status(&[0]);
    for level in ended.json()["levels"].as_array().unwrap() {
        assert_ne!(level["verdict"], "invalid", "{}", ended.said());
        let stamps = &level["instrument"]["stamps"];
        assert_eq!(stamps, "kernel", "this kernel gives no receive stamps: {}", ended.said());
    }
}

#[track_caller]
fn is_disbelieved(ended: Ended, note: &str) {
    let ended = ended.expect_unless_invalid(0).expect_status(&[4]);
    let level = &ended.json()["levels"][0];
    assert_eq!(level["verdict"], "invalid");
    let reasons = codes(&level["reasons"]);
    let ours = |code: &String| BY_THE_CLIENT.contains(&code.as_str());
    assert!(reasons.iter().any(ours), "{}", ended.said());
    assert!(codes(&level["notes"]).contains(&note.to_owned()), "no {note}: {}", ended.said());
}

/// A run of each kind of load that nothing disturbs.
fn undisturbed(loads: &[&str]) {
    for load in loads {
        let place = Place::new();
        let engine = EngineProcess::start(&place, STEADY);
        is_believed(run(place.bench(&engine.url(), &format!("{load} --output-tokens 6"))));
    }
}

#[test]
fn closed_loops_that_nothing_disturbs_are_believed() {
    undisturbed(&["--concurrency 1,3 --requests 4x", "--concurrency 2 --requests 8 --no-stream"]);
}

#[test]
fn open_loops_that_nothing_disturbs_are_believed() {
    undisturbed(&["--rate 6 --arrival constant --requests 15", "--burst 5"]);
}

#[test]
fn a_run_in_virtual_time_is_valid() {
    let place = Place::new();
    let ended = run(place.dyno("predict --concurrency 4 --requests 100 --json --quiet --out run"));
    let ended = ended.expect_status(&[0]);
    let level = &ended.json()["levels"][0];
    assert_eq!(level["verdict"], "valid", "{}", ended.said());
    assert_eq!(level["instrument"]["stamps"], "virtual");
}

#[test]
fn a_client_that_is_stopped_again_and_again_is_not_believed() {
    let place = Place::new();
    let engine = EngineProcess::start(&place, STEADY);
    let bench = place.bench(&engine.url(), "--concurrency 2 --requests 8 --output-tokens 6");
    let mut process = Process::start(bench);
    process.wait_until("the first level", || engine.begun() > 2);
    // In most of the time something ends that nobody notices.
    while process.is_running() {
        process.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(400));
        process.signal(Signal::CONT);
        std::thread::sleep(Duration::from_millis(60));
    }
    is_disbelieved(process.end(), "client_stalled");
}

#[test]
fn a_client_that_waits_for_its_records_is_not_believed() {
    let place = Place::new();
    let engine = EngineProcess::start(&place, STEADY);
    let mut bench = place.bench(&engine.url(), "--concurrency 4 --requests 12 --output-tokens 6");
    bench.env("DYNO_TEST_RECORD_STALL_MS", "300");
    is_disbelieved(run(bench), "awaited_records");
}
