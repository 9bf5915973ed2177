//! Twins: listed, shown, and fitted to runs.

use crate::bench::place::Place;
use crate::bench::process::run;
use dyno_record::RunDir;
use dyno_twins::{MeasuredRun, recorded};

#[test]
fn twins_are_listed_with_their_errors_and_shown_in_full() {
    let place = Place::new();
    let listed = run(place.dyno("twins")).expect_status(&[0]);
    let default = dyno_engine::twin::Twin::default_name();
    assert!(listed.stdout.contains(&format!("{default}*")), "{}", listed.said());
    for line in listed.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let shown = run(place.dyno(&format!("twins show {default}"))).expect_status(&[0]);
    // What is shown is the file, ready to be changed.
    let copy = place.file("copy.toml", &shown.stdout);
    run(place.dyno(&format!("predict --twin {copy} --concurrency 1 --requests 2 --quiet")))
        .expect_status(&[0]);
    run(place.dyno("twins show nobody"))
        .expect_status(&[2])
        .expect_words(&["nobody", "dyno twins"]);
    run(place.dyno(&format!("twins verify {default}"))).expect_status(&[0]);
    run(place.dyno(&format!("twins {default}")))
        .expect_status(&[2])
        .expect_words(&[&format!("did you mean `dyno twins show {default}`?")]);
}

/// Predicts levels to fit to.
fn predict(place: &Place, out: &str, args: &str) {
    let args = format!("predict --quiet --json --out {out} {args}");
    run(place.dyno(&args)).expect_status(&[0]);
}

#[test]
fn fit_names_every_reason_at_once_and_does_not_begin() {
    let place = Place::new();
    predict(&place, "one", "--concurrency 2 --requests 10 --output-tokens 8");
    predict(&place, "poisson", "--rate 1,2 --duration 20s --warmup 2s --output-tokens 8");
    predict(&place, "whole", "--concurrency 1,2 --requests 10 --no-stream --output-tokens 8");
    place.file("there.toml", "");
    for (args, words) in [
        ("one --out twin.toml", vec!["1 of 1 levels", "at least 2"]),
        (
            "poisson --out twin.toml --from table",
            vec![
                "left out 2 levels (rate 1, rate 2): ",
                "warm-up",
                "--arrival constant",
                "0 of 2 levels",
            ],
        ),
        (
            "whole --out twin.toml --from records",
            vec!["left out 2 levels", "not streamed", "--no-stream", "0 of 2 levels"],
        ),
        ("nowhere one --out twin.toml", vec!["`nowhere`", "1 of 1 levels"]),
        ("nowhere --out there.toml", vec!["`nowhere`", "--out: `there.toml` exists"]),
        ("one --out no/such/twin.toml", vec!["no directory `no/such`", "1 of 1 levels"]),
    ] {
        let refused = run(place.dyno(&format!("fit {args}"))).expect_status(&[2]);
        let refused = refused.expect_words(&words);
        assert!(!refused.stderr.contains("fitting"), "{}", refused.said());
    }
    assert!(!place.path().join("twin.toml").exists());
    for (args, words) in [
        ("fit poisson --out twin.toml --from table", ["未使用", "预热", "2 个档位中有 0 个"]),
        ("fit whole --out twin.toml --from records", ["未使用", "流式", "2 个档位中有 0 个"]),
    ] {
        let mut chinese = place.dyno(args);
        chinese.env("LC_ALL", "zh_CN.UTF-8");
        run(chinese).expect_status(&[2]).expect_words(&words);
    }
}

#[test]
fn a_fit_that_predicts_its_own_levels_badly_is_warned_about() {
    let place = Place::new();
    let small = "--requests 4 --input-tokens 8 --output-tokens 3";
    predict(&place, "good", &format!("--concurrency 1,2 {small}"));
    let good = run(place.dyno("fit good --out good.toml")).expect_status(&[0]);
    assert!(!good.stderr.contains("POOR FIT"), "{}", good.said());
    assert!(good.stdout.contains("leave-one-out error"), "{}", good.said());
    // Four requests say too little one by one; their means are fitted instead.
    good.expect_words(&[
        "only 4 completed requests",
        "fitting 2 levels; this takes",
        "fitting the results of the levels instead",
    ]);
    // Another server in the same table, which is many times slower.
    let slow = crate::bench::predict::TWIN.replace("base_ms = 20", "base_ms = 900");
    let slow = place.file("slow.toml", &slow);
    predict(&place, "slow", &format!("--twin {slow} --concurrency 3 {small}"));
    run(place.dyno("fit good slow --out poor.toml"))
        .expect_status(&[6])
        .expect_words(&["warning: POOR FIT", "leave-one-out error is over 30 %"]);
    assert!(place.path().join("poor.toml").exists());
    let quiet = run(place.dyno("fit good --out quiet.toml --quiet")).expect_status(&[0]);
    assert_eq!(quiet.stderr, "");
}

/// A twin like a real server, whose accelerator takes so many times as long for everything.
fn like_a_server(slower: f64) -> String {
    let [base, decode, prefill] = [16.0, 250.0, 90.0].map(|time| (slower * time).to_string());
    let changes = [
        ("base_ms = 20", format!("base_ms = {base}")),
        ("decode_us = 1000", format!("decode_us = {decode}")),
        ("prefill_token_us = 0", format!("prefill_token_us = {prefill}")),
        ("front_end_ms = 0", "front_end_ms = 3".to_owned()),
        ("max_seqs = 8", "max_seqs = 48".to_owned()),
    ];
    let plain = crate::bench::predict::TWIN.to_owned();
    changes.iter().fold(plain, |twin, (before, after)| twin.replace(before, after))
}

const LENGTHS: &str = "--input-tokens 128 --output-tokens 16";

/// Closed loops and rates of Poisson arrivals with a warm-up, as people measure.
fn measure(place: &Place, twin: &str, name: &str) -> String {
    let [closed, open] = ["closed", "open"].map(|kind| format!("{name}-{kind}"));
    let twin = format!("--twin {twin} {LENGTHS}");
    predict(place, &closed, &format!("{twin} --concurrency 1,4,16 --requests 32 --seed 1"));
    let load = "--rate 8,16 --duration 4s --warmup 1s --seed 2";
    predict(place, &open, &format!("{twin} {load}"));
    format!("{closed} {open}")
}

#[test]
fn a_fit_to_records_predicts_a_load_that_it_has_not_seen() {
    let place = Place::new();
    let truth = place.file("truth.toml", &like_a_server(1.0));
    let runs = measure(&place, &truth, "run");
    let fitted = run(place.dyno(&format!("fit {runs} --out fitted.toml"))).expect_status(&[0]);
    let fitted = fitted.expect_words(&["fitting 5 levels, request by request"]);
    for words in [
        "concurrency 4 of run 1",
        "rate 16 of run 2",
        "open loops predicted from closed loops",
        "closed loops predicted from open loops",
        "base_ms",
        "max_seqs: never reached",
        "written to fitted.toml",
    ] {
        assert!(fitted.stdout.contains(words), "{words}: {}", fitted.said());
    }
    // All prompts are equally long. The command that would change that goes where the runs went.
    let next = fitted.stdout.lines().find(|line| line.contains("--input-tokens 1024"));
    let next = next.unwrap_or_else(|| panic!("{}", fitted.said()));
    assert!(next.trim_start().starts_with(&format!("dyno predict --twin {truth} ")), "{next}");

    let [of_truth, of_fitted] = [truth.as_str(), "fitted.toml"].map(|twin| {
        let _ = std::fs::remove_dir_all(place.path().join("run"));
        let load = "--rate 12 --duration 20s --seed 5";
        predict(&place, "run", &format!("--twin {twin} {LENGTHS} {load}"));
        place.json("summary.json")["levels"][0].clone()
    });
    for (metric, bound) in [("latency_ms", 0.05), ("ttft_ms", 0.1), ("itl_ms", 0.1)] {
        let [truth, fitted] =
            [&of_truth, &of_fitted].map(|level| level[metric]["p50"].as_f64().unwrap());
        let off = (fitted / truth - 1.0).abs();
        assert!(off < bound, "{metric}: {fitted} instead of {truth}");
    }
    // The fitted twin says how far its predictions may be off, the other one does not.
    assert!(of_truth.get("prediction").is_none(), "{of_truth}");
    let expected = &of_fitted["prediction"]["latency_ms"]["p50"];
    let [low, high] = [0, 1].map(|end| expected[end].as_f64().unwrap());
    let measured = of_truth["latency_ms"]["p50"].as_f64().unwrap();
    assert!(low < measured && measured < high, "{low} {measured} {high}");
}

#[test]
fn a_server_is_compared_with_its_twin_and_a_change_is_named() {
    let place = Place::new();
    let twin = place.file("twin.toml", &like_a_server(1.0));
    let slower = place.file("slower.toml", &like_a_server(1.45));
    let same = measure(&place, &twin, "same");
    let slow = measure(&place, &slower, "slow");

    let ended = run(place.dyno(&format!("twins check {same} --twin {twin}"))).expect_status(&[0]);
    assert!(ended.stdout.contains("still the same: 5 levels agree with plain"), "{}", ended.said());

    let ended = run(place.dyno(&format!("twins check {slow} --twin {twin}"))).expect_status(&[5]);
    for words in ["DIFFERS from plain: 5 of 5 levels", "the accelerator takes 1.45 times as long"] {
        assert!(ended.stdout.contains(words), "{words}: {}", ended.said());
    }
    let json = run(place.dyno(&format!("twins check {slow} --twin {twin} --json")));
    let json = json.expect_status(&[5]);
    let found: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(found["same"], false);
    assert_eq!(found["explanations"][0]["part"], "accelerator");
    assert_eq!(found["explanations"][0]["factor"], 1.45);
    assert_eq!(found["levels"][0]["latency_p50_ms"]["differs"], true);

    let mut chinese = place.dyno(&format!("twins check {slow} --twin {twin}"));
    chinese.env("LC_ALL", "zh_CN.UTF-8");
    let ended = run(chinese).expect_status(&[5]);
    assert!(ended.stdout.contains("加速器的全部计算耗时变为 1.45 倍"), "{}", ended.said());
}

#[test]
fn what_cannot_be_compared_is_not_called_the_same() {
    let place = Place::new();
    predict(&place, "whole", "--concurrency 1,2 --requests 10 --no-stream --output-tokens 8");
    let twin = place.file("twin.toml", crate::bench::predict::TWIN);
    run(place.dyno(&format!("twins check whole --twin {twin}")))
        .expect_status(&[6])
        .expect_words(&["left out 2 levels (concurrency 1, concurrency 2)", "not streamed"]);
    let json = run(place.dyno(&format!("twins check whole --twin {twin} --json")));
    let found: serde_json::Value = serde_json::from_str(&json.expect_status(&[6]).stdout).unwrap();
    assert!(found["same"].is_null(), "{found}");
    assert_eq!(found["left_out"][1]["label"], "concurrency 2");
    run(place.dyno("twins check whole --twin nobody"))
        .expect_status(&[2])
        .expect_words(&["--twin", "nobody"]);
    run(place.dyno(&format!("twins check nowhere --twin {twin}")))
        .expect_status(&[2])
        .expect_words(&["`nowhere`"]);
}

#[test]
fn every_kind_of_load_is_sent_again_as_it_was() {
    let place = Place::new();
    let cached =
        like_a_server(1.0).replace("context = 16384", "context = 16384\nprefix_cache = true");
    let twin = place.file("twin.toml", &cached);
    let trace: String = (0..12)
        .map(|at| {
            let (time, input) = (150 * at, 40 + 30 * at);
            format!("{{\"timestamp\": {time}, \"input_length\": {input}, \"output_length\": 9}}\n")
        })
        .collect();
    let trace = place.file("t.jsonl", &trace);
    let loads = [
        ("ramp", "--ramp '2..12/s over 8s in 2 steps' --input-tokens 50-300".to_owned()),
        ("trace", format!("--data trace:{trace}")),
        ("burst", "--burst 20".to_owned()),
        ("users", "--data session,turns=3,think=300ms --concurrency 4 --requests 24".to_owned()),
        ("visits", "--data session,turns=3,think=300ms --rate 2 --duration 6s".to_owned()),
    ];
    for (name, load) in loads {
        let mut command = place.dyno(&format!("predict --quiet --json --twin {twin} --out {name}"));
        command.args(["--output-tokens", "9", "--seed", "4"]);
        command.args(words(&load));
        run(command).expect_status(&[0]);
        // The engine that answered answers in the same way again, to the digits that are kept.
        let ended = run(place.dyno(&format!("twins check {name} --twin {twin} --json")));
        let found: serde_json::Value =
            serde_json::from_str(&ended.expect_status(&[0]).stdout).unwrap();
        assert_eq!(found["left_out"].as_array().map(Vec::len), Some(0), "{name}: {found}");
        for level in found["levels"].as_array().unwrap() {
            for metric in ["ttft_p50_ms", "itl_p50_ms", "latency_p50_ms", "latency_p90_ms"] {
                let [measured, twin] =
                    ["measured", "twin"].map(|of| level[metric][of].as_f64().unwrap());
                assert!((measured / twin - 1.0).abs() < 0.005, "{name} {metric}: {level}");
            }
        }
    }
}

/// The words of a command line; those in single quotes are one.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let of = |(at, part): (usize, &str)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    };
    parts.flat_map(of).collect()
}

#[test]
fn a_measured_run_of_the_engine_is_compared_with_its_twin() {
    let place = Place::new();
    // Slow enough that a busy machine hardly changes it.
    let twin = place.file("twin.toml", &like_a_server(3.0));
    let load = "--concurrency 1,4 --requests 10 --seed 3";
    let measured = format!("bench --twin {twin} {LENGTHS} {load} --out live --quiet --json");
    run(place.dyno(&measured)).expect_status(&[0, 4]);
    let summary = std::fs::read(place.path().join("live/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    // Only a level that a busy machine made invalid may be left out.
    let all = summary["levels"].as_array().unwrap();
    let [invalid, valid]: [Vec<&str>; 2] = [true, false].map(|invalid| {
        let wanted = all.iter().filter(|level| (level["verdict"] == "invalid") == invalid);
        wanted.map(|level| level["label"].as_str().unwrap()).collect()
    });
    let ended = run(place.dyno(&format!("twins check live --twin {twin} --json")));
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let labels = |key: &str| -> Vec<&str> {
        let of = found[key].as_array().unwrap().iter();
        of.map(|level| level["label"].as_str().unwrap()).collect()
    };
    assert_eq!((labels("levels"), labels("left_out")), (valid, invalid), "{found}");
    // However busy the machine is, nothing comes before the engine's schedule.
    for level in found["levels"].as_array().unwrap() {
        let [measured, twin] =
            ["measured", "twin"].map(|of| level["latency_p50_ms"][of].as_f64().unwrap());
        assert!(measured > 0.99 * twin, "{level}");
    }
}

#[test]
fn levels_that_can_be_sent_again_are_read_from_a_run() {
    let place = Place::new();
    let lengths = "--input-tokens 40 --output-tokens 8";
    predict(&place, "run", &format!("--concurrency 1,3 --requests 10 {lengths}"));
    predict(&place, "whole", &format!("--concurrency 2 --requests 10 --no-stream {lengths}"));
    let levels = |name: &str| {
        let dir = RunDir::open(place.path().join(name)).unwrap();
        let summary = dir.read_summary().unwrap().unwrap();
        recorded(&MeasuredRun::recorded(summary, dir).unwrap()).unwrap()
    };
    let found = levels("run");
    assert_eq!(found.iter().map(|level| level.plan.load.value()).collect::<Vec<_>>(), [1.0, 3.0]);
    for level in &found {
        assert_eq!(level.trial.requests.len(), 10, "{}", level.trial.label);
        assert!(level.trial.requests.iter().all(|sent| sent.output == 8));
    }
    // Without first tokens there is nothing to compare.
    assert!(levels("whole").is_empty());
}
