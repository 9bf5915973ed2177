//! Ctrl-C and its relatives: once drains, twice stops at once, and either way everything that was
//! issued has its record and the summary is written.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, accounted};
use crate::bench::process::{Ended, Process};
use dyno_model::frame::Ending;
use dyno_model::frame::Frame;
use dyno_model::record::Phase;
use rustix::process::Signal;

/// Starts a run and waits until so many answers have begun.
fn under_way(place: &Place, engine: &Engine, answers: u64, args: &str) -> Process {
    // Not quiet: the note that the signal was heard is waited for.
    let line = format!("bench {} --out run --json --output-tokens 16 {args}", engine.url());
    let mut process = Process::start(place.dyno(&line));
    process.wait_until("requests under way", || engine.begun() >= answers);
    process
}

/// What holds after any interrupt.
#[track_caller]
fn is_whole(place: &Place, ended: &Ended) -> serde_json::Value {
    let summary = ended.json();
    assert_eq!(place.json("summary.json"), summary, "{}", ended.said());
    assert_eq!(summary["run"]["ending"], "interrupted", "{}", ended.said());
    assert_eq!(summary["run"]["partial"], false, "{}", ended.said());
    assert_eq!(summary["levels"].as_array().unwrap().len(), 1, "no further level may begin");
    let ends = place.level_ends();
    assert_eq!(ends[0].ending, Ending::Interrupted);
    let level = &summary["levels"][0];
    assert_eq!(accounted(level), ends[0].issued, "{}", ended.said());
    assert_eq!(place.requests().len() as u64, ends[0].issued + ends[0].warmup);
    level.clone()
}

#[test]
fn once_stops_sending_and_drains() {
    for signal in [Signal::INT, Signal::TERM] {
        let engine = Engine::start("ttft=100ms,itl=5ms,tokens=16", &[]);
        let place = Place::new();
        let process = under_way(&place, &engine, 20, "--concurrency 8,16 --requests 10000");
        process.signal(signal);
        let ended = process.end().expect_status(&[130]).expect_words(&["stopping"]);
        let ended = ended.expect_words(&["to resume: dyno bench --resume run"]);
        let level = is_whole(&place, &ended);
        assert_eq!(level["requests"]["censored"], 0, "{}", ended.said());
        assert_eq!(level["requests"]["failed"], 0, "{}", ended.said());
        assert!(level["requests"]["completed"].as_u64().unwrap() >= 8, "{}", ended.said());
        let drained = place.requests().iter().filter(|r| r.phase == Phase::Drain).count();
        assert!((1..=8).contains(&drained), "{drained} of 8 slots were drained");
    }
}

#[test]
fn twice_stops_at_once() {
    for signal in [Signal::INT, Signal::TERM] {
        // The preflight is answered, every fifth request after it never is.
        let engine = Engine::start(QUICK, &["stall-first:every=5"]);
        let place = Place::new();
        let mut process = Process::start(place.dyno(&format!(
            "bench {} --out run --json --concurrency 4,8 --requests 10000 --drain 1h",
            engine.url()
        )));
        let records = place.run_dir().join("records.dyno");
        let length = move || std::fs::metadata(&records).map_or(0, |file| file.len());
        // All slots are stuck once nothing is recorded any more.
        let mut last = (0, std::time::Instant::now());
        process.wait_until("every slot is stuck", || {
            let now = length();
            if now != last.0 {
                last = (now, std::time::Instant::now());
            }
            now > 500 && last.1.elapsed().as_millis() > 500
        });
        process.signal(signal);
        process.wait_for_words("Ctrl-C again to stop immediately");
        process.signal(signal);
        let ended = process.end().expect_status(&[130]).expect_words(&["stopping immediately"]);
        let level = is_whole(&place, &ended);
        assert_eq!(level["requests"]["censored"], 4, "{}", ended.said());
        assert!(level["requests"]["completed"].as_u64().unwrap() > 0, "{}", ended.said());
    }
}

#[test]
fn the_drain_ends_too() {
    let engine = Engine::start(QUICK, &["stall-first"]);
    let place = Place::new();
    let mut process =
        Process::start(place.bench(
            &engine.url(),
            "--concurrency 4 --requests 100 --drain 200ms --output-tokens 16",
        ));
    let records = place.run_dir().join("records.dyno");
    let begun = |frame: &Frame| matches!(frame, Frame::LevelStart(_));
    process
        .wait_until("the level has begun", || records.exists() && place.frames().iter().any(begun));
    process.signal(Signal::INT);
    let ended = process.end().expect_status(&[130]);
    is_whole(&place, &ended);
}

#[test]
fn what_outlasts_the_drain_of_a_timed_level_is_censored() {
    let engine = Engine::start(QUICK, &["stall-first:every=10"]);
    let place = Place::new();
    let args = "--concurrency 4 --duration 500ms --drain 200ms --output-tokens 16";
    let ended = crate::bench::process::run(place.bench(&engine.url(), args)).expect_measured();
    let level = &ended.json()["levels"][0];
    assert_eq!(level["ending"], "duration", "{}", ended.said());
    assert!(level["requests"]["censored"].as_u64().unwrap() > 0, "{}", ended.said());
    assert_eq!(level["requests"]["failed"], 0, "{}", ended.said());
    assert_eq!(accounted(level), level["requests"]["planned"].as_u64().unwrap());
}

#[test]
fn a_hang_up_does_not_end_a_run() {
    let engine = Engine::start("ttft=20ms,itl=1ms,tokens=16", &[]);
    let place = Place::new();
    let process = under_way(&place, &engine, 10, "--concurrency 4 --requests 80");
    process.signal(Signal::HUP);
    let ended = process.end().expect_measured();
    assert_eq!(ended.json()["levels"][0]["requests"]["completed"], 80, "{}", ended.said());
}
