//! Ramps and soaks as people run them: on an engine, on a server that gets slower, and predicted.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, accounted, codes};
use crate::bench::predict::TWIN;
use crate::bench::process::{Ended, run};
use crate::bench::web::{Web, openai};
use dyno_model::SEC;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn ramp(place: &Place, url: &str, ramp: &str, more: &str) -> Ended {
    let mut command = place.bench(url, &format!("--output-tokens 8 --input-tokens 16 {more}"));
    command.args(["--ramp", ramp]);
    run(command)
}

/// `dyno predict` with the twin that carries 26.7 requests per second of 11 tokens.
fn predict(place: &Place, args: &[&str]) -> Value {
    let twin = place.file("plain.toml", TWIN);
    let lengths = "--input-tokens 64 --output-tokens 11";
    let mut command =
        place.dyno(&format!("predict --twin {twin} --out run --json --quiet {lengths}"));
    command.args(args);
    run(command).expect_status(&[0]);
    place.json("summary.json")["levels"][0].clone()
}

#[test]
fn a_ramp_is_sent_at_its_rates_and_reported_by_its_steps() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let spec = "20..80/s over 2s in 4 steps";
    let ended = ramp(&place, &engine.url(), spec, "--arrival constant --warmup 500ms");
    let summary = ended.expect_measured().json();
    let level = &summary["levels"][0];
    assert_eq!((&level["load"]["kind"], &level["load"]["value"]), (&"ramp".into(), &80.0.into()));
    assert_eq!((level["requests"]["planned"].as_u64(), accounted(level)), (Some(100), 100));
    assert_eq!(level["ending"], "duration");
    let slices = level["slices"].as_array().unwrap();
    let offered: Vec<f64> = slices.iter().map(|s| s["offered_per_s"].as_f64().unwrap()).collect();
    assert_eq!(offered, [20.0, 40.0, 60.0, 80.0]);
    assert!(level["ttft_ms"].is_null() && level["steady"].is_null());
    assert!(!codes(&level["reasons"]).contains(&"no_steady_window".to_owned()), "{level}");

    let end = place.level_ends().remove(0);
    assert_eq!((end.warmup, end.issued), (10, 100));
    let requests = place.requests();
    let first = requests.iter().map(|r| r.intended).min().unwrap();
    assert_eq!(end.sending_stopped, first + 2 * SEC + SEC / 2);

    let report = run(place.dyno("report run"));
    assert!(report.stdout.contains("over time"), "{}", report.said());
}

#[test]
fn a_number_of_requests_ends_a_ramp_early() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let ended = ramp(&place, &engine.url(), "50..400/s over 30s", "--requests 40");
    let level = &ended.expect_measured().json()["levels"][0];
    assert_eq!((&level["ending"], accounted(level)), (&"requests".into(), 40));
}

#[test]
fn a_settings_file_may_hold_a_ramp_and_a_typed_load_replaces_it() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let file = place.file("ramp.toml", "ramp = \"50..90/s over 500ms\"\noutput-tokens = 4\n");
    let kind = |place: &Place, more: &str| {
        let _ = std::fs::remove_dir_all(place.run_dir());
        let ended = run(place.bench(&engine.url(), &format!("--config {file} {more}")));
        ended.expect_measured().json()["levels"][0]["load"]["kind"].clone()
    };
    assert_eq!(kind(&place, ""), "ramp");
    assert_eq!(kind(&place, "--concurrency 2 --requests 5"), "concurrency");
}

/// Eight at once, 20 + 10 × 28 ms each: 26.7 per second.
#[test]
fn a_predicted_ramp_names_the_rate_at_which_the_twin_bends() {
    let place = Place::new();
    let level = predict(&place, &["--ramp", "2..60/s over 3m"]);
    assert_eq!(codes(&level["reasons"]), Vec::<String>::new());
    let notes = level["notes"].as_array().unwrap();
    let bent = notes.iter().find(|note| note["code"] == "ramp_bent").unwrap();
    let words = bent["what"].as_str().unwrap();
    let rate: f64 =
        words.split("about ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
    assert!((rate / 26.7 - 1.0).abs() < 0.15, "{words}");
    let slices = level["slices"].as_array().unwrap();
    let in_flight = |slice: &Value| slice["in_flight"].as_u64().unwrap();
    assert!(slices.len() == 20 && in_flight(&slices[19]) > 10 * in_flight(&slices[5]).max(1));
    assert!(level["latency_ms"].is_null() && level["steady"].is_null());
}

#[test]
fn a_predicted_ramp_that_is_carried_has_no_bend_and_a_predicted_soak_no_drift() {
    let level = predict(&Place::new(), &["--ramp", "2..15/s over 3m"]);
    assert_eq!(codes(&level["notes"]), Vec::<String>::new(), "{level}");
    let level = predict(&Place::new(), &["--soak", "10m", "--rate", "10"]);
    assert_eq!(level["slices"].as_array().unwrap().len(), 20);
    for list in ["reasons", "notes"] {
        assert!(codes(&level[list]).iter().all(|code| !code.starts_with("drift")), "{level}");
    }
}

#[test]
fn a_soak_finds_a_server_that_gets_slower() {
    let asked = AtomicU64::new(0);
    let server = Web::start(move |request| {
        if request.is("POST /v1/") {
            let before = asked.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_micros(10_000 + 200 * before));
        }
        openai(request)
    });
    let place = Place::new();
    let args = "--concurrency 2 --soak 5s --output-tokens 4 --input-tokens 16";
    let summary = run(place.bench(&server.url(), args)).expect_measured().json();
    let level = &summary["levels"][0];
    assert!(codes(&level["reasons"]).contains(&"drift_latency".to_owned()), "{}", level["reasons"]);
    assert_eq!(level["slices"].as_array().unwrap().len(), 20);
    assert_eq!(place.json("plan.json")["levels"][0]["soak"], true);
}
