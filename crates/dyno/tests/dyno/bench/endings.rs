//! What a program and a person read last: the lines of `--progress json`, and why the exit status is
//! not 0. In virtual time, so that nothing depends on the machine.

use crate::bench::place::Place;
use crate::bench::predict::TWIN;
use crate::bench::process::{Ended, run};
use crate::bench::web::{self, Seen, Web};
use serde_json::Value;
use std::time::Duration;

const LOAD: &str = "--requests 200 --input-tokens 64 --output-tokens 11";

/// A command whose last arguments hold blanks.
fn with(place: &Place, args: &str, last: &[&str]) -> Ended {
    let mut command = place.dyno(args);
    command.args(last);
    run(command)
}

/// The last line on stderr, where messages are not cut to a width.
fn last_line(ended: &Ended) -> &str {
    ended.stderr.lines().last().unwrap_or_default()
}

/// Events with these names, in order.
fn events(ended: &Ended) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    ended.stderr.lines().map(parse).collect()
}

fn name(event: &Value) -> &str {
    event["event"].as_str().unwrap()
}

#[test]
fn progress_is_json_from_the_first_line_to_the_last() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let args = format!("predict --twin {twin} --concurrency 8,16 {LOAD} --out run --json");
    let slo = ["--slo", "ttft.p90<100ms", "--progress", "json"];
    let ended = with(&place, &args, &slo).expect_status(&[0]);
    let all = events(&ended);
    let names: Vec<&str> = all.iter().map(name).collect();
    let rest: Vec<&str> = names.iter().copied().filter(|name| *name != "message").collect();
    let (levels, over) = rest.split_at(rest.len() - 2);
    assert_eq!(levels[0], "run_begins", "{}", ended.said());
    assert_eq!(over, ["run_saved", "run_ends"], "{}", ended.said());
    for kind in ["level_begins", "level_ends"] {
        assert_eq!(levels.iter().filter(|name| **name == kind).count(), 2, "{names:?}");
    }
    let of = |kind: &str| all.iter().find(|event| name(event) == kind).unwrap();
    assert_eq!(of("run_begins")["schema"], "dyno.progress/1");
    assert_eq!(of("run_begins")["levels"], 2);
    assert_eq!(of("run_saved")["directory"], "run");
    // It is the last line; the reason, a message like any other, comes before it.
    assert_eq!(names.last(), Some(&"run_ends"));
    assert_eq!(of("run_ends")["status"], 0);
    let why = all.iter().rev().find(|event| name(event) == "message").unwrap();
    assert_eq!(why["kind"], "remark");
    assert!(why["text"].as_str().unwrap().starts_with("exit status 0: "), "{why}");
    assert_eq!(ended.json()["levels"].as_array().unwrap().len(), 2, "the result is on stdout");
    // The keys are documented.
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/progress.md");
    let reference = std::fs::read_to_string(reference).unwrap();
    for event in &all {
        for key in event.as_object().unwrap().keys() {
            assert!(reference.contains(&format!("`{key}`")), "`{key}` of {event}");
        }
    }
}

#[test]
fn progress_is_json_where_the_run_fails() {
    let server = Web::start(|_: &Seen| web::json("401 Unauthorized", "{\"error\": \"no key\"}"));
    let place = Place::new();
    let args = format!("bench {} --concurrency 1 --requests 2 --out run", server.url());
    let ended = with(&place, &args, &["--progress", "json"]).expect_status(&[3]);
    let all = events(&ended);
    let failed = |event: &&Value| name(event) == "message" && event["kind"] == "error";
    assert!(all.iter().any(|event| failed(&event)), "{}", ended.said());
    let last = all.last().unwrap();
    assert_eq!((name(last), &last["status"]), ("run_ends", &3.into()), "{}", ended.said());
}

/// C2, C17: the last line says what the exit status is for.
#[test]
fn the_last_line_of_a_run_says_why_it_ends_so() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let ended = |load: &str, slo: &str, status: i32| {
        let _ = std::fs::remove_dir_all(place.run_dir());
        let args = format!("predict --twin {twin} {load} {LOAD} --out run");
        with(&place, &args, &["--slo", slo]).expect_status(&[status])
    };
    let slo = "ttft.p90<100ms";
    let missed = ended("--concurrency 16", slo, 5);
    assert_eq!(last_line(&missed), "exit status 5: the SLO ttft.p90<100ms was missed");
    let all = ended("--concurrency 16,24", slo, 5);
    assert_eq!(last_line(&all), "exit status 5: the SLO ttft.p90<100ms was missed at all 2 levels");
    let met = ended("--concurrency 8", slo, 0);
    assert!(!met.stderr.contains("exit status"), "{}", met.said());
    // Just above the slowest of 200: too few for a p99.
    let slowest = place.json("summary.json")["levels"][0]["ttft_ms"]["max"].as_f64().unwrap();
    let near = format!("ttft.p99<{}us", (slowest * 1.1e3).round());
    let open = ended("--concurrency 8", &near, 6);
    let slo = place.json("plan.json")["slo"].as_str().unwrap().to_owned();
    let words =
        format!("exit status 6: the measurements do not decide whether the SLO {slo} is met");
    assert_eq!(last_line(&open), words);
}

#[test]
fn levels_that_miss_the_slo_are_mentioned_although_the_status_is_0() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let args = format!("predict --twin {twin} --concurrency 8,16 {LOAD} --out run");
    let ended = with(&place, &args, &["--slo", "ttft.p90<100ms"]).expect_status(&[0]);
    let words = "exit status 0: the SLO ttft.p90<100ms was met at 1 of 2 levels; 5 means that no \
                 level meets it";
    assert_eq!(last_line(&ended), words, "{}", ended.said());
}

#[test]
fn the_last_line_of_a_gate_says_why() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let slow = place.file("slow.toml", &TWIN.replace("base_ms = 20", "base_ms = 30"));
    for (out, twin, seed) in [("a", &twin, 1), ("same", &twin, 2), ("slow", &slow, 3)] {
        let load = "--concurrency 4 --repeat 3";
        let args = format!("predict --twin {twin} {load} {LOAD} --seed {seed} --out {out} --quiet");
        run(place.dyno(&args)).expect_status(&[0]);
    }
    let gate = |run_name: &str, most: &str, status: i32| {
        let args = format!("gate {run_name} --baseline a --max-regression {most}");
        run(place.dyno(&args)).expect_status(&[status])
    };
    let fails = gate("slow", "5%", 5);
    let said = last_line(&fails);
    assert!(said.starts_with("exit status 5: ") && said.ends_with(" checks failed"), "{said}");
    let passes = gate("same", "20%", 0);
    assert!(!passes.stderr.contains("exit status"), "{}", passes.said());
    // A load of the baseline is missing.
    let load = "--concurrency 2 --repeat 3";
    run(place.dyno(&format!("predict --twin {twin} {load} {LOAD} --out other --quiet")))
        .expect_status(&[0]);
    let said = gate("other", "5%", 6);
    assert_eq!(last_line(&said), "exit status 6: 1 load of the baseline is missing");
}

/// C2, C7: a rough search in virtual time, and the reason where it finds nothing.
#[test]
fn a_quick_capacity_has_few_levels_and_says_why_it_ends() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let search = |flags: &str, slo: &str| {
        let _ = std::fs::remove_dir_all(place.run_dir());
        let args = format!("capacity --predict --twin {twin} {flags} --out run");
        with(&place, &args, &["--input-tokens", "64", "--output-tokens", "11", "--slo", slo])
    };
    let measured = || {
        let summary = place.json("summary.json");
        let levels = summary["levels"].as_array().unwrap().clone();
        let took: f64 = levels.iter().map(|level| level["duration_s"].as_f64().unwrap()).sum();
        (levels.len(), took, summary["search"].clone())
    };
    // Eight at once, 20 + 10 × 28 ms each: 26.7 per second.
    let slo = "ttft.p90<200ms";
    search("--quick", slo).expect_status(&[0]);
    let (levels, took, quick) = measured();
    assert!(levels <= 7 && took < 200.0, "{levels} levels of {took} s");
    let ends = |found: &Value| ["holds", "does_not_hold"].map(|end| found[end].as_f64().unwrap());
    let [low, high] = ends(&quick);
    assert!(5.0 < low && low < high && high < 40.0, "{quick}");
    search("", slo).expect_status(&[0]);
    let (more_levels, longer, _) = measured();
    assert!(more_levels >= levels && longer > 2.0 * took, "{more_levels}, {longer} s");
    let never = search("--quick", "ttft.p90<1ms").expect_status(&[5]);
    let words = "exit status 5: no load that was tried meets the SLO ttft.p90<1ms";
    assert_eq!(last_line(&never), words, "{}", never.said());
}

/// C19: 30 s of silence, where a server accepts and never answers.
#[test]
fn a_server_that_does_not_answer_is_named_after_three_seconds() {
    let server = Web::start(|request: &Seen| {
        if request.is("GET /v1/models") {
            std::thread::sleep(Duration::from_millis(4_500));
        }
        web::openai(request)
    });
    let place = Place::new();
    let load = "--concurrency 1 --requests 2 --output-tokens 4";
    let args = format!("bench {} {load} --out run", server.url());
    let ended = run(place.dyno(&args)).expect_measured();
    let said: Vec<&str> = ended.stderr.split_whitespace().collect();
    let said = said.join(" ");
    let words = format!("note: no response yet from {} to GET /v1/models; waiting", server.url());
    assert!(said.contains(&words), "{}", ended.said());
}
