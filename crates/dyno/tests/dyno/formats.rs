//! What version 0.1.0 wrote is read by today's program, and every word that it prints of it is the
//! word of then. The files are in `tests/fixtures/v0.1`; its README says how they were made.
//!
//! `EXPECTED_BY=BINARY` writes what that binary prints instead of comparing. It is meant for a
//! change of wording; a difference in `summary.json` is a broken format, and nothing rewrites that. Only
//! verdicts are by today's rule.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Results that are whole, one of each kind of load, and other tools' as they were kept.
const WHOLE: [&str; 16] = [
    "burst",
    "capacity",
    "closed",
    "failures",
    "imported-requests/vllm-detailed-1",
    "imported/mixed-1",
    "imported/mixed-2",
    "imported/mixed-3",
    "options",
    "predicted",
    "ramp",
    "rate-slo",
    "sessions",
    "trace",
    "versus-a",
    "versus-b",
];
/// One that was killed.
const PARTIAL: &str = "partial";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v0.1")
}

fn rewriting() -> Option<String> {
    std::env::var("EXPECTED_BY").ok()
}

/// What the program prints, and its exit status; run among the fixtures.
fn printed(args: &str) -> (String, i32) {
    let program = rewriting().unwrap_or_else(|| env!("CARGO_BIN_EXE_dyno").to_owned());
    let output = Command::new(program)
        .args(args.split(' '))
        .current_dir(fixtures())
        .env_clear()
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let status = output.status.code().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(!stdout.is_empty(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
    (stdout, status)
}

/// Holds `text` against a file of the fixtures.
fn same(text: &str, file: &str, what: &str) {
    let mut wanted = std::fs::read_to_string(fixtures().join(file)).unwrap();
    if !wanted.ends_with('\n') {
        wanted.push('\n');
    }
    let differs = text.lines().zip(wanted.lines()).position(|(is, was)| is != was);
    let line = differs.unwrap_or_else(|| text.lines().count().min(wanted.lines().count()));
    let at = |text: &str| text.lines().nth(line).unwrap_or("(the end)").to_owned();
    assert!(
        text == wanted,
        "{what}: not as {file} from line {}\n  then: {}\n  now:  {}",
        line + 1,
        at(&wanted),
        at(text),
    );
}

/// Holds what is printed, without the lines that `changing` names, against `expected/FILE`.
fn as_then(args: &str, status: i32, file: &str, changing: &[&str]) {
    let (text, ended) = printed(args);
    assert_eq!(ended, status, "{args}: the exit status\n{text}");
    let stays = |line: &&str| !changing.iter().any(|start| line.starts_with(start));
    let text: String = text.split_inclusive('\n').filter(stays).collect();
    rewrite(file, &text);
    same(&text, &format!("expected/{file}"), args);
}

/// Rewrites `expected/FILE` if asked to.
fn rewrite(file: &str, text: &str) {
    if rewriting().is_some() {
        std::fs::write(fixtures().join("expected").join(file), text).unwrap();
    }
}

/// What follows from rules, which apply to old records as they are today.
const JUDGED: [&str; 6] = ["verdict", "reasons", "notes", "passed", "met", "outcome"];

/// What is defined differently since then: the work in the steady window is spread over the time in which
/// it was done, and costs follow from it. In runs of a few requests that changes much, and a killed level may have no
/// window any more.
const REDEFINED: [&str; 2] = ["steady", "cost"];

/// Whether a value is what it was, or is still a number, or none, where its definition has changed.
fn is_as_then(then: &Value, now: &Value, place: &str) -> bool {
    let redefined = place.split('.').any(|name| REDEFINED.contains(&name));
    then == now || redefined && (then.is_number() && now.is_number() || now.is_null())
}

/// All that was written then is there now, under its name and with its value. What is new beside it
/// is no matter.
fn still_there(then: &Value, now: &Value, place: &str) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (name, then) in then.iter().filter(|(name, _)| !JUDGED.contains(&name.as_str())) {
                let now = now.get(name).unwrap_or_else(|| panic!("{place}: {name} is gone"));
                still_there(then, now, &format!("{place}.{name}"));
            }
        }
        (Value::Array(then), Value::Array(now)) => {
            assert_eq!(then.len(), now.len(), "{place}");
            for (at, (then, now)) in then.iter().zip(now).enumerate() {
                still_there(then, now, &format!("{place}[{at}]"));
            }
        }
        _ => assert!(is_as_then(then, now, place), "{place}: {then}, now {now}"),
    }
}

#[test]
fn figures_are_the_same_numbers_under_the_same_names() {
    for run in WHOLE {
        let (json, status) = printed(&format!("report runs/{run} --format json"));
        assert_eq!(status, 0, "{run}");
        let saved = std::fs::read_to_string(fixtures().join(format!("runs/{run}/summary.json")));
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        still_there(&read(&saved.unwrap()), &read(&json), run);
    }
    let (json, status) = printed("report runs/partial --format json");
    assert_eq!(status, 0);
    let then = std::fs::read_to_string(fixtures().join("expected/partial.json")).unwrap();
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    still_there(&read(&then), &read(&json), "partial");
}

#[test]
fn reports_are_the_same_words() {
    for run in WHOLE.into_iter().chain([PARTIAL]) {
        let report = format!("report runs/{run}");
        let run = run.replace('/', "-");
        as_then(&format!("{report} --format table"), 0, &format!("{run}.txt"), &[]);
        as_then(&format!("{report} --format markdown"), 0, &format!("{run}.md"), &[]);
        as_then(&format!("{report} --lang zh"), 0, &format!("{run}.zh.txt"), &[]);
    }
}

#[test]
fn rows_are_the_same_columns() {
    let runs = WHOLE.map(|run| format!(" runs/{run}")).concat();
    same_columns(&format!("report{runs} --format csv"), "levels.csv");
    for run in ["failures", "sessions", "trace"] {
        let rows = format!("report runs/{run} --format csv --per-request");
        same_columns(&rows, &format!("{run}.requests.csv"));
    }
}

/// Every column holds what it held. New ones stand behind them.
fn same_columns(args: &str, file: &str) {
    let (text, status) = printed(args);
    assert_eq!(status, 0, "{args}");
    rewrite(file, &text);
    let then = std::fs::read_to_string(fixtures().join("expected").join(file)).unwrap();
    assert_eq!(text.lines().count(), then.lines().count(), "{args}");
    for (now, then) in text.lines().zip(then.lines()) {
        let (now, then) = (now.trim_end_matches('\r'), then.trim_end_matches('\r'));
        assert!(now == then || now.starts_with(&format!("{then},")), "{args}\n{then}\n{now}");
    }
}

#[test]
fn runs_are_compared() {
    for (file, status, what) in [
        ("compare-turns", 0, "runs/versus-a runs/versus-b"),
        ("compare-loads", 0, "runs/predicted runs/capacity --slo ttft.p50<400ms"),
        ("compare-saved", 0, "baselines/main.json runs/closed/summary.json runs/sessions"),
        // No load is common to them, so a table would not be printed.
        ("compare-imported", 6, "runs/imported runs/imported-requests --format markdown"),
    ] {
        as_then(&format!("compare {what}"), status, &format!("{file}.txt"), &[]);
    }
}

#[test]
fn runs_are_held_against_the_baseline() {
    let saved = "--baseline main --baselines baselines --max-regression 5%";
    as_then(&format!("gate runs/closed {saved}"), 6, "gate-saved.txt", &[]);
    as_then(&format!("gate runs/closed {saved} --json"), 6, "gate-saved.json", &[]);
    let better = "gate runs/versus-b --baseline runs/versus-a --max-regression 5%";
    as_then(better, 0, "gate-better.txt", &[]);
    let worse = "gate runs/versus-a --baseline runs/versus-b --max-regression 5%";
    as_then(worse, 5, "gate-worse.txt", &[]);
    as_then("baseline list --baselines baselines", 0, "baseline-list.txt", &[]);
}

#[test]
fn results_are_checked() {
    let runs = WHOLE.map(|run| format!(" runs/{run}")).concat();
    as_then(&format!("lint{runs} runs/{PARTIAL}"), 0, "lint.txt", &[]);
    as_then(&format!("lint{runs} --lang zh"), 0, "lint.zh.txt", &[]);
    as_then(&format!("lint{runs} --format json"), 0, "lint.json", &[]);
}

/// What a twin foretells does not depend on the clock; when it was asked does.
#[test]
fn the_twin_foretells_what_it_did() {
    as_then("twins show twin.toml", 0, "twin.txt", &[]);
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("run");
    let load = "--concurrency 1,8 --requests 40 --input-tokens 64 --output-tokens 16 --seed 7";
    let ask = format!("predict --twin twin.toml {load} --report none --out {}", out.display());
    as_then(&ask, 0, "predict.txt", &["run  ", "started  "]);
}

#[test]
fn a_run_that_was_killed_is_resumed() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("partial");
    std::fs::create_dir(&run).unwrap();
    for file in std::fs::read_dir(fixtures().join("runs/partial")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), run.join(file.file_name())).unwrap();
    }
    let summary = |command: &str| -> (Value, i32) {
        let (json, status) = printed(&format!("{command} {} --json", run.display()));
        (serde_json::from_str(&json).unwrap(), status)
    };
    let (before, reported) = summary("report");
    let (after, resumed) = summary("bench --report none --quiet --resume");
    // The machine may be too busy for the levels that are run now; the exit status says so.
    let invalid = |level: &Value| level["verdict"] == "invalid";
    let right = if after["levels"].as_array().unwrap().iter().any(invalid) { 4 } else { 0 };
    assert_eq!((reported, resumed), (0, right), "{after}");
    assert_eq!(
        (&before["run"]["partial"], &after["run"]["partial"]),
        (&true.into(), &false.into())
    );
    for kept in ["id", "plan_hash", "seed", "started"] {
        assert_eq!(before["run"][kept], after["run"][kept], "{kept}");
    }
    assert_eq!(before["levels"][0], after["levels"][0], "the level that was over");
    let levels: Vec<_> = after["levels"].as_array().unwrap().iter().collect();
    let labels: Vec<_> = levels.iter().map(|level| level["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["concurrency 1", "concurrency 2", "concurrency 3"]);
    for level in levels {
        assert_eq!(level["requests"]["completed"], 8, "{level}");
    }
}

/// A fixture that no test reads would keep nothing readable.
#[test]
fn every_run_is_read() {
    let names = |folder: &str| -> Vec<String> {
        let kept = std::fs::read_dir(fixtures().join(folder)).unwrap();
        kept.map(|one| one.unwrap().file_name().into_string().unwrap()).collect()
    };
    let mut kept = names("runs");
    for imported in ["imported", "imported-requests"] {
        kept.retain(|run| run != imported);
        let each = names(&format!("runs/{imported}"));
        kept.extend(each.iter().map(|run| format!("{imported}/{run}")));
    }
    kept.sort();
    let mut read: Vec<_> = WHOLE.into_iter().chain([PARTIAL]).collect();
    read.sort_unstable();
    assert_eq!(kept, read);
}
