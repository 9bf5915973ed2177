//! AIPerf and GenAI-Perf.

use crate::files::{close, errors, import, loads, reported, run};
use dyno_import::import_bytes;
use dyno_model::metric::Time;

#[test]
fn an_export_as_json() {
    let run = run("aiperf.json");
    assert_eq!(loads(&run), [("concurrency", Some(2.0))]);
    let origin = run.summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.version.as_deref()), ("aiperf", Some("0.13.0")));
    assert_eq!(run.summary.run.model.as_deref(), Some("tiny"));
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(8), Some(0)));
    close(
        level.times[Time::Ttft].as_ref().unwrap().mean,
        reported(level, "time_to_first_token.avg"),
        1e-6,
    );
    close(
        level.times[Time::Tpot].as_ref().unwrap().p90,
        reported(level, "inter_token_latency.p90"),
        1e-6,
    );
    assert_eq!(level.times[Time::ChunkGap].as_ref().unwrap().count, Some(120));
    assert_eq!(level.output_tokens.unwrap().total, Some(128));
    close(level.duration_s, 0.464796672, 1e-5);
}

#[test]
fn results_are_recomputed_from_requests_as_json_lines() {
    let run = run("aiperf.jsonl");
    let level = &run.summary.levels[0];
    let counts = &level.requests;
    // The warm-up is not counted.
    assert_eq!((counts.completed, counts.failed), (Some(8), Some(1)));
    assert_eq!(counts.failures["http.503"], 1);
    let told = import("aiperf.json");
    let told = &told.runs[0].summary.levels[0];
    for (ours, theirs) in [
        (&level.times[Time::Ttft], &told.times[Time::Ttft]),
        (&level.times[Time::Latency], &told.times[Time::Latency]),
        (&level.times[Time::Tpot], &told.times[Time::Tpot]),
        (&level.times[Time::ChunkGap], &told.times[Time::ChunkGap]),
    ] {
        let [ours, theirs] = [ours, theirs].map(|one| one.as_ref().unwrap());
        assert_eq!(ours.count, theirs.count);
        close(ours.mean, theirs.mean.unwrap(), 1e-3);
    }
    assert!(run.summary.run.started.as_ref().unwrap().starts_with("2026-11-15T13:27:1"));
    assert!(run.rebuilt.is_some());
}

#[test]
fn an_export_as_csv() {
    let run = run("aiperf.csv");
    let level = &run.summary.levels[0];
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "aiperf");
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.p99, ttft.std), (Some(42.18), Some(63.51), Some(9.54)));
    assert_eq!(level.requests.completed, Some(8));
    assert_eq!(level.duration_s, Some(0.46));
    assert_eq!(level.throughput.total_tokens_per_s, Some(473.34));
    assert_eq!(reported(level, "Time to Second Token (ms).avg"), 1.92);
    assert_eq!(loads(&run), [("unknown", None)]);
}

#[test]
fn genai_perf_is_much_the_same() {
    let run = run("genai-perf.json");
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "genai-perf");
    assert_eq!(run.summary.run.model.as_deref(), Some("tiny-7b"));
    assert_eq!(loads(&run), [("concurrency", Some(4.0))]);
    let level = &run.summary.levels[0];
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().p95, Some(1040.0));
    // It does not say whether any failed.
    assert_eq!((level.requests.completed, level.requests.failed), (Some(50), None));
}

#[test]
fn units_are_those_of_each_metric() {
    let text = "Metric,avg,min,max,p99\nTime to First Token (s),0.5,0.25,\"1,000\",1\n\
                Request Latency (parsecs),1,1,1,1\nInter Token Latency (ms),5,4\n\nMetric,Value\n\
                Request Count,10\n";
    let imported = import_bytes("a.csv", text.as_bytes()).unwrap();
    let level = &imported.runs[0].summary.levels[0];
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.max), (Some(500.0), Some(1e6)));
    assert_eq!((&level.times[Time::Latency], &level.times[Time::Tpot]), (&None, &None));
    assert_eq!(level.requests.completed, Some(10));
    let errors = errors(&imported);
    assert!(errors[0].contains("line 4") && errors[0].contains("3 cells"), "{errors:?}");
    assert!(errors[1].contains("`parsecs`"), "{errors:?}");
}

#[test]
fn a_folder_with_an_export_and_its_requests_is_one_run() {
    let run = &crate::files::run_of_folder(&[
        ("aiperf.json", "profile_export_aiperf.json"),
        ("aiperf.jsonl", "profile_export.jsonl"),
        ("aiperf.csv", "profile_export_aiperf.csv"),
    ]);
    assert_eq!(loads(run), [("concurrency", Some(2.0))]);
    assert_eq!(run.summary.run.model.as_deref(), Some("tiny"));
    assert!(run.rebuilt.is_some());
    let level = &run.summary.levels[0];
    assert_eq!(level.requests.failed, Some(1));
    assert_eq!(level.times[Time::Itl].as_ref().unwrap().count, Some(120));
    assert_eq!(reported(level, "request_count.avg"), 8.0);
}

#[test]
fn an_open_loop_has_due_times() {
    let mut bytes = std::fs::read(crate::files::fixture("aiperf.json")).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    bytes = text.replace("\"concurrency\": 2", "\"request_rate\": 20.0").into_bytes();
    bytes.extend(std::fs::read(crate::files::fixture("aiperf.jsonl")).unwrap());
    let imported = import_bytes("both.jsonl", &bytes).unwrap();
    assert_eq!(loads(&imported.runs[0]), [("rate", Some(20.0))]);
    let level = &imported.runs[0].summary.levels[0];
    let [sent, due] = [&level.times[Time::Ttft], &level.times[Time::TtftScheduled]]
        .map(|one| one.as_ref().unwrap().mean);
    // AIPerf itself says that requests went out 9.59 ms after their turn had come.
    close(Some(due.unwrap() - sent.unwrap()), 9.59, 1e-2);
}

#[test]
fn the_first_versions_have_their_metrics_in_records() {
    let run = run("aiperf-first.json");
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "aiperf");
    assert_eq!(run.summary.run.model.as_deref(), Some("acme/pocket-1b"));
    assert_eq!(run.summary.run.started.as_deref(), Some("2027-01-15T08:00:00Z"));
    assert_eq!(loads(&run), [("concurrency", Some(5.0))]);
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(4), Some(1)));
    assert_eq!(level.requests.planned, Some(5));
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.max, ttft.count), (Some(33.5), Some(36.5), Some(4)));
    assert_eq!(level.output_tokens.unwrap().mean, 7.5);
    assert_eq!(reported(level, "ttft.p50"), 33.5);
}

#[test]
fn the_first_versions_name_fields_of_requests_differently() {
    let run = run("aiperf-first.jsonl");
    let level = &run.summary.levels[0];
    let counts = &level.requests;
    // One was cancelled on purpose, and one was a warm-up.
    assert_eq!((counts.completed, counts.failed), (Some(4), Some(1)));
    assert_eq!(counts.failures["http.499"], 1);
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.min), (Some(33.5), Some(30.5)));
    close(level.times[Time::Tpot].as_ref().unwrap().mean, 4.71875, 1e-6);
    assert!(run.rebuilt.is_some());
}

#[test]
fn a_folder_of_the_first_versions_is_one_run() {
    let folder = tempfile::tempdir().unwrap();
    for form in ["json", "jsonl", "csv"] {
        let name = format!("aiperf-first.{form}");
        std::fs::copy(crate::files::fixture(&name), folder.path().join(&name)).unwrap();
    }
    let imported = dyno_import::import(folder.path()).unwrap();
    assert_eq!(imported.runs.len(), 1);
    assert!(imported.runs[0].rebuilt.is_some());
    assert_eq!(loads(&imported.runs[0]), [("concurrency", Some(5.0))]);
}

#[test]
fn its_csv_is_not_that_of_its_predecessor() {
    let run = run("aiperf-first.csv");
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "aiperf");
    let text = "Metric,avg,min,max,p99,p95\nRequest Latency (ms),5,4,6,6,6\n\nMetric,Value\n\
                Request Throughput (per sec),2\nRequest Count (count),10\n";
    let other = import_bytes("a.csv", text.as_bytes()).unwrap();
    assert_eq!(other.runs[0].summary.run.origin.as_ref().unwrap().tool, "genai-perf");
}

#[test]
fn rounding_to_two_digits_does_not_make_a_second_run() {
    // At 0.08 requests per second, two digits after the point are 6 % off.
    let json = std::fs::read_to_string(crate::files::fixture("aiperf-first.json")).unwrap();
    let csv = std::fs::read_to_string(crate::files::fixture("aiperf-first.csv")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&json).unwrap();
    value["records"]["request_throughput"]["avg"] = 0.0846.into();
    let csv = csv.replace("(requests/sec),49.38", "(requests/sec),0.08");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.json"), value.to_string()).unwrap();
    std::fs::write(folder.path().join("a.csv"), csv).unwrap();
    assert_eq!(dyno_import::import(folder.path()).unwrap().runs.len(), 1);
}

#[test]
fn what_was_not_streamed_has_no_ttft() {
    let imported = import("genai-perf-whole.json");
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(level.times[Time::Ttft], None);
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().max, Some(1010.75));
    assert_eq!(reported(level, "time_to_first_token.max"), 1010.75);
    let notes = crate::files::notes(&imported);
    assert!(notes[0].contains("not streamed"), "{notes:?}");
    // The setting decides, even where the values differ; and equal values, where it is not stated.
    let text = std::fs::read_to_string(crate::files::fixture("genai-perf.json")).unwrap();
    let streamed = import_bytes("a.json", text.as_bytes()).unwrap();
    assert!(streamed.runs[0].summary.levels[0].times[Time::Ttft].is_some());
    let whole = std::fs::read_to_string(crate::files::fixture("genai-perf-whole.json")).unwrap();
    let unsaid = whole.replace("\"streaming\": false,", "");
    let unsaid = import_bytes("a.json", unsaid.as_bytes()).unwrap();
    assert_eq!(unsaid.runs[0].summary.levels[0].times[Time::Ttft], None);
}

#[test]
fn a_table_of_other_metrics_is_not_a_result() {
    let imported = import_bytes("a.csv", b"Metric,Value\nColour,3\n").unwrap();
    assert!(imported.runs.is_empty());
    assert!(errors(&imported)[0].contains("no known metric"));
}

#[test]
fn the_settings_state_the_load_and_the_lengths() {
    let text = std::fs::read_to_string(crate::files::fixture("aiperf-first.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let loadgen = &mut value["input_config"]["loadgen"];
    loadgen["request_rate"] = 12.5.into();
    loadgen["request_rate_mode"] = "poisson".into();
    value["input_config"]["input"] = serde_json::json!({
        "prompt": {"input_tokens": {"mean": 20, "stddev": 0}, "output_tokens": {"mean": 8, "stddev": 2}}
    });
    let imported = import_bytes("a.json", value.to_string().as_bytes()).unwrap();
    let run = &imported.runs[0];
    assert_eq!(loads(run), [("rate", Some(12.5))]);
    assert_eq!(run.extras.of(0).burstiness, Some(dyno_model::summary::Burstiness::Shape(1.0)));
    let level = &run.summary.levels[0];
    assert_eq!((level.input_length, level.output_length), (Some(20), None));
    let notes = crate::files::notes(&imported);
    assert!(notes[0].contains("12.5 requests/s and at most 5"), "{notes:?}");
    // Prompts of a file have their own lengths.
    value["input_config"]["input"]["file"] = "prompts.jsonl".into();
    let imported = import_bytes("a.json", value.to_string().as_bytes()).unwrap();
    assert_eq!(imported.runs[0].summary.levels[0].input_length, None);
}
