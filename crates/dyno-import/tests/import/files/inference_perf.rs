//! inference-perf.

use crate::files::{close, errors, import, loads, notes, reported, run};
use dyno_import::{ImportOutcome, import_bytes};
use dyno_model::metric::Time;
use serde_json::Value;

fn stage(name: &str) -> Value {
    let file = crate::files::fixture("inference-perf").join(name);
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn a_stage_is_a_level() {
    let run = run("inference-perf/stage_1_lifecycle_metrics.json");
    assert_eq!(loads(&run), [("rate", Some(4.0))]);
    let origin = run.summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.form.as_str()), ("inference-perf", "json"));
    let level = &run.summary.levels[0];
    let counts = &level.requests;
    assert_eq!((counts.planned, counts.completed, counts.failed), (Some(12), Some(11), Some(1)));
    assert_eq!(level.duration_s, Some(3.106));
    let told = |name: &str| reported(level, &format!("successes.{name}"));
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    close(ttft.mean, told("latency.time_to_first_token.mean") * 1e3, 1e-6);
    close(ttft.p50, told("latency.time_to_first_token.median") * 1e3, 1e-6);
    close(ttft.p99_9, told("latency.time_to_first_token.p99.9") * 1e3, 1e-6);
    let latency = level.times[Time::Latency].as_ref().unwrap();
    close(latency.p90, told("latency.request_latency.p90") * 1e3, 1e-6);
    close(level.throughput.output_tokens_per_s, told("throughput.output_tokens_per_sec"), 1e-6);
    // The server counted one token more than the tool, whose rates are of its own count.
    assert_eq!(level.output_tokens.unwrap().mean, 20.0);
    assert_eq!(level.input_tokens.unwrap().total, Some(550));
    close(
        level.times[Time::Tpot].as_ref().unwrap().mean,
        told("latency.time_per_output_token.mean") * 1e3,
        1e-6,
    );
}

#[test]
fn before_tokens_were_counted_there_is_no_time_per_token() {
    let run = run("inference-perf-0.2.json");
    let level = &run.summary.levels[0];
    assert_eq!(loads(&run), [("rate", Some(2.0))]);
    assert_eq!(level.requests.completed, Some(8));
    let absent = (&level.times[Time::Tpot], &level.times[Time::ChunkGap], &level.times[Time::Itl]);
    assert_eq!(absent, (&None, &None, &None));
    assert_eq!(reported(level, "successes.latency.time_per_output_token.mean"), 0.005);
    assert_eq!(level.input_tokens.unwrap().mean, 50.0);
    assert_eq!(level.duration_s, None);
}

#[test]
fn a_closed_loop_states_its_concurrency() {
    let run = run("inference-perf-closed.json");
    assert_eq!(loads(&run), [("concurrency", Some(4.0))]);
}

#[test]
fn a_folder_is_one_run_with_a_level_for_each_stage() {
    let imported = import("inference-perf");
    assert_eq!(errors(&imported), Vec::<String>::new());
    assert_eq!(imported.runs.len(), 1);
    let run = &imported.runs[0];
    assert_eq!(loads(run), [("rate", Some(2.0)), ("rate", Some(4.0))]);
    // They are in the configuration.
    assert_eq!(run.summary.run.model.as_deref(), Some("small-3b"));
    assert_eq!(run.summary.run.target.as_deref(), Some("http://localhost:8000"));
    // The requests of both stages, in any order, are divided by when they were sent.
    assert!(run.rebuilt.is_some());
    let [first, second] = run.summary.levels.as_slice() else { panic!("two levels") };
    assert_eq!((first.requests.completed, second.requests.completed), (Some(8), Some(11)));
    assert_eq!(second.requests.failures["http.503"], 1);
    for (level, file) in
        [(first, "stage_0_lifecycle_metrics.json"), (second, "stage_1_lifecycle_metrics.json")]
    {
        let told = &stage(file)["successes"]["latency"];
        let mean = |name: &str| told[name]["mean"].as_f64().unwrap() * 1e3;
        close(level.times[Time::Ttft].as_ref().unwrap().mean, mean("time_to_first_token"), 1e-4);
        close(level.times[Time::Tpot].as_ref().unwrap().mean, mean("time_per_output_token"), 1e-4);
        // Its latency ends with the body, 4 ms after the last output.
        close(
            level.times[Time::Latency].as_ref().unwrap().mean,
            mean("request_latency") - 4.0,
            1e-4,
        );
    }
    let outcome =
        |name: &str| &imported.files.iter().find(|one| one.file == name).expect("the file").outcome;
    let is_copy = |name: &str| matches!(outcome(name), ImportOutcome::Copy { .. });
    assert!(is_copy("summary_lifecycle_metrics.json"));
    assert!(is_copy("per_request_lifecycle_metrics.json"));
    assert!(matches!(
        outcome("stage_1_lifecycle_metrics.json"),
        ImportOutcome::Read { levels: 1, .. }
    ));
    assert!(matches!(outcome("config.yaml"), ImportOutcome::Empty { .. }));
    assert!(matches!(outcome("stage_0_prometheus_metrics.json"), ImportOutcome::Empty { .. }));
}

#[test]
fn a_summary_or_requests_alone_are_a_level_of_unknown_load() {
    let summary = run("inference-perf/summary_lifecycle_metrics.json");
    assert_eq!(loads(&summary), [("unknown", None)]);
    assert_eq!(summary.summary.levels[0].requests.completed, Some(19));
    let requests = run("inference-perf/per_request_lifecycle_metrics.json");
    assert_eq!(loads(&requests), [("unknown", None)]);
    assert_eq!(requests.summary.levels[0].requests.failed, Some(1));
    assert!(requests.rebuilt.is_some());
}

#[test]
fn requests_of_another_run_are_not_mixed_in() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        std::fs::copy(crate::files::fixture("inference-perf").join(name), folder.path().join(name))
            .unwrap();
    };
    copy("stage_0_lifecycle_metrics.json");
    copy("per_request_lifecycle_metrics.json");
    let imported = dyno_import::import(folder.path()).unwrap();
    assert!(
        notes(&imported)[0].contains("per_request_lifecycle_metrics.json"),
        "{:?}",
        imported.problems
    );
    assert_eq!(imported.runs.len(), 1);
    assert!(imported.runs[0].rebuilt.is_none());
    assert_eq!(imported.runs[0].summary.levels[0].requests.completed, Some(8));
}

#[test]
fn what_has_no_results_is_named() {
    for (name, seen) in [
        ("inference-perf/config.yaml", "configuration"),
        ("inference-perf/stage_0_prometheus_metrics.json", "of the server"),
    ] {
        let imported = import(name);
        assert!(imported.runs.is_empty());
        assert!(errors(&imported)[0].contains(seen), "{:?}", imported.problems);
    }
}

#[test]
fn nothing_completed_is_not_a_rate_of_0() {
    let mut report = stage("stage_0_lifecycle_metrics.json");
    report["successes"]["count"] = 0.into();
    report["failures"]["count"] = 8.into();
    for name in ["requests_per_sec", "output_tokens_per_sec", "total_tokens_per_sec"] {
        report["successes"]["throughput"][name] = 0.0.into();
    }
    report["successes"]["latency"] = Value::Null;
    let imported = import_bytes("a.json", report.to_string().as_bytes()).unwrap();
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(0), Some(8)));
    assert_eq!(level.throughput.requests_per_s, None);
    assert_eq!(level.times[Time::Ttft], None);
}

#[test]
fn runs_whose_files_begin_differently_are_different_runs() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("stage_0_lifecycle_metrics.json", "tuned-stage_0_lifecycle_metrics.json"),
        ("stage_1_lifecycle_metrics.json", "tuned-stage_1_lifecycle_metrics.json"),
        ("stage_1_lifecycle_metrics.json", "plain-stage_1_lifecycle_metrics.json"),
        ("config.yaml", "plain-config.yaml"),
    ] {
        std::fs::copy(crate::files::fixture("inference-perf").join(from), folder.path().join(to))
            .unwrap();
    }
    let imported = dyno_import::import(folder.path()).unwrap();
    let runs = imported
        .runs
        .iter()
        .map(|run| (run.summary.levels.len(), run.summary.run.model.as_deref()));
    let mut runs: Vec<_> = runs.collect();
    runs.sort();
    assert_eq!(runs, [(1, Some("small-3b")), (2, None)]);
}
