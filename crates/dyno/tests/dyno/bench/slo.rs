//! SLOs from the command line to the exit status: kept, not kept, and not understood.

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::{Place, codes};
use crate::bench::predict::TWIN;
use crate::bench::process::{Ended, run};
use serde_json::json;

/// A benchmark, with arguments that hold blanks.
fn bench(place: &Place, url: &str, args: &str, slo: &str) -> Ended {
    let mut command = place.bench(url, args);
    command.args(["--slo", slo]);
    run(command)
}

const LOAD: &str = "--concurrency 4 --requests 120 --input-tokens 16 --output-tokens 16";

/// Slow enough for any machine to measure, and a load for it: an invalid level keeps no SLO, and a client
/// that is held up between sending and looking at the clock sees a first token too early.
const SLOW: &str = "ttft=200ms,itl=60ms,tokens=4";
const SLOW_LOAD: &str = "--concurrency 12 --requests 120 --input-tokens 16 --output-tokens 4";

#[test]
fn an_slo_that_is_kept_is_fine() {
    let engine = Engine::start(SLOW, &[]);
    let place = Place::new();
    let slo = "TTFT.p90 < 1 m, tpot.mean <= 1m and errors<1%";
    let ended = bench(&place, &engine.url(), SLOW_LOAD, slo).expect_status(&[0]);
    let form = "ttft.p90<60s and tpot.mean<=60s and errors<1%";
    assert_eq!(place.json("plan.json")["slo"], form);
    let summary = ended.json();
    assert_eq!(summary["run"]["slo"], form);
    let found = &summary["levels"][0]["slo"];
    assert_eq!(found["met_share"], 1.0);
    assert_eq!(found["goodput_per_s"], summary["levels"][0]["throughput"]["requests_per_s"]);
    let met: Vec<_> = found["terms"].as_array().unwrap().iter().map(|t| &t["met"]).collect();
    assert_eq!(met, [&json!(true); 3]);
    assert_eq!(found["passed"], true);
    assert!(!codes(&summary["notes"]).contains(&"slo_not_met".to_owned()));
    let again = run(place.dyno("report run --json")).expect_status(&[0]);
    assert_eq!(again.json(), summary, "the plan holds it, so a report says the same");
}

#[test]
fn an_slo_that_cannot_be_kept_is_status_5() {
    let engine = Engine::start(SLOW, &[]);
    let place = Place::new();
    let ended = bench(&place, &engine.url(), SLOW_LOAD, "ttft.p90<2ms").expect_unless_invalid(5);
    let summary = ended.json();
    assert_eq!(summary["levels"][0]["slo"]["terms"][0]["met"], false);
    assert_eq!(summary["levels"][0]["slo"]["met_share"], 0.0);
    assert!(codes(&summary["notes"]).contains(&"slo_not_met".to_owned()), "{}", summary["notes"]);
    let text = run(place.dyno("report run")).expect_status(&[0]).stdout;
    assert!(text.contains("SLO ttft.p90<2ms") && text.contains("goodput 0 req/s"), "{text}");
}

#[test]
fn a_bad_one_is_status_2_with_the_right_spelling_and_nothing_is_sent() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    for (slo, words) in [
        ("ttft.p99<500", "--slo: a time needs a unit: write `ttft.p99<500ms`"),
        ("tfft.p99<500ms", "--slo: there is no metric `tfft`; did you mean `ttft`? Known: ttft, "),
        ("errors<0%", "can never be met"),
        ("", "--slo: it is empty"),
    ] {
        bench(&place, &engine.url(), LOAD, slo).expect_status(&[2]).expect_words(&[words]);
    }
    let settings = place.file("bad.toml", "slo = \"ttft<5s\"\n");
    run(place.bench(&engine.url(), &format!("{LOAD} --config {settings}")))
        .expect_status(&[2])
        .expect_words(&["bad.toml:1: slo: `ttft` needs a statistic: write `ttft.p99<5s`"]);
    assert_eq!(engine.begun(), 0);
}

/// In virtual time nothing depends on the machine: eight at once, then sixteen that have to queue.
#[test]
fn a_prediction_passes_up_to_where_it_queues() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let predict = |load: &str, slo: &str| {
        let _ = std::fs::remove_dir_all(place.run_dir());
        let args = "--requests 200 --input-tokens 64 --output-tokens 11 --out run --json --quiet";
        let mut command = place.dyno(&format!("predict --twin {twin} {args} {load}"));
        command.args(["--slo", slo]);
        run(command)
    };
    let slo = "ttft.p90<100ms and errors<1%";
    let summary = predict("--concurrency 8,16", slo).expect_status(&[0]).json();
    let passed = |i: usize| &summary["levels"][i]["slo"]["passed"];
    assert_eq!((passed(0), passed(1)), (&json!(true), &json!(false)));
    let failed = &summary["levels"][1]["slo"]["terms"];
    assert_eq!((&failed[0]["met"], &failed[1]["met"]), (&json!(false), &json!(true)));
    predict("--concurrency 16", slo).expect_status(&[5]);
}

/// In virtual time nothing depends on the machine: 200 requests, of which the slowest is known.
#[test]
fn what_too_few_samples_do_not_decide_is_status_6_and_says_what_would() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let predict = |slo: &str| {
        let _ = std::fs::remove_dir_all(place.run_dir());
        let args = "--concurrency 8 --requests 200 --input-tokens 64 --output-tokens 11";
        let mut command =
            place.dyno(&format!("predict --twin {twin} {args} --out run --json --quiet"));
        command.args(["--slo", slo]);
        run(command)
    };
    let summary = predict("ttft.p50<1h").expect_status(&[0]).json();
    let slowest = summary["levels"][0]["ttft_ms"]["max"].as_f64().unwrap();
    let bound = |times: f64| format!("ttft.p99<{}us", (slowest * times * 1e3).round());

    let near = predict(&bound(1.1)).expect_status(&[6]).json();
    let level = &near["levels"][0];
    assert_eq!(
        (&level["slo"]["outcome"], &level["slo"]["passed"]),
        (&json!("inconclusive"), &json!(null))
    );
    assert_eq!(level["slo"]["met_share"], 1.0);
    assert_eq!(level["verdict"], "valid", "too few samples for an SLO are no fault of the level");
    assert_eq!(near["run"]["slo_outcome"], "inconclusive");
    assert!(codes(&near["notes"]).contains(&"slo_inconclusive".to_owned()), "{}", near["notes"]);
    let text = run(place.dyno("report run")).expect_status(&[0]).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("about 168 more requests would decide it"), "{text}");
    assert!(!text.contains("lower the load"), "{text}");

    let far = predict(&bound(1.2)).expect_status(&[0]).json();
    assert_eq!(far["levels"][0]["slo"]["outcome"], "met");
    assert_eq!(far["levels"][0]["slo"]["terms"][0]["few_samples"], true);
    let broken = predict(&bound(0.5)).expect_status(&[5]).json();
    assert_eq!(broken["levels"][0]["slo"]["outcome"], "missed");
    predict(&format!("{} and ttft.p50<1us", bound(1.1))).expect_status(&[5]);
}

#[test]
fn a_level_that_ends_before_its_figure_is_known_is_status_6() {
    let place = Place::new();
    let predict = |more: &str| {
        let _ = std::fs::remove_dir_all(place.run_dir());
        let args =
            "--twin generic-7b-24gb --rate 2 --out run --json --quiet --until-stable=ttft.p99";
        run(place.dyno(&format!("predict {args} {more}")))
    };
    let ended = predict("--max-duration 30s --precision 1%").expect_status(&[6]).json();
    let notes = codes(&ended["levels"][0]["notes"]);
    assert!(notes.contains(&"not_converged".to_owned()), "{notes:?}");
}

#[test]
fn a_settings_file_may_hold_it_on_several_lines() {
    let engine = Engine::start(QUICK, &[]);
    let place = Place::new();
    let settings = place.file("slo.toml", "slo = \"\"\"\nttft.p90<1m\nand errors<1%\n\"\"\"\n");
    run(place.bench(&engine.url(), &format!("{LOAD} --config {settings}"))).expect_measured();
    assert_eq!(place.json("plan.json")["slo"], "ttft.p90<60s and errors<1%");
}

#[test]
fn a_level_that_is_over_before_any_answer_is_no_failure() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let load = "--concurrency 4 --duration 1s --drain 0s --input-tokens 64 --output-tokens 500";
    let args = format!("predict --twin {twin} {load} --out run --json --quiet");
    let level = &run(place.dyno(&args)).expect_status(&[6]).json()["levels"][0];
    assert_eq!(
        (&level["requests"]["completed"], &level["requests"]["censored"]),
        (&json!(0), &json!(4))
    );
    assert!(codes(&level["reasons"]).contains(&"nothing_completed".to_owned()), "{level}");
}
