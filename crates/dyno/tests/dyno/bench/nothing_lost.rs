//! Whatever ends a run, what was measured until then is kept and can be reported: kill -9, a
//! server that dies, a disk that is full.

use crate::bench::engines::{Engine, EngineProcess, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::process::{Process, run};
use rustix::process::Signal;

#[test]
fn after_kill_9_the_finished_requests_are_reported() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = "--concurrency 8 --requests 100000 --output-tokens 16";
    let mut process = Process::start(place.bench(&engine.url(), args));
    // Two kilobytes hold a header and many records.
    let records = place.run_dir().join("records.dyno");
    process.wait_until("records on disk", || {
        std::fs::metadata(&records).is_ok_and(|file| file.len() > 4_000)
    });
    process.signal(Signal::KILL);
    let ended = process.end();
    assert_eq!(ended.status, None, "{}", ended.said());
    assert!(!place.run_dir().join("summary.json").exists());

    let report = run(place.dyno("report run --json")).expect_status(&[0]);
    let summary = report.json();
    assert_eq!(summary["run"]["partial"], true, "{}", report.said());
    let level = &summary["levels"][0];
    assert_eq!(level["partial"], true, "{}", report.said());
    let completed = level["requests"]["completed"].as_u64().unwrap();
    let begun = engine.begun();
    assert!(0 < completed && completed <= begun, "{completed} of {begun}: {}", report.said());
    assert!(codes(&level["reasons"]).contains(&"partial".to_owned()), "{}", report.said());

    let text = run(place.dyno("report run")).expect_status(&[0]);
    assert!(text.stdout.to_lowercase().contains("partial"), "{}", text.said());
}

#[test]
fn a_server_that_dies_in_mid_run() {
    let place = Place::new();
    let mut engine = EngineProcess::start(&place, QUICK);
    let args = "--concurrency 8,16 --requests 100000 --output-tokens 16";
    let mut process = Process::start(place.bench(&engine.url(), args));
    process.wait_until("requests under way", || engine.begun() >= 50);
    engine.kill();
    let ended = process.end().expect_status(&[3]).expect_words(&[
        "no connection could be opened for 3s",
        "connect",
        "refused",
    ]);
    let summary = ended.json();
    assert_eq!(summary["run"]["ending"], "target_lost", "{}", ended.said());
    let level = &summary["levels"][0];
    assert!(level["requests"]["completed"].as_u64().unwrap() >= 30, "{}", ended.said());
    let failures = level["requests"]["failures"].as_object().unwrap();
    assert!(failures["connect"].as_u64().unwrap() >= 10, "{}", ended.said());
    let known = |class: &String| class == "connect" || class == "stream.reset";
    assert!(failures.keys().all(known), "{}", ended.said());
    assert_eq!(place.json("summary.json"), summary);
}

#[test]
fn a_full_disk_is_named_and_the_rest_of_the_run_is_kept() {
    let engine = Engine::start("ttft=1ms,itl=0ms,tokens=16", &[]);
    let place = Place::new();
    // A file may grow to 64 KiB (128, where the shell counts in kilobytes) and then no further:
    // room for everything but the records.
    let limits = "trap '' XFSZ; ulimit -f 128";
    let args = "--concurrency 8 --requests 1500 --output-tokens 16 --save-text";
    let ended = run(place.bench_within(limits, &engine.url(), args))
        .expect_status(&[1])
        .expect_words(&["error: ", "records.dyno", "ulimit -f"]);
    let summary = ended.json();
    // What the disk did not take was kept in memory, and is in the summary.
    assert_eq!(summary["run"]["partial"], false, "{}", ended.said());
    assert_eq!(summary["levels"][0]["requests"]["completed"], 1500, "{}", ended.said());
    assert_eq!(place.json("summary.json"), summary);
    // The records alone tell what they hold, and that they are not all.
    let stored = place.requests().len() as u64;
    assert!(0 < stored && stored < 1500, "{stored} stored");
    let report = run(place.dyno("report run --json")).expect_status(&[0]);
    assert_eq!(report.json()["run"]["partial"], true, "{}", report.said());
    assert_eq!(report.json()["levels"][0]["requests"]["completed"], stored);
}

#[test]
fn a_summary_that_cannot_be_written_is_told_all_the_same() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    // Room for plan, environment and the few records, not for the summary.
    let limits = "trap '' XFSZ; ulimit -f 4";
    let args = "--concurrency 2 --requests 4 --output-tokens 16";
    let ended = run(place.bench_within(limits, &engine.url(), args))
        .expect_status(&[1])
        .expect_words(&["error: ", "summary.json"]);
    assert_eq!(ended.json()["levels"][0]["requests"]["completed"], 4, "{}", ended.said());
    assert!(!place.run_dir().join("summary.json").exists());
    let report = run(place.dyno("report run --json")).expect_status(&[0]);
    assert_eq!(report.stdout, ended.stdout);
}

#[test]
fn nothing_is_sent_if_nothing_can_be_recorded() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = "--concurrency 2 --requests 4 --output-tokens 16";
    run(place.bench_within("trap '' XFSZ; ulimit -f 0", &engine.url(), args))
        .expect_status(&[2])
        .expect_words(&["--out", "cannot write run/plan.json"]);
    assert_eq!(engine.begun(), 5, "only the prompts of the preflight were sent");
}

#[test]
fn a_report_is_the_same_bytes_each_time() {
    let engine = Engine::start(QUICK, &["http-500:every=9"]);
    let place = Place::new();
    let line = format!(
        "bench {} --out run --quiet --concurrency 2,8 --requests 40 --output-tokens 16 --label twice",
        engine.url()
    );
    let bench = run(place.dyno(&line)).expect_unless_invalid(5);
    let first = run(place.dyno("report run")).expect_status(&[0]);
    let second = run(place.dyno("report run")).expect_status(&[0]);
    assert_eq!(first.stdout, bench.stdout, "{}", bench.said());
    assert_eq!(first.stdout, second.stdout);
    // From the records alone: without the summary it says the same.
    let written = std::fs::read_to_string(place.run_dir().join("summary.json")).unwrap();
    std::fs::remove_file(place.run_dir().join("summary.json")).unwrap();
    assert_eq!(run(place.dyno("report run")).stdout, first.stdout);
    assert_eq!(run(place.dyno("report run --json")).stdout, written);
}

#[test]
fn without_a_directory_the_latest_run_is_reported() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    for label in ["older", "newer"] {
        let line = format!(
            "bench {} --quiet --json --concurrency 2 --requests 4 --label {label}",
            engine.url()
        );
        run(place.dyno(&line)).expect_measured();
        if label == "older" {
            // The names of runs tell them apart by the second.
            std::thread::sleep(std::time::Duration::from_millis(1_050));
        }
    }
    let report = run(place.dyno("report --json")).expect_status(&[0]);
    assert_eq!(report.json()["run"]["label"], "newer", "{}", report.said());
}

/// L6: records that somebody else wrote into, and a report that cannot be written, are not a success.
#[test]
fn damaged_records_and_missing_reports_have_a_status() {
    let engine = Engine::start(QUICK, &[]);
    let args = "--concurrency 2 --requests 60 --output-tokens 16 --report html";
    for damages in [true, false] {
        let place = Place::new();
        let mut process = Process::start(place.bench(&engine.url(), args));
        let records = place.run_dir().join("records.dyno");
        process.wait_until("records on disk", || {
            std::fs::metadata(&records).is_ok_and(|file| file.len() > 2_000)
        });
        let words = match damages {
            true => {
                let file = std::fs::OpenOptions::new().append(true).open(&records);
                std::io::Write::write_all(&mut file.unwrap(), &[0xab; 300]).unwrap();
                "the records of this run were damaged"
            }
            false => {
                std::fs::create_dir(place.run_dir().join("report.html")).unwrap();
                "report.html was not written"
            }
        };
        let ended = process.end().expect_status(&[1]);
        ended.expect_words(&[words]);
    }
}
