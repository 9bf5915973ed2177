//! Resuming an interrupted run.

use crate::bench::engines::{Engine, EngineProcess, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::{Process, run};
use dyno_model::frame::Frame;
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

const SIX_LEVELS: &str = "--concurrency 1,2,3,4,5,6 --requests 5x --output-tokens 16";

/// One complete run: each level once, and all that was asked for in it.
#[track_caller]
fn expect_whole(summary: &Value) {
    assert_eq!(summary["run"]["partial"], false, "{summary:#}");
    assert_eq!(summary["run"]["ending"], "requests");
    let levels = summary["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 6);
    for (number, level) in levels.iter().enumerate() {
        assert_eq!(level["load"]["value"], (number + 1) as f64);
        assert_eq!(level["partial"], false, "{level:#}");
        assert_eq!(level["requests"]["completed"], 5 * (number as u64 + 1), "{level:#}");
        assert!(!codes(&level["reasons"]).contains(&"records_missing".to_owned()), "{level:#}");
    }
}

#[test]
fn killed_at_a_random_moment_and_resumed_it_ends_whole() {
    let engine = Engine::start(QUICK, &[]);
    for round in 0..20_u64 {
        let place = Place::new();
        let mut process = Process::start(place.bench(&engine.url(), SIX_LEVELS));
        let records = place.run_dir().join("records.dyno");
        // More than the header, which is there before the plan.
        process.wait_until("records on disk", || {
            std::fs::metadata(&records).is_ok_and(|file| file.len() > 300)
        });
        // Anywhere in the run, which takes about half a second.
        let moment = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 500;
        std::thread::sleep(Duration::from_millis(moment));
        process.signal(Signal::KILL);
        let ended = process.end();
        let complete = ended.status.is_some();
        let resumed = run(place.dyno("bench --resume run --json --quiet"));
        if complete || place.frames().iter().filter(|f| matches!(f, Frame::RunEnd(_))).count() > 1 {
            // It was quicker than the signal.
            resumed.expect_status(&[2]).expect_words(&["complete", "dyno report"]);
        } else if resumed.status == Some(2) {
            assert!(resumed.stderr.contains("is complete"), "{}", resumed.said());
        } else {
            let resumed = resumed.expect_measured();
            expect_whole(&resumed.json());
        }
        let again = run(place.dyno("report run --json")).expect_status(&[0]);
        expect_whole(&again.json());
        let starts = place.frames().iter().filter(|f| matches!(f, Frame::LevelStart(_))).count();
        assert!(starts == 6 || starts == 7, "{starts} starts: a finished level was run again");
    }
}

#[test]
fn a_sweep_goes_on_with_the_levels_that_it_would_have_chosen() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = "--sweep=6 --duration 600ms --output-tokens 16 --drain 2s";
    let mut process = Process::start(place.bench(&engine.url(), args));
    let records = place.run_dir().join("records.dyno");
    let ends = |place: &Place| {
        place.frames().iter().filter(|frame| matches!(frame, Frame::LevelEnd(_))).count()
    };
    // A file that was only just made has no header yet.
    let begun = || std::fs::metadata(&records).is_ok_and(|file| file.len() > 200);
    process.wait_until("three levels", || begun() && ends(&place) >= 3);
    process.signal(Signal::KILL);
    process.end();
    let before = ends(&place);
    let resumed = run(place.dyno("bench --resume run --json --quiet"));
    let resumed = resumed.expect_measured();
    let summary = resumed.json();
    assert_eq!(summary["run"]["partial"], false, "{}", resumed.said());
    let levels = summary["levels"].as_array().unwrap();
    assert!(levels.len() >= 6 && ends(&place) > before, "{}", resumed.said());
    let rates: Vec<f64> = levels
        .iter()
        .filter(|level| level["load"]["kind"] == "rate")
        .map(|level| level["load"]["value"].as_f64().unwrap())
        .collect();
    assert!(rates.windows(2).all(|two| two[0] < two[1]), "none twice, in order: {rates:?}");
    let indices: Vec<u64> = levels.iter().map(|level| level["index"].as_u64().unwrap()).collect();
    let mut sorted = indices.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), levels.len(), "each level once: {indices:?}");
}

#[test]
fn another_plan_is_refused_and_the_difference_named() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let mut process = Process::start(
        place.bench(&engine.url(), "--concurrency 4 --requests 100000 --output-tokens 16"),
    );
    let records = place.run_dir().join("records.dyno");
    process.wait_until("records on disk", || {
        std::fs::metadata(&records).is_ok_and(|file| file.len() > 2_000)
    });
    process.signal(Signal::KILL);
    process.end();
    let rest = "to resume: dyno bench --resume";
    let report = run(place.dyno("report run")).expect_status(&[0]);
    let report = report.expect_words(&[&format!("{rest} run")]);
    assert!(report.stdout.contains("0 of 1 planned levels are complete"), "{}", report.said());
    let listed = run(place.dyno("runs")).expect_status(&[0]);
    let listed = listed.expect_words(&[rest, "/run"]);
    assert!(listed.stdout.contains("unfinished"), "{}", listed.said());
    // By the name that its records have, too.
    let id = run(place.dyno("report run --json")).json()["run"]["id"].as_str().unwrap().to_owned();
    run(place.dyno(&format!("bench --resume {id} --dry-run"))).expect_status(&[0]);
    let url = engine.url();
    let other =
        format!("bench {url} --concurrency 8 --requests 40 --output-tokens 16 --resume run");
    run(place.dyno(&other)).expect_status(&[2]).expect_words(&[
        "--resume: the plan of `run` differs",
        "levels[0].requests is 100000 in the run and 40 in the arguments",
    ]);
    run(place.dyno("bench http://127.0.0.1:9 --resume run"))
        .expect_status(&[2])
        .expect_words(&["this run measured"]);
    run(place.dyno("bench --resume nowhere"))
        .expect_status(&[2])
        .expect_words(&["no run is called `nowhere`"]);
}

#[test]
fn a_search_is_gone_on_with_by_its_own_plan_and_no_other() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let url = engine.url();
    let mut process = Process::start(place.dyno(&format!(
        "capacity {url} --slo ttft.p50<1s --requests 100000 --output-tokens 16 --out run --quiet"
    )));
    let records = place.run_dir().join("records.dyno");
    process.wait_until("records on disk", || {
        std::fs::metadata(&records).is_ok_and(|file| file.len() > 2_000)
    });
    process.signal(Signal::KILL);
    process.end();
    for other in ["ttft.p50<2s --output-tokens 16", "ttft.p50<1s --over concurrency"] {
        run(place.dyno(&format!("capacity {url} --slo {other} --resume run")))
            .expect_status(&[2])
            .expect_words(&["--resume: the plan of `run` differs"]);
    }
    engine_is_asked_again(&place, &engine);
}

/// Without a plan on the command line the stored one holds, and the run goes on.
fn engine_is_asked_again(place: &Place, engine: &Engine) {
    let before = engine.begun();
    let mut process = Process::start(place.dyno("capacity --resume run --quiet"));
    process.wait_until("more requests", || engine.begun() > before + 100);
    process.signal(Signal::KILL);
    process.end();
}

#[test]
fn a_server_that_died_is_named_and_the_rest_is_run_when_it_is_back() {
    let place = Place::new();
    let mut engine = EngineProcess::with(&place, &format!("--scripted {QUICK} --die-after 25"));
    let ended = run(place.bench(&engine.url(), SIX_LEVELS))
        .expect_status(&[3])
        .expect_words(&["the target is unusable", "the last request with a response was number"]);
    let summary = ended.json();
    let notes = codes(&summary["notes"]);
    assert!(notes.contains(&"target_lost".to_owned()), "{notes:?}");
    let whole = |level: &Value| level["ending"] == "requests";
    let finished = summary["levels"].as_array().unwrap().iter().filter(|l| whole(l)).count();
    assert!((1..6).contains(&finished), "{summary:#}");
    engine.kill();
    // The run was made with --out, and is listed nevertheless.
    let listed = run(place.dyno("runs")).expect_status(&[0]).stdout;
    assert!(listed.contains("target lost"), "{listed}");
    let dry = run(place.dyno("bench --resume latest --dry-run")).expect_status(&[0]).stdout;
    let left = format!(": {finished} finished, left: ");
    assert!(dry.starts_with("6 levels:") && dry.contains(&left), "{dry}");
    let plan = place.json("plan.json");
    let address = plan["target"]["url"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    let back = EngineProcess::with(
        &place,
        &format!("--scripted {QUICK} --port {}", address.trim_end_matches('/')),
    );
    let resumed = run(place.dyno("bench --resume run --json --quiet")).expect_measured();
    expect_whole(&resumed.json());
    drop(back);
}

#[test]
fn a_server_that_hangs_is_given_up_when_its_health_is_not_answered() {
    let place = Place::new();
    let engine = EngineProcess::with(&place, &format!("--scripted {QUICK} --hang-after 20"));
    let args = format!("{SIX_LEVELS} --timeout-idle 1s");
    let ended = run(place.bench(&engine.url(), &args))
        .expect_status(&[3])
        .expect_words(&["the target is unusable", "no response to /health"]);
    let summary = ended.json();
    assert!(codes(&summary["notes"]).contains(&"target_lost".to_owned()), "{summary:#}");
    let first = &summary["levels"][0];
    assert_eq!(first["requests"]["completed"], 5);
}

/// A run of a data file that was killed in its first level.
fn killed_on(place: &Place, engine: &Engine, args: &str) {
    let mut process = Process::start(place.bench(&engine.url(), args));
    let records = place.run_dir().join("records.dyno");
    process.wait_until("records on disk", || {
        std::fs::metadata(&records).is_ok_and(|file| file.len() > 2_000)
    });
    process.signal(Signal::KILL);
    process.end();
}

#[test]
fn a_plan_that_is_not_that_of_the_records_is_refused() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    killed_on(&place, &engine, "--concurrency 4 --requests 100000 --output-tokens 16");
    let path = place.run_dir().join("plan.json");
    let plan = std::fs::read_to_string(&path).unwrap();
    let begun = engine.begun();
    let url = engine.url();
    let edits = [
        (url.as_str(), "http://127.0.0.1:9"),
        ("\"spec\": null", "\"spec\": \"lines:/etc/hostname\""),
        ("\"drain_ns\": 30000000000", "\"drain_ns\": 18446744073709551615"),
    ];
    for (from, to) in edits {
        assert!(plan.contains(from), "{from}: {plan}");
        std::fs::write(&path, plan.replace(from, to)).unwrap();
        let mut command = place.dyno("bench --resume run");
        command.env("DYNO_API_KEY", "open-sesame");
        let words =
            ["--resume: the records in", "another plan than its plan.json", "put the original"];
        run(command).expect_status(&[2]).expect_words(&words);
    }
    std::fs::write(&path, &plan).unwrap();
    run(place.dyno("bench --resume run --dry-run")).expect_status(&[0]);
    assert_eq!(engine.begun(), begun, "nothing was sent");
}

#[test]
fn a_copied_run_is_resumed_only_with_its_target_typed() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let data = place.file("prompts.txt", "one\ntwo\nthree\n");
    let args = format!("--data lines:{data} --concurrency 2 --requests 30000 --output-tokens 16");
    killed_on(&place, &engine, &args);
    let copy = place.run_dir().with_file_name("copy");
    std::fs::create_dir(&copy).unwrap();
    for (name, bytes) in place.files() {
        std::fs::write(copy.join(name), bytes).unwrap();
    }
    let begun = engine.begun();
    run(place.dyno("bench --resume copy")).expect_status(&[2]).expect_words(&[
        "`copy` is a copy, or was made by somebody else, and would send the prompts of `lines:",
        &format!("and your key to {}", engine.url()),
        &format!("name the target: dyno bench {} --resume copy", engine.url()),
    ]);
    assert_eq!(engine.begun(), begun, "nothing was sent");
    let typed = format!("bench {} --resume copy --dry-run", engine.url());
    run(place.dyno(&typed)).expect_status(&[0]).expect_words(&["resuming: target"]);
    run(place.dyno("bench --resume run --dry-run")).expect_status(&[0]);
}

#[test]
fn a_data_file_that_changed_before_a_resume_is_refused() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let data = place.file("prompts.txt", "one\ntwo\nthree\n");
    let args = format!("--data lines:{data} --concurrency 2 --requests 30000 --output-tokens 16");
    killed_on(&place, &engine, &args);
    let begun = engine.begun();
    place.file("prompts.txt", "one\ntwo\nthrEE\n");
    run(place.dyno("bench --resume run"))
        .expect_status(&[2])
        .expect_words(&["prompts.txt` is not the file with which this run began"]);
    assert!(engine.begun() <= begun + 3, "nothing but a preflight was sent");
}

#[test]
fn a_data_file_that_changes_between_levels_ends_the_run() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let data = place.file("prompts.txt", "one\ntwo\nthree\n");
    let args = format!(
        "--data lines:{data} --concurrency 2,3 --requests 40 --output-tokens 16 --cooldown 2s"
    );
    let mut process = Process::start(place.bench(&engine.url(), &args));
    let records = place.run_dir().join("records.dyno");
    let begun = || std::fs::metadata(&records).is_ok_and(|file| file.len() > 200);
    process.wait_until("the first level", || begun() && !place.level_ends().is_empty());
    place.file("prompts.txt", "four\nfive\nsix\n");
    let ended = process.end().expect_status(&[2]);
    let ended =
        ended.expect_words(&["--data: ", "prompts.txt` changed while the run was going on"]);
    assert!(!ended.stderr.contains("event loop"), "{}", ended.said());
    assert_eq!(place.level_ends().len(), 1, "{}", ended.said());
}
