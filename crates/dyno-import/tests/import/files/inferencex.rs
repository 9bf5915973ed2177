//! Rows of InferenceX.

use crate::files::{close, errors, import, loads, reported, run};
use dyno_import::import_bytes;
use dyno_model::metric::Time;
use serde_json::{Value, json};

#[test]
fn rows_of_one_server_are_one_run() {
    let imported = import("inferencex-agg.json");
    assert_eq!(errors(&imported), Vec::<String>::new());
    let [two, four] = imported.runs.as_slice() else { panic!("two configurations") };
    assert_eq!(loads(two), [("concurrency", Some(4.0)), ("concurrency", Some(16.0))]);
    assert_eq!(loads(four), [("concurrency", Some(16.0))]);
    let origin = two.summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.form.as_str()), ("inferencex", "json"));
    assert_eq!(two.summary.run.model.as_deref(), Some("acme/moe-30b"));
    let label = two.summary.run.label.as_deref();
    assert_eq!(label, Some("x100, vllm, fp8, tp2, ep1, input 1024, output 1024"));
    assert_eq!([two.summary.run.gpus, four.summary.run.gpus], [Some(2), Some(4)]);
}

#[test]
fn times_are_in_seconds_and_values_per_gpu_are_only_reported() {
    let imported = import("inferencex-agg.json");
    let level = &imported.runs[0].summary.levels[1];
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    close(ttft.mean, reported(level, "mean_ttft") * 1e3, 1e-6);
    close(ttft.p50, reported(level, "median_ttft") * 1e3, 1e-6);
    close(ttft.p99_9, reported(level, "p99.9_ttft") * 1e3, 1e-6);
    let gap = level.times[Time::ChunkGap].as_ref().unwrap();
    close(gap.mean, reported(level, "mean_itl") * 1e3, 1e-6);
    assert!(reported(level, "tput_per_gpu") > 0.0 && reported(level, "mean_intvty") > 0.0);
    assert_eq!(level.throughput, Default::default());
    assert_eq!((level.requests.completed, level.duration_s), (None, None));
    // Lengths vary around what was asked for.
    assert_eq!((level.input_length, level.output_length), (None, None));
}

#[test]
fn rows_of_agents() {
    let imported = import("inferencex-agentic-agg.json");
    let runs: Vec<_> = imported.runs.iter().map(loads).collect();
    let slots = |slots: f64| ("concurrency", Some(slots));
    assert_eq!(runs, [vec![slots(8.0), slots(16.0)], vec![slots(16.0)]]);
    let level = &imported.runs[0].summary.levels[0];
    // The total leaves failures out, so that their number is unknown.
    let counts = &level.requests;
    assert_eq!((counts.planned, counts.completed, counts.failed), (None, Some(98), None));
    close(level.throughput.output_tokens_per_s, reported(level, "output_tput_tps"), 1e-6);
    close(level.throughput.total_tokens_per_s, reported(level, "total_tput_tps"), 1e-6);
    close(level.throughput.requests_per_s, 98.0 / 608.25, 1e-6);
    // Their mean of counts per second is another.
    assert_eq!(reported(level, "mean_qps"), 0.151);
    close(level.times[Time::Tpot].as_ref().unwrap().mean, reported(level, "mean_tpot") * 1e3, 1e-6);
    assert_eq!(level.times[Time::ChunkGap], None);
    let output = level.output_tokens.unwrap();
    close(Some(output.mean), reported(level, "mean_output_tokens_actual"), 1e-6);
    // The server's count includes its warm-up.
    assert_eq!(output.total, None);
}

#[test]
fn later_rows_of_agents_are_nested_and_count_failures() {
    let run = run("inferencex-agentic.json");
    assert_eq!(loads(&run), [("concurrency", Some(32.0))]);
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(200), Some(6)));
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.p50, ttft.p95), (Some(2500.0), Some(2250.0), Some(6000.0)));
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().mean, Some(20500.0));
    assert_eq!(level.throughput.output_tokens_per_s, Some(98.7222));
    assert_eq!(level.throughput.total_tokens_per_s, Some(11654.3888));
    assert_eq!(level.output_tokens.unwrap().mean, 444.25);
    assert_eq!(run.summary.run.gpus, Some(12));
}

#[test]
fn failures_of_the_warm_up_are_not_those_of_the_run() {
    let text = std::fs::read(crate::files::fixture("inferencex-agentic.json")).unwrap();
    let mut value: Value = serde_json::from_slice(&text).unwrap();
    value["request_accounting"]["records_total"] = json!(228);
    let imported = import_bytes("a.json", &serde_json::to_vec(&value).unwrap()).unwrap();
    assert_eq!(imported.runs[0].summary.levels[0].requests.failed, None);
}

#[test]
fn without_disaggregation_prefill_and_decode_share_their_gpus() {
    let mut rows = json!([{"hw": "x100", "framework": "vllm", "model": "acme/moe-30b", "conc": 8,
        "disagg": false, "num_prefill_gpu": 8, "num_decode_gpu": 8, "prefill_tp": 8, "decode_tp": 8,
        "tput_per_gpu": 250.5, "mean_ttft": 0.25, "mean_tpot": 0.0125}]);
    let gpus = |rows: &Value| {
        let imported = import_bytes("a.json", rows.to_string().as_bytes()).unwrap();
        let run = imported.runs[0].summary.run.clone();
        (run.gpus, run.label.unwrap())
    };
    assert_eq!(gpus(&rows), (Some(8), "x100, vllm, tp8".to_owned()));
    rows[0]["disagg"] = json!(true);
    assert_eq!(
        gpus(&rows),
        (Some(16), "x100, vllm, prefill tp8, decode tp8, disaggregated".to_owned())
    );
}
