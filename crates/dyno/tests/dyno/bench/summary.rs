//! The summary of real runs: it follows its schema, its counts add up, levels do not overlap, and
//! a seed decides when requests are sent.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, accounted, codes};
use crate::bench::process::run;
use dyno_model::frame::Frame;
use dyno_model::record::Phase;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../../docs/schema/summary-1.schema.json");

fn breaches(summary: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(summary).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

/// Loads of every kind, with how many levels they make and how many warm-up requests each; where
/// time bounds it, that is not known.
const LOADS: &[(&str, usize, Option<usize>)] = &[
    ("--concurrency 8 --requests 60", 1, Some(0)),
    ("--concurrency 1,4,4 --requests 20", 3, Some(0)),
    ("--concurrency 4 --requests 20 --warmup 6", 1, Some(6)),
    ("--concurrency 4 --requests 20 --warmup 100ms", 1, None),
    ("--concurrency 4 --duration 400ms", 1, Some(0)),
    ("--concurrency 4 --requests 100000 --duration 300ms", 1, Some(0)),
    ("--rate 100 --arrival constant --requests 40", 1, Some(0)),
    ("--rate 100 --arrival poisson --duration 400ms --warmup 5", 1, Some(5)),
    ("--rate 50,200 --arrival gamma:0.5 --requests 20 --warmup 50ms", 2, None),
    ("--concurrency 4 --soak 400ms", 1, Some(0)),
    ("--burst 1,20", 2, Some(0)),
    ("--burst 10 --warmup 3", 1, Some(3)),
    ("--concurrency 4 --requests 20 --no-stream", 1, Some(0)),
    ("--concurrency 4 --requests 20 --usage none", 1, Some(0)),
];

#[test]
fn every_kind_of_load_gives_a_summary_that_adds_up() {
    let engine = Engine::start(QUICK, &[]);
    let mut wrong = Vec::new();
    for (args, levels, warmup) in LOADS {
        let place = Place::new();
        let more = "--output-tokens 16 --input-tokens 16";
        let ended = run(place.bench(&engine.url(), &format!("{args} {more}")));
        let mut complain = |what: String| wrong.push(format!("{args}: {what}\n{}", ended.said()));
        if let Some(wrong) = ended.amiss(0) {
            complain(wrong);
            continue;
        }
        let summary = ended.json();
        breaches(&summary).into_iter().for_each(&mut complain);
        if place.json("summary.json") != summary {
            complain("summary.json is not what was printed".into());
        }
        let listed = summary["levels"].as_array().unwrap();
        if listed.len() != *levels {
            complain(format!("{} levels instead of {levels}", listed.len()));
        }
        let requests = place.requests();
        for (index, level) in listed.iter().enumerate() {
            let planned = level["requests"]["planned"].as_u64().unwrap();
            if planned == 0 || accounted(level) != planned {
                complain(format!("{} accounted for, {planned} planned", accounted(level)));
            }
            let of_level = || requests.iter().filter(|r| r.level == index as u32);
            let measured = of_level().filter(|r| r.phase.is_measured()).count() as u64;
            let warmed = of_level().filter(|r| r.phase == Phase::Warmup).count();
            if measured != planned {
                complain(format!("{measured} measured records, {planned} planned"));
            }
            if warmup.is_some_and(|n| n != warmed) || (warmup.is_none() && warmed == 0) {
                complain(format!("{warmed} warm-up records instead of {warmup:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_summary_with_failures_follows_the_schema() {
    let engine = Engine::start(QUICK, &["reset:every=5", "http-429:every=7"]);
    let place = Place::new();
    let args = "--concurrency 8 --requests 60 --output-tokens 16 --save-text";
    let ended = run(place.bench(&engine.url(), args)).expect_unless_invalid(5);
    assert_eq!(breaches(&ended.json()), Vec::<String>::new(), "{}", ended.said());
}

#[test]
fn without_a_target_the_embedded_engine_is_measured() {
    let place = Place::new();
    let args = "bench --out run --json --quiet --concurrency 4 --requests 8 --output-tokens 8";
    let ended = run(place.dyno(args)).expect_measured();
    let summary = ended.json();
    assert_eq!(breaches(&summary), Vec::<String>::new(), "{}", ended.said());
    assert_eq!(summary["run"]["simulated"], true);
    assert_eq!(summary["run"]["engine"], dyno_engine::twin::Twin::default_name());
    assert_eq!(summary["levels"][0]["requests"]["completed"], 8, "{}", ended.said());
    assert!(summary["levels"][0]["engine_slip_ms"]["count"].as_u64().unwrap() > 0);
}

#[test]
fn levels_do_not_overlap() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = "--concurrency 8,2,16 --requests 40 --warmup 4 --output-tokens 16";
    run(place.bench(&engine.url(), args)).expect_measured();
    let requests = place.requests();
    for level in 1..3 {
        let ends = requests.iter().filter(|r| r.level == level - 1).map(|r| r.end);
        let begins = requests.iter().filter(|r| r.level == level).map(|r| r.dispatched.unwrap());
        let (last, first) = (ends.max().unwrap(), begins.min().unwrap());
        assert!(last <= first, "level {level} began at {first}, the one before ended at {last}");
    }
}

/// When each arrival of an open loop was meant to be sent, from the start of the level.
fn schedule(engine: &Engine, seed: u64, arrival: &str) -> Vec<u64> {
    let place = Place::new();
    let args = format!("--rate 400 --arrival {arrival} --requests 60 --seed {seed}");
    run(place.bench(&engine.url(), &format!("{args} --output-tokens 2"))).expect_measured();
    let started = place.frames().into_iter().find_map(|frame| match frame {
        Frame::LevelStart(start) => Some(start.started),
        _ => None,
    });
    let mut requests = place.requests();
    requests.sort_by_key(|r| r.index);
    requests.iter().map(|r| r.intended - started.unwrap()).collect()
}

#[test]
fn a_seed_decides_the_schedule() {
    let engine = Engine::start(QUICK, &[]);
    for arrival in ["poisson", "gamma:2"] {
        let first = schedule(&engine, 7, arrival);
        assert_eq!(first.len(), 60);
        assert_eq!(first, schedule(&engine, 7, arrival));
        assert_ne!(first, schedule(&engine, 8, arrival));
    }
}

#[test]
fn answers_are_kept_only_when_asked_for() {
    let engine = Engine::start(QUICK, &[]);
    for (more, kept) in [("", false), ("--save-text", true)] {
        let place = Place::new();
        let args = format!("--concurrency 4 --requests 12 --output-tokens 16 {more}");
        run(place.bench(&engine.url(), &args)).expect_measured();
        for request in place.requests() {
            let words = request.text.as_deref().map(|text| text.split_whitespace().count());
            assert_eq!(words, kept.then_some(16), "{request:?}");
        }
    }
}

#[test]
fn label_and_note_are_told() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let mut command = place.bench(&engine.url(), "--concurrency 2 --requests 4 --label nightly");
    command.args(["--note", "after the driver update"]);
    let run_summary = &run(command).expect_measured().json()["run"];
    assert_eq!(run_summary["label"], "nightly");
    assert_eq!(run_summary["note"], "after the driver update");
    assert_eq!(place.json("plan.json")["label"], "nightly");
    let text = run(place.dyno("report run"));
    for words in ["nightly", "after the driver update"] {
        assert!(text.stdout.contains(words), "{}", text.said());
    }
}

#[test]
fn completions_work_by_flag_and_by_path() {
    let engine = Engine::start(QUICK, &[]);
    let by_path = format!("{}/v1/completions", engine.url());
    for (url, more) in [(engine.url(), "--api openai-completions"), (by_path, "")] {
        let place = Place::new();
        let args = format!("--concurrency 4 --requests 12 --output-tokens 16 {more}");
        let ended = run(place.bench(&url, &args)).expect_measured();
        let summary = ended.json();
        assert_eq!(summary["run"]["api"], "openai-completions");
        let level = &summary["levels"][0];
        assert_eq!(level["requests"]["completed"], 12, "{}", ended.said());
        assert_eq!(level["output_tokens"]["total"], 12 * 16, "{}", ended.said());
        assert_eq!(level["itl_ms"]["count"], 12 * 15, "{}", ended.said());
    }
}

#[test]
fn a_run_without_trouble_has_no_notes() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = "--concurrency 4 --requests 40 --output-tokens 16";
    let summary = run(place.bench(&engine.url(), args)).expect_measured().json();
    assert_eq!(codes(&summary["notes"]), Vec::<String>::new());
    assert_eq!(summary["run"]["partial"], false);
    assert_eq!(summary["run"]["ending"], "requests");
}
