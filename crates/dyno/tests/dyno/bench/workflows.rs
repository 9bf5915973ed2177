//! The four ways in which people benchmark, each as one command, and the search for a capacity: in
//! virtual time, so that hours take seconds and nothing depends on this machine.

use crate::bench::place::{Place, codes};
use crate::bench::process::{Ended, run};
use dyno_model::frame::Frame;
use serde_json::Value;

const A_72B: &str = "--twin qwen2-72b-4xa100-vllm --input-tokens 512 --output-tokens 128";

/// A twin that answers in milliseconds, with room for long prompts.
const FAST: &str = r#"
schema = "dyno.twin/1"
name = "fast"
model = "none"
hardware = "none"
engine = "none"
provenance = "made up for tests"

[scheduler]
policy = "chunked"
max_seqs = 256
token_budget = 8192
block = 16
kv_blocks = 100000
context = 200000

[cost]
base_ms = 1
prefill_token_us = 2
attention_ns = 0
decode_us = 10
kv_ns = 0

[lengths]
input = { mean = 256 }
output = { mean = 64 }
"#;

fn predicted(place: &Place, args: &str) -> Ended {
    run(place.dyno(&format!("predict --out run --json {args}")))
}

fn numbers(levels: &[Value], name: impl Fn(&Value) -> &Value) -> Vec<f64> {
    levels.iter().map(|level| name(level).as_f64().unwrap()).collect()
}

fn labels(summary: &Value) -> Vec<String> {
    let levels = summary["levels"].as_array().unwrap().iter();
    levels.map(|level| level["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_sweep_of_rates_is_a_whole_table() {
    let place = Place::new();
    let args = format!("{A_72B} --sweep --duration 120s");
    let summary = predicted(&place, &args).expect_status(&[0]).json();
    let levels = summary["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 10);
    let names = labels(&summary);
    assert_eq!((names[0].as_str(), names[9].as_str()), ("synchronous", "throughput"));
    let rates = &levels[1..9];
    let offered = numbers(rates, |level| &level["load"]["value"]);
    assert!(offered.windows(2).all(|two| two[0] < two[1]), "rates in order: {offered:?}");
    for level in levels {
        let completed = level["throughput"]["requests_per_s"].as_f64().unwrap();
        assert!(completed > 0.0, "no row of zeros: {level:#}");
        if level["load"]["kind"] == "rate" {
            let offered = level["offered_per_s"].as_f64().unwrap();
            assert!(completed <= offered, "{completed} of {offered}");
        }
    }
    // The top is what a full server does steadily, and one rate lies above it.
    let top = levels[9]["steady"]["requests_per_s"].as_f64().unwrap();
    assert!(offered[7] > top && offered[6] < top, "{offered:?} around {top}");
    // Neighbours at the bend are nearer to each other than at the beginning.
    let first = offered[1] - offered[0];
    let nearest = offered.windows(2).map(|two| two[1] - two[0]).fold(f64::INFINITY, f64::min);
    assert!(nearest < 0.7 * first, "{offered:?}");
}

#[test]
fn a_linear_sweep_has_equal_steps() {
    let place = Place::new();
    let args = format!("{A_72B} --sweep=6 --sweep-spacing linear --duration 120s");
    let summary = predicted(&place, &args).expect_status(&[0]).json();
    let levels = summary["levels"].as_array().unwrap();
    let rates = numbers(&levels[1..5], |level| &level["load"]["value"]);
    let steps: Vec<f64> = rates.windows(2).map(|two| two[1] - two[0]).collect();
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    assert!(steps.iter().all(|step| (step / mean - 1.0).abs() < 0.02), "{rates:?}");
}

#[test]
fn a_long_queue_does_not_reach_the_next_level() {
    let first_tokens = |rates: &str| {
        let place = Place::new();
        let args = format!("{A_72B} --rate {rates} --arrival constant --duration 60s --drain 1s");
        let ended = predicted(&place, &args).expect_status(&[0]);
        let levels = ended.json()["levels"].as_array().unwrap().clone();
        let last = levels.last().unwrap();
        let queue = levels[0]["requests"]["censored"].as_u64().unwrap();
        (queue, last["ttft_ms"]["min"].clone(), last["ttft_ms"]["max"].clone())
    };
    let (queue, ..) = first_tokens("50,0.5");
    assert!(queue > 1000, "the first level ends with a queue: {queue}");
    let after = first_tokens("50,0.5");
    let alone = first_tokens("0.5,0.5");
    assert_eq!((after.1, after.2), (alone.1, alone.2));
}

#[test]
fn the_number_in_flight_is_found_that_is_enough() {
    let place = Place::new();
    let args = "--twin generic-7b-24gb --concurrency auto --requests 20x";
    let ended = predicted(&place, args).expect_status(&[0]);
    let summary = ended.json();
    let levels = summary["levels"].as_array().unwrap();
    let loads = numbers(levels, |level| &level["load"]["value"]);
    assert!(loads.windows(2).all(|two| two[0] < two[1]), "{loads:?}");
    assert!([1.0, 2.0, 4.0, 8.0].iter().all(|load| loads.contains(load)), "{loads:?}");
    let planned = numbers(levels, |level| &level["requests"]["planned"]);
    let per_slot: Vec<f64> = planned.iter().zip(&loads).map(|(all, load)| all / load).collect();
    assert!(per_slot.iter().all(|times| *times == 20.0), "20 for each slot: {per_slot:?}");
    let knee = &summary["search"];
    assert_eq!(knee["kind"], "knee", "{}", ended.said());
    let (rate, most) = (knee["requests_per_s"].as_f64(), knee["highest_per_s"].as_f64());
    assert!(rate.unwrap() >= 0.95 * most.unwrap(), "{knee}");
}

#[test]
fn a_plan_that_is_not_known_yet_is_told_as_one() {
    let place = Place::new();
    let said = |args: &str| {
        let ended = run(place.dyno(&format!("predict --dry-run {args}"))).expect_status(&[0]);
        assert!(!ended.stdout.contains("At most"), "{}", ended.stdout);
        ended.stdout
    };
    let sweep = said("--sweep=7 --duration 60s");
    assert!(sweep.starts_with("2 levels first:"), "{sweep}");
    assert!(sweep.contains("Then about 5 rates between them"), "{sweep}");
    let ladder = said("--concurrency auto");
    assert!(ladder.contains("Then doubling the requests in flight up to 512"), "{ladder}");
}

#[test]
fn bursts_up_to_2048_and_a_prompt_of_128000_tokens() {
    let place = Place::new();
    let twin = place.file("fast.toml", FAST);
    let bursts = "1,2,4,8,16,32,64,128,256,512,1024,2048";
    let args = format!("--twin {twin} --burst {bursts} --input-tokens 80 --output-tokens 16");
    let summary = predicted(&place, &args).expect_status(&[0]).json();
    let levels = summary["levels"].as_array().unwrap();
    let completed = numbers(levels, |level| &level["requests"]["completed"]);
    assert_eq!(completed.iter().sum::<f64>(), 4095.0);

    let place = Place::new();
    let twin = place.file("fast.toml", FAST);
    let args = format!("--twin {twin} --burst 1 --input-tokens 128000 --output-tokens 16");
    let summary = predicted(&place, &args).expect_status(&[0]).json();
    let level = &summary["levels"][0];
    assert_eq!(level["requests"]["completed"], 1);
    // 2 µs a token and 1 ms for each of 16 chunks.
    let first = level["ttft_ms"]["mean"].as_f64().unwrap();
    assert!((first - 272.0).abs() < 2.0, "{first}");
}

#[test]
fn the_matrix_runs_as_it_was_printed_and_its_estimates_are_wall_time() {
    let lengths = "--input-tokens 128,512,1024,2048 --output-tokens 128,512,1024,2048";
    let load = format!("--twin generic-7b-24gb --concurrency 16 {lengths} --requests 3x");
    let place = Place::new();
    let printed = run(place.dyno(&format!("predict {load} --dry-run"))).expect_status(&[0]).stdout;
    let printed: Vec<String> = printed
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            words.next()?.parse::<u32>().ok()?;
            Some(format!("{} {}", words.next()?, words.next()?))
        })
        .collect();
    let ended = predicted(&place, &load).expect_status(&[0]);
    assert_eq!(labels(&ended.json()), printed);
    assert_eq!(printed.len(), 16);

    // An estimate is of a person's time: simulated hours pass in seconds, and little is announced.
    let announced =
        ended.stderr.lines().filter_map(|line| line.split_once("; about ")).map(|(_, said)| {
            let (number, unit) = said.trim_end_matches(" left").split_once(' ').unwrap();
            number.parse::<f64>().unwrap() * if unit == "min" { 60.0 } else { 1.0 }
        });
    let said = announced.fold(0.0, f64::max);
    let frames = place.frames();
    let starts: Vec<u64> = frames
        .iter()
        .filter_map(|frame| match frame {
            Frame::LevelStart(start) => Some(start.started),
            _ => None,
        })
        .collect();
    let over = frames.iter().rev().find_map(|frame| match frame {
        Frame::RunEnd(end) => Some(end.ended),
        _ => None,
    });
    let took = (over.unwrap() - starts[1]) as f64 / 1e9;
    assert!(said < took / 5.0, "{said} s estimated, {took} s of virtual time");
}

#[test]
fn a_level_stops_when_its_figure_is_known() {
    let place = Place::new();
    let args = format!("{A_72B} --rate 2 --until-stable=ttft.p50 --precision 5% --max-duration 2h");
    let ended = predicted(&place, &args).expect_status(&[0]);
    let level = &ended.json()["levels"][0];
    assert_eq!(level["ending"], "stable", "{}", ended.said());
    let [low, high] = [0, 1].map(|i| level["ttft_ms"]["ci95"]["p50"][i].as_f64().unwrap());
    assert!(high / low < 1.15, "{low} to {high}");
    assert!(level["duration_s"].as_f64().unwrap() < 7200.0);
}

#[test]
fn a_capacity_is_an_interval_and_none_is_said() {
    let place = Place::new();
    let slo = |slo: &str| {
        let place = Place::new();
        let args = format!("capacity --predict {A_72B} --requests 1000 --out run --json --slo");
        let mut command = place.dyno(&args);
        command.arg(slo);
        run(command)
    };
    let ended = slo("ttft.p90<400ms and tpot.p90<80ms").expect_status(&[0]);
    let found = ended.json()["search"].clone();
    let (low, high) = (found["holds"].as_f64().unwrap(), found["does_not_hold"].as_f64().unwrap());
    assert!(1.0 < low && low < high && high < 7.0, "{found}");
    assert!(found["confidence"].as_f64().unwrap() >= 0.95, "{found}");

    let never = slo("ttft.p90<100ms").expect_status(&[5]);
    assert_eq!(never.json()["search"]["holds"], Value::Null, "{}", never.said());
    let codes = codes(&never.json()["notes"]);
    assert!(codes.contains(&"slo_not_met".to_owned()), "{codes:?}");

    let mut few = place.dyno("capacity --predict --requests 20 --slo");
    few.arg("ttft.p99<500ms");
    run(few)
        .expect_status(&[2])
        .expect_words(&["--requests: 20 requests per level are too few", "1000"]);
    run(place.dyno("capacity --predict")).expect_status(&[2]).expect_words(&["--slo"]);
    let rows = r#"{"timestamp": 0, "input_length": 20, "output_length": 8, "hash_ids": []}"#;
    let trace = place.file("trace.jsonl", rows);
    run(place.dyno(&format!("capacity --predict --slo ttft.p50<1s --data trace:{trace}")))
        .expect_status(&[2])
        .expect_words(&["--data: a trace is replayed at its own times", "speed=2"]);
}

/// C11: the plan names what was asked for, and calls users users.
#[test]
fn a_dry_run_mentions_what_was_asked_for() {
    let place = Place::new();
    let rows = [(0, 100, 5), (1000, 200, 6), (2000, 300, 7)];
    let rows = rows.map(|(at, input, output)| {
        format!("{{\"timestamp\": {at}, \"input_length\": {input}, \"output_length\": {output}, \"hash_ids\": [{at}]}}\n")
    });
    let trace = place.file("trace.jsonl", &rows.concat());
    let cases = [
        (
            "--agents 4 --concurrency 8 --data session,turns=3,think=2s --requests 20".to_owned(),
            vec![
                "8 users",
                "Prompts: session,turns=3,think=2s.",
                "Sent by 4 agents on this machine.",
            ],
        ),
        (
            "--cache-hit 60% --input-tokens 1000 --concurrency 4 --requests 10".to_owned(),
            vec!["4 in flight", "Prefix cache: about 60 % of the prompt tokens, by 8 prefixes"],
        ),
        (
            format!("--data trace:{trace}"),
            vec!["lengths of the trace  3 requests", "Prompts: trace:"],
        ),
    ];
    for (args, words) in cases {
        let dry = run(place.dyno(&format!("bench http://gpu {args} --dry-run")));
        let dry = dry.expect_status(&[0]).stdout;
        for words in words {
            assert!(dry.contains(words), "{words}: {dry}");
        }
    }
}

#[test]
fn a_capacity_search_over_rates_is_listed_with_its_rates() {
    let place = Place::new();
    let args = format!("capacity --predict {A_72B} --requests 400 --out run --quiet --slo");
    let mut command = place.dyno(&args);
    command.arg("ttft.p50<2s");
    run(command).expect_status(&[0, 6]);
    let listed = run(place.dyno("runs")).expect_status(&[0]).stdout;
    assert!(listed.contains("capacity rate ") && !listed.contains("concurrency"), "{listed}");
}
