//! k6's summaries.

use crate::files::{errors, import, loads, notes, reported};
use dyno_import::import_bytes;
use dyno_model::metric::Time;

#[test]
fn an_exported_summary_counts_failures_apart() {
    let imported = import("k6-export.json");
    assert_eq!(errors(&imported), Vec::<String>::new());
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "k6");
    assert_eq!(loads(run), [("unknown", None)]);
    let level = &run.summary.levels[0];
    // What passes the check of having failed has failed.
    assert_eq!((level.requests.completed, level.requests.failed), (Some(480), Some(20)));
    // 12.5 requests per second, of which 4 % failed.
    assert_eq!(level.throughput.requests_per_s, Some(12.0));
    // Of the responses that did not fail.
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.mean, latency.p50, latency.p95), (Some(945.0), Some(840.0), Some(2100.0)));
    assert_eq!((latency.p90, latency.p99, latency.count), (Some(1680.0), Some(2940.0), Some(480)));
    assert_eq!((level.times[Time::Ttft].clone(), level.duration_s), (None, None));
    assert_eq!(reported(level, "http_req_waiting.med"), 790.0);
    assert_eq!(reported(level, "vus.max"), 10.0);
    assert!(notes(&imported)[0].contains("k6 does not state how requests were offered"));
}

#[test]
fn the_summary_of_a_script_has_its_values_one_level_deeper() {
    let imported = import("k6-summary.json");
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(320), Some(0)));
    assert_eq!(level.duration_s, Some(40.0));
    assert_eq!(level.throughput.requests_per_s, Some(8.0));
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().p50, Some(600.0));
}

#[test]
fn times_that_mix_in_failures_are_only_reported() {
    let text = std::fs::read_to_string(crate::files::fixture("k6-export.json")).unwrap();
    let mixed = text.replace("http_req_duration{expected_response:true}", "other");
    let imported = import_bytes("a.json", mixed.as_bytes()).unwrap();
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(level.times[Time::Latency], None);
    assert_eq!(reported(level, "http_req_duration.med"), 800.0);
    assert!(notes(&imported)[0].contains("20 failed requests of 500"));
}

#[test]
fn without_a_count_of_failures_nothing_is_known_of_what_completed() {
    let text = r#"{"metrics": {"http_reqs": {"count": 40, "rate": 2.0},
        "http_req_duration": {"avg": 90.5, "med": 80.5}}}"#;
    let imported = import_bytes("a.json", text.as_bytes()).unwrap();
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!((level.requests.completed, level.throughput.requests_per_s), (None, None));
    assert_eq!(level.times[Time::Latency], None);
    assert!(notes(&imported)[0].contains("does not state which requests failed"));
}

#[test]
fn a_test_without_requests_has_no_level() {
    let text = r#"{"metrics": {"http_reqs": {"count": 0}, "http_req_duration": {"avg": 0}}}"#;
    let imported = import_bytes("a.json", text.as_bytes()).unwrap();
    assert!(imported.runs.is_empty() && !errors(&imported).is_empty());
}
