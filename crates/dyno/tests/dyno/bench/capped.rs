//! `--max-concurrency`: what is due beyond it waits in the client, is counted, and hides nothing. And
//! what a capacity search says before it sends anything.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::predict::TWIN;
use crate::bench::process::run;
use serde_json::Value;

/// The twin serves two requests at a time in 0.35 s, and eight in 0.45 s.
const LENGTHS: &str = "--input-tokens 64 --output-tokens 16";

fn predicted(command: &str, args: &str) -> Value {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let args = format!("{command} --twin {twin} --out run --json --quiet {LENGTHS} {args}");
    run(place.dyno(&args)).expect_status(&[0]);
    place.json("summary.json")
}

#[test]
fn what_waits_in_the_client_is_counted_and_hides_no_overload() {
    let summary = predicted("predict", "--rate 10 --duration 20s --max-concurrency 2");
    let level = &summary["levels"][0];
    let wait = &level["client_wait"];
    let number = |value: &Value| value.as_f64().unwrap();
    assert_eq!(level["requests"]["planned"], 200);
    assert_eq!((&level["offered_per_s"], &level["concurrency"]["peak"]), (&10.0.into(), &2.into()));
    assert_eq!(level["requests"]["censored"], wait["never_sent"]);
    assert!(number(&wait["never_sent"]) > 50.0 && number(&wait["waited"]) > 150.0, "{wait}");
    assert!(number(&wait["longest_ms"]) > number(&wait["mean_ms"]), "{wait}");
    // Counted from when they were due, requests took seconds longer than from when they were sent.
    let mean = |time: &str| number(&level[time]["mean"]);
    assert!(mean("latency_scheduled_ms") > mean("latency_ms") + 1_000.0, "{level}");
    assert_eq!(level["client"]["send_lag_ms"]["max"], 0.0, "waiting is not the client's delay");
    // By the user's wish: not invalid, but said.
    assert_eq!((&level["verdict"], &level["saturated"]), (&"suspect".into(), &true.into()));
    assert_eq!(codes(&level["reasons"]), ["no_steady_window"]);
    assert_eq!(codes(&level["notes"]).iter().filter(|code| *code == "client_wait").count(), 2);
    assert!(level["reasons"].to_string().contains("--max-concurrency"), "{}", level["reasons"]);
}

#[test]
fn a_cap_that_is_never_reached_changes_nothing_but_says_so() {
    let free = predicted("predict", "--rate 4 --duration 60s");
    let capped = predicted("predict", "--rate 4 --duration 60s --max-concurrency 40");
    let wait = capped["levels"][0]["client_wait"].clone();
    assert_eq!((&wait["waited"], &wait["mean_ms"]), (&0.into(), &Value::Null));
    assert_eq!(capped["levels"][0]["verdict"], "valid");
    let mut same = capped["levels"][0].clone();
    same.as_object_mut().unwrap().remove("client_wait");
    assert_eq!(same, free["levels"][0]);
}

#[test]
fn a_capacity_with_a_cap_is_what_the_cap_lets_through() {
    let holds = |args: &str| {
        let found = predicted("capacity --predict", &format!("--slo ttft.p95<2s {args}"));
        let most = found["levels"].as_array().unwrap().iter().map(|l| &l["concurrency"]["peak"]);
        let most = most.filter_map(Value::as_u64).max().unwrap();
        (found["search"]["holds"].as_f64().unwrap(), most)
    };
    let (free, _) = holds("");
    let (capped, most) = holds("--max-concurrency 2");
    assert!(free > 12.0 && most == 2, "{free} {most}");
    // Two at a time are 5.7 a second at most, whatever the time from sending says.
    assert!((3.0..5.9).contains(&capped), "{capped}");
}

#[test]
fn never_more_are_in_flight_than_the_cap_and_all_are_sent() {
    let engine = Engine::start("ttft=60ms,itl=1ms,tokens=8", &[]);
    let place = Place::new();
    let args = "--rate 100 --requests 60 --max-concurrency 3 --output-tokens 8";
    run(place.bench(&engine.url(), args)).expect_unless_invalid(0);
    let records = place.requests();
    assert_eq!(records.len(), 60);
    assert!(records.iter().all(|record| record.is_completed()));
    let at = |time: u64| records.iter().filter(|r| r.sent.unwrap() <= time && time < r.end).count();
    assert!(records.iter().all(|record| at(record.sent.unwrap()) <= 3));
    assert!(records.iter().filter(|record| record.admitted.is_some()).count() > 40);
    let wait = &place.json("summary.json")["levels"][0]["client_wait"];
    assert_eq!((&wait["max_concurrency"], &wait["never_sent"]), (&3.into(), &0.into()));
}

#[test]
fn a_cap_beside_a_load_that_says_how_many_is_refused() {
    let place = Place::new();
    for (args, said) in [
        ("bench --concurrency 4 --max-concurrency 8", "--concurrency says how many are in flight"),
        ("bench --burst 4 --max-concurrency 8", "a burst sends everything at once"),
        ("bench --sweep --max-concurrency 1", "write 2 or more"),
        ("bench --rate 4 --max-concurrency none", "`none` is not a number of requests in flight"),
        (
            "capacity --slo ttft.p95<1s --over concurrency --between 8..64 --max-concurrency 4",
            "raise it",
        ),
    ] {
        let refused = run(place.dyno(args)).expect_status(&[2]);
        assert!(refused.stderr.contains("--max-concurrency"), "{}", refused.stderr);
        assert!(refused.stderr.contains(said), "{args}: {}", refused.stderr);
    }
}

#[test]
fn a_dry_run_of_a_capacity_search_says_what_it_would_do_and_sends_nothing() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let url = engine.url();
    let dry = |args: &str| {
        let args = format!("capacity {url} --slo ttft.p99<1s --dry-run {args}");
        run(place.dyno(&args)).expect_status(&[0]).stdout
    };
    let text = dry("--between 2..20 --levels 6 --reset-cache --max-concurrency 64");
    for part in [
        "rate 6.32",
        "at most 5 more rates between 2 and 20 req/s",
        "At most 64 requests in flight.",
        "with a reset of the server's cache",
        "up to 9 min at 2/s, so that 1000 requests arrive",
        "At most 58 min in all",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(dry("").contains("512 in flight to find its maximum throughput"));
    assert!(dry("").contains("whichever is longest. About"));
    assert!(dry("--over concurrency").contains("1000 requests, or 10 per slot"));
    assert_eq!(engine.begun(), 0);
    assert!(!place.path().join("dyno-runs").exists());
}

#[test]
fn a_capacity_search_takes_reset_cache_as_a_benchmark_does() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let args = format!("capacity {} --slo ttft.p50<1s --reset-cache", engine.url());
    run(place.dyno(&args))
        .expect_status(&[2])
        .expect_words(&["--reset-cache: the server cannot reset its prefix cache"]);
}

#[test]
fn lengths_that_a_search_chooses_are_said_with_their_reason_once() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let args = format!(
        "capacity --predict --twin {twin} {LENGTHS} --slo ttft.p95<2s --near 100 --duration 1s"
    );
    let stderr = run(place.dyno(&args)).expect_status(&[0]).stderr;
    let said: Vec<&str> = stderr.lines().filter(|line| line.contains("requests arrive")).collect();
    assert!(!said.is_empty(), "{stderr}");
    for line in &said {
        assert!(line.contains(" s, so that about "), "{line}");
    }
    let again = said.windows(2).any(|pair| {
        let length = |line: &str| line.split("): ").nth(1).map(str::to_owned);
        length(pair[0]) == length(pair[1])
    });
    assert!(!again, "{said:?}");
}
