//! The server's own metrics: asked during a run of engines that tell them, and of servers that do
//! not, or not well. And what tokens cost.

use crate::bench::engines::EngineProcess;
use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use dyno_model::frame::Frame;
use dyno_model::server::ServerSample;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};

const LOAD: &str = "--concurrency 2 --requests 6 --output-tokens 4";

/// A twin with steps of 2 ms and a pool of so many blocks of 16 tokens.
fn twin(place: &Place, kv_blocks: u32) -> String {
    let text = format!(
        r#"
schema = "dyno.twin/1"
name = "plain"
engine = "made for a test"
provenance = "made for a test"

[scheduler]
policy = "chunked"
max_seqs = 8
token_budget = 4096
kv_blocks = {kv_blocks}
prefix_cache = true
context = 256

[cost]
base_ms = 2
prefill_token_us = 0
attention_ns = 0
decode_us = 0
kv_ns = 0
prefill_base_ms = 0
front_end_ms = 0
noise = 0

[lengths]
input = {{ mean = 64 }}
output = {{ mean = 16 }}
"#
    );
    place.file("plain.toml", &text)
}

fn samples(place: &Place) -> Vec<ServerSample> {
    let samples = place.frames().into_iter().filter_map(|frame| match frame {
        Frame::Server(sample) => Some(sample),
        _ => None,
    });
    samples.collect()
}

#[test]
fn a_twin_is_asked_in_every_level_and_its_count_agrees_with_ours() {
    let home = Place::new();
    let engine = EngineProcess::with(&home, &format!("--twin {}", twin(&home, 4096)));
    let place = Place::new();
    let args = "--concurrency 2,6 --duration 2500ms --input-tokens 32 --output-tokens 64";
    let ended = run(place.bench(&engine.url(), args)).expect_measured();
    let summary = ended.json();
    let samples = samples(&place);
    for (level, in_flight) in [(0, 2.0), (1, 6.0)] {
        let started = place.frames().into_iter().find_map(|frame| match frame {
            Frame::LevelStart(start) if start.level == level => Some(start.started),
            _ => None,
        });
        let (from, to) = (started.unwrap(), place.level_ends()[level as usize].ended);
        let inside = samples.iter().filter(|sample| (from..to).contains(&sample.at)).count();
        let server = &summary["levels"][level as usize]["server"];
        assert!(inside >= 2, "{inside} samples: {}", ended.said());
        assert!(server["samples"].as_u64().unwrap() >= 1, "{server}");
        let mean = |name: &str| server[name]["mean"].as_f64().unwrap();
        // Between an answer and the next request there is a moment without either.
        let both = mean("running") + mean("waiting");
        // Each of the two is rounded.
        assert!(both > in_flight / 2.0 && both <= in_flight + 1e-4, "{server}");
        assert_eq!(server["preemptions"], 0, "{server}");
        let kv = server["kv_use_max"].as_f64().unwrap();
        assert!(kv > 0.0 && kv < 0.5, "{server}");
    }
    assert_eq!(run(place.dyno("report run --json")).json(), summary);
}

#[test]
fn a_full_cache_is_told_of_the_run_and_cached_prompts_of_the_level() {
    let home = Place::new();
    let engine = EngineProcess::with(&home, &format!("--twin {}", twin(&home, 24)));
    // Six sequences of up to 11 blocks do not fit into 24; one does.
    let args = "--concurrency 1,6 --requests 6 --input-tokens 64 --output-tokens 100";
    let place = Place::new();
    let ended = run(place.bench(&engine.url(), args)).expect_measured();
    let summary = ended.json();
    let preempted = |i: usize| summary["levels"][i]["server"]["preemptions"].as_u64();
    assert_eq!(preempted(0), Some(0), "{}", ended.said());
    assert!(preempted(1) > Some(0), "{}", ended.said());
    let note = summary["notes"].as_array().unwrap().iter().find(|n| n["code"] == "kv_cache_full");
    let words = note.unwrap()["what"].as_str().unwrap();
    assert!(words.contains("from concurrency 6 on"), "{words}");

    let roomy = EngineProcess::with(&home, &format!("--twin {}", twin(&home, 4096)));
    let args = "--concurrency 2 --requests 8 --input-tokens 64 --output-tokens 4";
    let args = format!("{args} --seed 1");
    for cached in [false, true] {
        let place = Place::new();
        let ended = run(place.bench(&roomy.url(), &args)).expect_measured();
        let level = &ended.json()["levels"][0];
        let found = codes(&level["reasons"]).contains(&"cached_random".to_owned());
        assert_eq!(found, cached, "{}", ended.said());
    }
}

/// A server with metrics that a closure gives.
fn with_metrics(metrics: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Web {
    Web::start(move |request: &Seen| match request.is("GET /metrics") {
        true => metrics(request),
        false => web::openai(request),
    })
}

fn prometheus(body: &str) -> Vec<u8> {
    web::answer("200 OK", "text/plain; version=0.0.4", body)
}

const METRICS: &str = "# TYPE vllm:num_requests_running gauge\n\
    vllm:num_requests_running{model_name=\"small\"} 3.0\r\n";

#[test]
fn nothing_is_said_of_a_server_that_does_not_tell() {
    let redirect = b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n";
    let huge = || format!("{METRICS}{}", "# padding\n".repeat(500_000));
    let servers: [(Web, &str); 5] = [
        (with_metrics(|_| web::json("404 Not Found", "{}")), "HTTP 404"),
        (with_metrics(|_| redirect.to_vec()), "HTTP 302"),
        (with_metrics(move |_| prometheus(&huge())), "larger than 4194304 bytes"),
        (with_metrics(|_| prometheus("<html>hello</html>")), "not Prometheus"),
        (with_metrics(|_| prometheus("go_goroutines 8\n")), "none of the metrics"),
    ];
    for (server, words) in &servers {
        let place = Place::new();
        let ended = run(place.bench(&server.url(), LOAD)).expect_measured();
        assert_eq!(ended.stderr, "", "{}", ended.said());
        assert_eq!(samples(&place), [], "{words}");
        assert_eq!(ended.json()["levels"][0]["server"], Value::Null);
        assert_eq!(server.asked("GET /metrics").len(), 1);
        // Asked for by name, it is a warning, and the run goes on.
        let place = Place::new();
        let url = format!("{}/metrics?secret=barley", server.url());
        let ended = run(place.bench(&server.url(), &format!("{LOAD} --metrics {url}")))
            .expect_measured()
            .expect_words(&["warning: --metrics", words, "/metrics?secret=…"]);
        assert_eq!(ended.json()["levels"][0]["requests"]["completed"], 6, "{}", ended.said());
        assert!(!ended.stderr.contains("barley"), "{}", ended.said());
    }
    let place = Place::new();
    let gone = "--metrics http://no-such-host.invalid:9090";
    run(place.bench(&servers[0].0.url(), &format!("{LOAD} {gone}")))
        .expect_measured()
        .expect_words(&["warning: --metrics", "no-such-host.invalid"]);
}

#[test]
fn a_server_that_stops_telling_does_not_hold_up_the_run() {
    let asked = AtomicUsize::new(0);
    let server = with_metrics(move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => prometheus(METRICS),
        _ => loop {
            std::thread::park();
        },
    });
    let place = Place::new();
    let ended = run(place.bench(&server.url(), LOAD)).expect_measured();
    assert_eq!(ended.json()["levels"][0]["requests"]["completed"], 6, "{}", ended.said());
    assert_eq!(samples(&place).len(), 1);
    assert_eq!(server.asked("GET /metrics").len(), 2, "one was under way when the run ended");
    // From the start: the run begins without it.
    let server = with_metrics(|_| {
        loop {
            std::thread::park();
        }
    });
    let place = Place::new();
    let ended = run(place.bench(&server.url(), LOAD)).expect_measured();
    assert_eq!((ended.stderr.as_str(), samples(&place).len()), ("", 0), "{}", ended.said());
}

#[test]
fn keys_go_to_the_targets_host_and_port_and_nowhere_else() {
    let target = with_metrics(|_| prometheus(METRICS));
    let other = with_metrics(|_| prometheus(METRICS));
    let elsewhere = format!("http://localhost:{}", other.addr().port());
    for metrics in ["", &format!("--metrics {}", other.url()), &format!("--metrics {elsewhere}")] {
        let place = Place::new();
        let more = format!("{LOAD} {metrics} --header X-Pass:barley");
        let mut command = place.bench(&target.url(), &more);
        command.env("DYNO_API_KEY", "open-sesame");
        run(command).expect_measured();
        assert!(!samples(&place).is_empty(), "{metrics}");
    }
    let authorised = |server: &Web| -> Vec<(String, bool)> {
        let seen = server.asked("GET /metrics").into_iter();
        seen.map(|seen| {
            let key = seen.header("authorization") == Some("Bearer open-sesame");
            assert_eq!(seen.header("x-pass").is_some(), key);
            (seen.header("host").unwrap().split(':').next().unwrap().to_owned(), key)
        })
        .collect()
    };
    assert!(authorised(&target).iter().all(|(host, key)| host == "127.0.0.1" && *key));
    let seen = authorised(&other);
    assert!(seen.iter().any(|(host, _)| host == "localhost"), "{seen:?}");
    assert!(seen.iter().all(|(_, key)| !key), "another port: {seen:?}");
}

#[test]
fn none_asks_nobody_and_the_same_requests_are_sent() {
    let server = with_metrics(|_| prometheus(METRICS));
    let sent = |more: &str| {
        let before = server.generations().len();
        let place = Place::new();
        let args = format!("--concurrency 1 --requests 6 --output-tokens 2 --seed 3 {more}");
        run(place.bench(&server.url(), &args)).expect_measured();
        let sent = server.generations().split_off(before).into_iter();
        let bytes: Vec<_> = sent.map(|seen| (seen.head, seen.body)).collect();
        let requests = place.requests();
        let requests: Vec<_> =
            requests.iter().map(|r| (r.index, r.outcome.clone(), r.input, r.output)).collect();
        (bytes, requests, samples(&place).len(), place.json("plan.json")["server"].clone())
    };
    let (bytes, requests, samples, plan) = sent("--metrics none");
    assert_eq!(server.asked("GET /metrics").len(), 0);
    assert_eq!((samples, plan), (0, serde_json::json!({ "metrics": "none" })));
    let (with_bytes, with_requests, with_samples, with_plan) = sent("");
    assert!(with_samples >= 1);
    assert_eq!(with_plan, Value::Null);
    assert_eq!((with_bytes, with_requests), (bytes, requests));
}

#[test]
fn the_price_of_tokens_is_in_plan_summary_and_text() {
    let place = Place::new();
    let predict = "predict --quiet --concurrency 4 --requests 20 --output-tokens 16 --out run";
    let mut command = place.dyno(&format!("{predict} --json --gpus 4"));
    command.args(["--gpu-cost", "CNY 18/h"]);
    let summary = run(command).expect_status(&[0]).json();
    assert_eq!(summary["run"]["gpus"], 4);
    let price = serde_json::json!({ "per_hour": 18.0, "currency": "CNY" });
    assert_eq!(summary["run"]["gpu_cost"], price);
    assert_eq!(place.json("plan.json")["server"]["gpu_cost"], price);
    let level = &summary["levels"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let steady = &level["steady"];
    let rate = if steady.is_null() { &level["throughput"] } else { steady };
    let output = number(&rate["output_tokens_per_s"]);
    let cost = &level["cost"];
    // 72 an hour for all are 0.02 a second.
    let expected = 20_000.0 / output;
    assert!((number(&cost["per_million_output_tokens"]) / expected - 1.0).abs() < 1e-4, "{cost}");
    let each = number(&cost["output_tokens_per_s_per_gpu"]);
    assert!((each / (output / 4.0) - 1.0).abs() < 1e-4, "{cost}");
    let text = run(place.dyno("report run")).expect_status(&[0]).stdout;
    assert!(text.contains("cost: CNY "), "{text}");
    run(place.dyno("predict --gpu-cost 2.5/h")).expect_status(&[2]).expect_words(&["--gpus N"]);
    run(place.dyno("bench --gpu-cost 2.5 --gpus 1")).expect_status(&[2]).expect_words(&["2.5/h"]);
}
