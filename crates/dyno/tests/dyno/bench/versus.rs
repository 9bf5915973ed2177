//! Two servers in turns: whose turn it is, what each run holds, and what the end of one means for
//! the other. Drift, which all this is for, in virtual time.

use crate::bench::engines::{Engine, EngineProcess, QUICK};
use crate::bench::place::{Place, codes, holds};
use crate::bench::predict::TWIN;
use crate::bench::process::{Ended, Process, run};
use crate::bench::web::{self, Web};
use dyno_model::SEC;
use dyno_model::frame::Frame;
use dyno_record::RunDir;
use rustix::process::Signal;
use serde_json::Value;
use std::process::Command;

const LOAD: &str = "--requests 2x --input-tokens 8 --output-tokens 4";

fn versus(place: &Place, a: &str, b: &str, args: &str) -> Command {
    place.dyno(&format!("bench {a} --versus {b} --out run --json --quiet {args}"))
}

fn frames(place: &Place, name: &str) -> Vec<Frame> {
    RunDir::open(place.path().join(name)).unwrap().records().unwrap().collect()
}

#[track_caller]
fn json(place: &Place, file: &str) -> Value {
    serde_json::from_slice(&std::fs::read(place.path().join(file)).unwrap()).unwrap()
}

/// Whose turn it was: side and level, with start and end, in the order of time.
fn turns(place: &Place) -> Vec<(String, u64, u64)> {
    let mut turns = Vec::new();
    for (side, name) in [("A", "run-a"), ("B", "run-b")] {
        let mut started = 0;
        for frame in frames(place, name) {
            match frame {
                Frame::LevelStart(start) => started = start.started,
                Frame::LevelEnd(end) => {
                    turns.push((format!("{side}{}", end.level), started, end.ended));
                }
                _ => {}
            }
        }
    }
    turns.sort_by_key(|(_, started, _)| *started);
    turns
}

fn order(turns: &[(String, u64, u64)]) -> String {
    turns.iter().map(|(turn, ..)| turn.as_str()).collect::<Vec<_>>().join(" ")
}

/// Both directories hold what any run's does, know each other, and can be reported.
#[track_caller]
fn are_a_pair(place: &Place, ended: &Ended) -> [Value; 2] {
    let said = ended.json();
    assert_eq!(said["schema"], "dyno.versus/1");
    for (side, name, other) in [("a", "run-a", "run-b"), ("b", "run-b", "run-a")] {
        assert_eq!(json(place, &format!("{name}/summary.json")), said[side], "{}", ended.said());
        let versus = &json(place, &format!("{name}/plan.json"))["course"]["versus"];
        assert_eq!(versus["side"], side);
        let other = json(place, &format!("{other}/summary.json"));
        assert_eq!(versus["other_run"], other["run"]["id"]);
        assert!(codes(&said[side]["notes"]).contains(&"interleaved".to_owned()));
        let again = run(place.dyno(&format!("report {name} --json")));
        assert_eq!(again.expect_status(&[0]).json(), said[side]);
    }
    [said["a"].clone(), said["b"].clone()]
}

#[test]
fn turns_alternate_by_level_and_by_round_and_never_overlap() {
    let place = Place::new();
    // The connection of the side that waits is closed, as servers do after a while.
    let engine = format!("--scripted {QUICK} --fault idle-close");
    let [a, b] = [0, 1].map(|_| EngineProcess::with(&place, &engine));
    let args = format!("--concurrency 1,2 --repeat 2 --cooldown 350ms {LOAD}");
    let ended = run(versus(&place, &a.url(), &b.url(), &args)).expect_measured();
    let [one, other] = are_a_pair(&place, &ended);
    let turns = turns(&place);
    assert_eq!(order(&turns), "A0 B0 B1 A1 B2 A2 A3 B3", "{}", ended.said());
    for pair in turns.windows(2) {
        assert!(pair[1].1 >= pair[0].2 + 35 * SEC / 100, "{pair:?}");
    }
    assert_eq!(
        (&one["run"]["target"], &other["run"]["target"]),
        (&a.url().into(), &b.url().into())
    );
    for (of_a, of_b) in
        one["levels"].as_array().unwrap().iter().zip(other["levels"].as_array().unwrap())
    {
        assert_eq!(of_a["label"], of_b["label"]);
        for level in [of_a, of_b] {
            assert_eq!(level["requests"]["completed"], level["requests"]["planned"]);
        }
    }
}

#[test]
fn both_are_sent_the_same_or_the_same_lengths_in_other_words() {
    let servers = [0, 1].map(|_| Web::start(web::openai));
    for load in [
        "--rate 200 --requests 20",
        "--concurrency 1,3 --requests 6",
        "--concurrency 1,3 --requests 6 --same-prompts",
    ] {
        let place = Place::new();
        let before = servers.each_ref().map(|server| server.generations().len());
        let args = format!("{load} --input-tokens 5-40 --output-tokens 4 --seed 3");
        let ended = run(versus(&place, &servers[0].url(), &servers[1].url(), &args));
        let ended = ended.expect_measured();
        let sent = [0, 1].map(|side| {
            let seen = &servers[side].generations()[before[side]..];
            let mut bodies: Vec<String> =
                seen.iter().map(|seen| String::from_utf8(seen.body.clone()).unwrap()).collect();
            // The second preflight prompt is another one for each run.
            bodies.retain(|body| !body.contains("is a number"));
            bodies.sort();
            bodies
        });
        assert!(sent[0].len() >= 12, "{}", ended.said());
        if load.contains("--same-prompts") {
            assert_eq!(sent[0], sent[1]);
        } else {
            let own = |body: &&String| !body.contains("single word OK");
            assert!(sent[0].iter().filter(own).all(|body| !sent[1].contains(body)));
            let lengths = |side: usize| {
                let mut lengths: Vec<usize> =
                    sent[side].iter().map(|body| body.split_whitespace().count()).collect();
                lengths.sort_unstable();
                lengths
            };
            assert_eq!(lengths(0), lengths(1));
        }
        let due = ["run-a", "run-b"].map(|name| {
            let mut due = Vec::new();
            let mut started = 0;
            for frame in frames(&place, name) {
                match frame {
                    Frame::LevelStart(start) => started = start.started,
                    Frame::Request(record) => due.push((record.index, record.intended - started)),
                    _ => {}
                }
            }
            due.sort_unstable();
            due
        });
        if load.starts_with("--rate") {
            assert_eq!(due[0], due[1], "arrivals are on the same schedule");
        }
    }
}

#[test]
fn when_one_dies_both_runs_end_and_it_is_said_which() {
    let place = Place::new();
    let a = EngineProcess::start(&place, QUICK);
    let b = EngineProcess::with(&place, &format!("--scripted {QUICK} --die-after 100"));
    let args = "--concurrency 2,4,8 --requests 60 --input-tokens 8 --output-tokens 4";
    let ended = run(versus(&place, &a.url(), &b.url(), args)).expect_status(&[3]);
    let ended = ended.expect_words(&["error: B: the target is unusable"]);
    assert!(!ended.stderr.contains("error: A:"), "{}", ended.said());
    assert!(!ended.stderr.contains("--resume"), "{}", ended.said());
    let [one, other] = are_a_pair(&place, &ended);
    assert_eq!(order(&turns(&place)), "A0 B0 B1", "{}", ended.said());
    assert_eq!(other["run"]["ending"], "target_lost");
    assert!(codes(&other["notes"]).contains(&"target_lost".to_owned()));
    assert_eq!(one["run"]["ending"], "aborted");
    assert!(one["notes"].to_string().contains("the other target, B, was lost"));
    assert_eq!(one["levels"].as_array().unwrap().len(), 1);
    assert_eq!(one["levels"][0]["requests"]["completed"], 60);
    // What took turns cannot be resumed alone.
    for name in ["run-a", "run-b"] {
        run(place.dyno(&format!("bench --resume {name}")))
            .expect_status(&[2])
            .expect_words(&["--resume", "alternated with"]);
    }
}

#[test]
fn ctrl_c_drains_and_keeps_both() {
    let place = Place::new();
    let [a, b] = [0, 1].map(|_| Engine::start(QUICK, &[]));
    let line = format!(
        "bench {} --versus {} --out run --json --concurrency 2,4 --requests 400 --output-tokens 16",
        a.url(),
        b.url()
    );
    let mut process = Process::start(place.dyno(&line));
    process.wait_until("B has its first turn", || b.begun() >= 20);
    process.signal(Signal::INT);
    let ended = process.end().expect_status(&[130]).expect_words(&["stopping"]);
    let [one, other] = are_a_pair(&place, &ended);
    for summary in [&one, &other] {
        assert_eq!(summary["run"]["ending"], "interrupted", "{}", ended.said());
        assert_eq!(summary["levels"][0]["requests"]["censored"], 0);
    }
    assert_eq!(one["levels"][0]["requests"]["completed"], 400);
    let cut = other["levels"].as_array().unwrap().last().unwrap();
    assert!(cut["requests"]["completed"].as_u64().unwrap() > 0, "{}", ended.said());
}

#[test]
fn a_condition_that_one_meets_ends_both_after_the_level() {
    let [a, b] = [&["http-500"][..], &[]].map(|faults| Engine::start(QUICK, faults));
    let place = Place::new();
    let args = format!("--concurrency 1,2,4 --stop-on errors>5% {LOAD}");
    let ended = run(versus(&place, &a.url(), &b.url(), &args)).expect_unless_invalid(5);
    are_a_pair(&place, &ended);
    assert_eq!(order(&turns(&place)), "A0 B0");
    assert!(json(&place, "run-b/summary.json")["notes"].to_string().contains("on A, errors>5%"));
}

#[test]
fn the_other_server_has_a_key_and_a_model_of_its_own() {
    let place = Place::new();
    let a = Engine::start(QUICK, &[]);
    let b = EngineProcess::with(&place, &format!("--scripted {QUICK} --fault auth --model other"));
    let key = place.file("key.txt", "sesame\n");
    let args = format!("--concurrency 2 {LOAD} --model dyno-scripted");
    let refused = run(versus(&place, &a.url(), &b.url(), &args)).expect_status(&[3]);
    refused.expect_words(&["error: B: ", "401"]);
    assert!(!place.path().join("run-a").exists(), "nothing was measured");
    let own = format!("{args} --versus-api-key-file {key} --versus-model other");
    let ended = run(versus(&place, &a.url(), &b.url(), &own)).expect_measured();
    let [one, other] = are_a_pair(&place, &ended);
    assert_eq!(
        (&one["run"]["model"], &other["run"]["model"]),
        (&"dyno-scripted".into(), &"other".into())
    );
    for name in ["run-a", "run-b"] {
        for entry in std::fs::read_dir(place.path().join(name)).unwrap() {
            let path = entry.unwrap().path();
            assert!(!holds(&std::fs::read(&path).unwrap(), "sesame"), "{}", path.display());
        }
    }
    assert!(!ended.stderr.contains("sesame") && !ended.stdout.contains("sesame"));
}

#[test]
fn embedded_engines_take_turns_as_well_and_the_text_names_both() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let args = format!("bench --twin {twin} --versus twin:{twin} --concurrency 2,4 {LOAD}");
    let ended = run(place.dyno(&format!("{args} --out run"))).expect_measured();
    let [a, b] = ["A: twin:", "B: twin:"].map(|name| ended.stdout.find(name).unwrap());
    assert!(a < b, "{}", ended.said());
    assert_eq!(order(&turns(&place)), "A0 B0 B1 A1");
    let dry = run(place.dyno(&format!("{args} --dry-run"))).expect_status(&[0]);
    assert!(dry.stdout.contains("alternating: A B, then B A"), "{}", dry.said());
    // Only the list of runs elsewhere.
    assert_eq!(std::fs::read_dir(place.path().join("dyno-runs")).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_done_in_turns_is_refused() {
    let place = Place::new();
    let b = "http://127.0.0.1:9";
    std::fs::create_dir_all(place.path().join("taken-b")).unwrap();
    place.file("taken-b/something", "");
    for (args, words) in [
        (format!("--versus {b} --sweep"), "list them"),
        (format!("--versus {b} --concurrency auto"), "list them"),
        (format!("--versus {b} --live"), "--live"),
        (format!("--versus {b} --resume x"), "--resume"),
        (format!("--versus {b} --out taken"), "taken-b"),
        (format!("--versus {b}/v1/completions"), "--versus"),
        ("--versus twin:nobody".to_owned(), "nobody"),
        ("--versus 127.0.0.1:9".to_owned(), "http://127.0.0.1:9"),
        ("--versus-model x".to_owned(), "--versus"),
    ] {
        let ended = run(place.dyno(&format!("bench http://127.0.0.1:9 {args}")));
        ended.expect_status(&[2]).expect_words(&[words]);
    }
}

/// The mean latency of each level of a run, in milliseconds.
fn latencies(place: &Place, name: &str) -> Vec<f64> {
    let summary = json(place, &format!("{name}/summary.json"));
    let levels = summary["levels"].as_array().unwrap().iter();
    levels.map(|level| level["latency_ms"]["mean"].as_f64().unwrap()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A twin that slows down, or not.
fn twin(place: &Place, name: &str, slow_down: &str) -> String {
    let noise = "noise = 0\n";
    assert!(TWIN.contains(noise));
    place.file(name, &TWIN.replace(noise, &format!("{noise}slow_down = \"{slow_down}\"\n")))
}

fn predict(place: &Place, args: &str) {
    let args = format!("predict {args} --json --quiet --requests 40 --output-tokens 16");
    run(place.dyno(&args)).expect_status(&[0]);
}

#[test]
fn a_common_drift_hits_both_alike_in_turns_and_not_one_after_the_other() {
    let place = Place::new();
    let slow = twin(&place, "slow.toml", "50%/min");
    predict(&place, &format!("--twin {slow} --versus {slow} --out run --concurrency 4 --repeat 8"));
    assert_eq!(
        order(&turns(&place)),
        "A0 B0 B1 A1 A2 B2 B3 A3 A4 B4 B5 A5 A6 B6 B7 A7",
        "the clocks of the twins go on together"
    );
    let (a, b) = (latencies(&place, "run-a"), latencies(&place, "run-b"));
    let in_turns = (mean(&b) / mean(&a) - 1.0).abs();
    // The same sixteen levels on one server, eight after eight.
    predict(&place, &format!("--twin {slow} --out alone --concurrency 4 --repeat 16"));
    let alone = latencies(&place, "alone");
    let one_after_the_other = mean(&alone[8..]) / mean(&alone[..8]) - 1.0;
    assert!(one_after_the_other > 0.2, "{one_after_the_other}");
    assert!(in_turns < one_after_the_other / 50.0, "{in_turns} {one_after_the_other}");
    // Without taking turns at being first, B would be the later one of each pair.
    let first_of_pairs: f64 = (0..8).map(|round| a[round].min(b[round])).sum();
    let second_of_pairs: f64 = (0..8).map(|round| a[round].max(b[round])).sum();
    assert!(second_of_pairs / first_of_pairs - 1.0 > 3.0 * in_turns);
}

#[test]
fn one_that_slows_down_is_told_from_one_that_does_not() {
    let place = Place::new();
    let (steady, slow) = (twin(&place, "steady.toml", "0"), twin(&place, "slow.toml", "50%/min"));
    let load = "--out run --concurrency 4 --repeat 4";
    predict(&place, &format!("--twin {steady} --versus {slow} {load}"));
    let (a, b) = (latencies(&place, "run-a"), latencies(&place, "run-b"));
    assert!(a.iter().all(|latency| (latency - a[0]).abs() < 1e-6), "{a:?}");
    assert!(b.is_sorted() && b[3] > 1.05 * b[0] && b[0] > a[0], "{a:?} {b:?}");
}

#[test]
fn an_engine_slows_down_by_the_time_since_its_start() {
    let place = Place::new();
    // A hundred times as slow within a moment, and no slower than that.
    let engine =
        EngineProcess::with(&place, "--scripted ttft=1ms,itl=1ms,tokens=4 --slow-down 9999%/s");
    let args = "--concurrency 1 --requests 3 --warmup 12 --output-tokens 4";
    let ended = run(place.bench(&engine.url(), args)).expect_measured();
    let ttft = ended.json()["levels"][0]["ttft_ms"]["min"].as_f64().unwrap();
    assert!(ttft >= 50.0, "{ttft}");
    let wrong = run(place.dyno("engine --slow-down fast")).expect_status(&[2]);
    wrong.expect_words(&["--slow-down", "10%/min"]);
}
