//! From level to level: rounds, order, rest, what is asked of the server in between, and when it
//! is enough.

use crate::bench::engines::{Engine, EngineProcess, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use dyno_model::SEC;
use dyno_model::frame::Frame;

fn labels(summary: &serde_json::Value) -> Vec<String> {
    let levels = summary["levels"].as_array().unwrap().iter();
    levels.map(|level| level["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn rounds_are_interleaved_and_shuffled_by_the_seed() {
    let engine = Engine::start(QUICK, &[]);
    let order = |args: &str| {
        let place = Place::new();
        let args = format!("--requests 2x --output-tokens 4 {args}");
        labels(&run(place.bench(&engine.url(), &args)).expect_measured().json())
    };
    let given = order("--concurrency 1,2,3 --repeat 2");
    assert_eq!(
        given,
        [
            "concurrency 1 #1",
            "concurrency 2 #1",
            "concurrency 3 #1",
            "concurrency 1 #2",
            "concurrency 2 #2",
            "concurrency 3 #2"
        ]
    );
    let shuffled = "--concurrency 1,2,3,4,5,6,7,8 --level-order shuffle --seed 3";
    let first = order(shuffled);
    assert_eq!(first, order(shuffled));
    let mut sorted = first.clone();
    sorted.sort();
    assert_ne!(first, sorted);
}

#[test]
fn a_dry_run_prints_the_plan_and_sends_nothing() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let lengths = "--input-tokens 8,16 --output-tokens 4,8";
    let args =
        format!("bench {} --concurrency 1,4 {lengths} --requests 10x --dry-run", engine.url());
    let ended = run(place.dyno(&args)).expect_status(&[0]);
    let plan = ended.stdout.as_str();
    assert!(plan.starts_with("8 levels:\n   1  8→4 @1"), "{plan}");
    assert!(plan.contains("   8  16→8 @4  4 in flight  16 in, 8 out  40 requests\n"), "{plan}");
    assert!(plan.ends_with("\nNo estimate: the duration depends on the server.\n"), "{plan}");
    let sweep = format!("bench {} --sweep --duration 5m --dry-run", engine.url());
    let sweep = run(place.dyno(&sweep)).expect_status(&[0]).stdout;
    assert!(sweep.ends_with("\nAbout 50 min, plus drain.\n"), "{sweep}");
    let counted = format!("bench {} --rate 2 --requests 1000 --dry-run", engine.url());
    let counted = run(place.dyno(&counted)).expect_status(&[0]).stdout;
    assert!(counted.ends_with("\nAbout 8 min, plus drain.\n"), "{counted}");
    assert_eq!(engine.begun(), 0);
    assert!(!place.run_dir().exists());
}

#[test]
fn levels_rest_and_the_cache_is_reset_in_between() {
    let place = Place::new();
    let engine = EngineProcess::with(&place, "--twin generic-7b-24gb");
    let args = "--concurrency 2,4 --requests 1x --input-tokens 16 --output-tokens 4 \
                --cooldown 300ms --reset-cache";
    run(place.bench(&engine.url(), args)).expect_measured();
    let frames = place.frames();
    let ended = frames.iter().find_map(|frame| match frame {
        Frame::LevelEnd(end) => Some(end.ended),
        _ => None,
    });
    let started = frames.iter().rev().find_map(|frame| match frame {
        Frame::LevelStart(start) => Some(start.started),
        _ => None,
    });
    assert!(started.unwrap() - ended.unwrap() >= 3 * SEC / 10);
}

#[test]
fn a_server_that_cannot_forget_is_told_of_before_anything_is_measured() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    run(place.bench(&engine.url(), "--concurrency 2 --requests 1x --reset-cache"))
        .expect_status(&[2])
        .expect_words(&[
            "--reset-cache: the server cannot reset its prefix cache",
            "/flush_cache: HTTP 404",
        ]);
}

#[test]
fn a_condition_ends_the_run_after_the_level_that_meets_it() {
    let engine = Engine::start(QUICK, &["http-500:every=2"]);
    let place = Place::new();
    let args = "--concurrency 2,3,4 --requests 10x --output-tokens 4 --stop-on errors>5%";
    let ended = run(place.bench(&engine.url(), args)).expect_unless_invalid(5);
    let summary = ended.json();
    assert_eq!(labels(&summary), ["concurrency 2"]);
    let notes = codes(&summary["notes"]);
    assert!(notes.contains(&"stopped_on".to_owned()), "{notes:?}");
    run(place.dyno("bench --stop-on errors>5")).expect_status(&[2]).expect_words(&["--stop-on"]);
}

#[test]
fn where_it_was_enough_nobody_is_told_to_go_on() {
    let place = Place::new();
    let args = "predict --rate 2,8,30 --duration 100s --stop-on saturated --out run --json \
                --input-tokens 512 --output-tokens 128";
    let summary = run(place.dyno(args)).expect_status(&[0]).json();
    let notes = codes(&summary["notes"]);
    assert!(notes.contains(&"stopped_on".to_owned()), "{notes:?}");
    assert!(!notes.contains(&"levels_not_run".to_owned()), "{notes:?}");
}

#[test]
fn flags_that_could_have_no_effect_are_refused() {
    let place = Place::new();
    run(place.dyno("bench --concurrency 4,8 --stop-on saturated"))
        .expect_status(&[2])
        .expect_words(&["--stop-on: `saturated` only applies to levels with a rate"]);
    run(place.dyno("bench --rate 5 --precision 3%"))
        .expect_status(&[2])
        .expect_words(&["--precision: only applies to --until-stable"]);
    run(place.dyno("bench --rate 5 --sweep-spacing linear"))
        .expect_status(&[2])
        .expect_words(&["--sweep-spacing: sets the spacing of a sweep"]);
    run(place.dyno("bench --rate 5 --until-stable --min-duration 20s --max-duration 10s"))
        .expect_status(&[2])
        .expect_words(&["--min-duration: 20s exceeds the maximum of 10s"]);
    for command in ["predict", "capacity --slo ttft.p95<1s"] {
        run(place.dyno(&format!("{command} --config nowhere.toml")))
            .expect_status(&[2])
            .expect_words(&["--config: cannot read `nowhere.toml`"]);
    }
}

#[test]
fn requests_per_slot_need_slots() {
    let place = Place::new();
    run(place.dyno("bench --rate 5 --requests 10x"))
        .expect_status(&[2])
        .expect_words(&["--requests: `10x` is the number of requests per slot"]);
}
