//! AIPerf and GenAI-Perf.

use crate::{close, errors, import, loads, reported, run};
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
    assert!(run.records.is_some());
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
    let folder = tempfile::tempdir().unwrap();
    for (name, file) in [
        ("aiperf.json", "profile_export_aiperf.json"),
        ("aiperf.jsonl", "profile_export.jsonl"),
        ("aiperf.csv", "profile_export_aiperf.csv"),
    ] {
        std::fs::copy(crate::fixture(name), folder.path().join(file)).unwrap();
    }
    let imported = dyno_import::import(folder.path()).unwrap();
    assert_eq!(errors(&imported), Vec::<String>::new());
    assert_eq!(imported.runs.len(), 1);
    let run = &imported.runs[0];
    assert_eq!(loads(run), [("concurrency", Some(2.0))]);
    assert_eq!(run.summary.run.model.as_deref(), Some("tiny"));
    assert!(run.records.is_some());
    let level = &run.summary.levels[0];
    assert_eq!(level.requests.failed, Some(1));
    assert_eq!(level.times[Time::Itl].as_ref().unwrap().count, Some(120));
    assert_eq!(reported(level, "request_count.avg"), 8.0);
}

#[test]
fn an_open_loop_has_due_times() {
    let mut bytes = std::fs::read(crate::fixture("aiperf.json")).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    bytes = text.replace("\"concurrency\": 2", "\"request_rate\": 20.0").into_bytes();
    bytes.extend(std::fs::read(crate::fixture("aiperf.jsonl")).unwrap());
    let imported = import_bytes("both.jsonl", &bytes).unwrap();
    assert_eq!(loads(&imported.runs[0]), [("rate", Some(20.0))]);
    let level = &imported.runs[0].summary.levels[0];
    let [sent, due] = [&level.times[Time::Ttft], &level.times[Time::TtftScheduled]]
        .map(|one| one.as_ref().unwrap().mean);
    // AIPerf itself says that requests went out 9.59 ms after their turn had come.
    close(Some(due.unwrap() - sent.unwrap()), 9.59, 1e-2);
}
