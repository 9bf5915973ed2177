//! The saved report of trtllm-bench.

use crate::files::{errors, import, loads, notes, reported, run};
use dyno_import::import_bytes;
use dyno_model::metric::Time;

#[test]
fn a_report_with_streaming() {
    let run = run("trtllm.json");
    let origin = run.summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.version.as_deref()), ("trtllm-bench", Some("1.0.0")));
    assert_eq!(run.summary.run.model.as_deref(), Some("acme/pocket-1b"));
    assert_eq!(loads(&run), [("unknown", None)]);
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(100), None));
    assert_eq!(level.duration_s, Some(12.5));
    let rates = &level.throughput;
    assert_eq!(
        (rates.requests_per_s, rates.output_tokens_per_s, rates.total_tokens_per_s),
        (Some(8.0), Some(512.0), Some(2560.0))
    );
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!(
        (latency.mean, latency.p99, latency.min),
        (Some(3906.25), Some(4450.75), Some(2100.5))
    );
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.p50, ttft.max), (Some(610.5), Some(600.25), Some(1000.25)));
    assert_eq!(level.times[Time::Tpot].as_ref().unwrap().p95, Some(56.25));
    assert_eq!((level.times[Time::Itl].clone(), level.times[Time::ChunkGap].clone()), (None, None));
    // Only the inputs are of one length.
    assert_eq!((level.input_length, level.output_length), (Some(256), None));
    assert_eq!(level.output_tokens.unwrap().mean, 64.0);
    assert_eq!(reported(level, "request_info.avg_num_concurrent_requests"), 31.25);
}

#[test]
fn the_limit_of_requests_is_not_stated() {
    let imported = import("trtllm.json");
    assert!(notes(&imported)[0].contains("trtllm-bench does not state how requests were offered"));
}

#[test]
fn without_streaming_there_is_no_ttft() {
    let text = std::fs::read_to_string(crate::files::fixture("trtllm.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value.as_object_mut().unwrap().remove("streaming_metrics");
    let imported = import_bytes("a.json", value.to_string().as_bytes()).unwrap();
    assert_eq!(errors(&imported), Vec::<String>::new());
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!((&level.times[Time::Ttft], &level.times[Time::Tpot]), (&None, &None));
    assert!(level.times[Time::Latency].is_some());
}
