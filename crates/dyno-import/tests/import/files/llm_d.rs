//! llm-d's Benchmark Reports.

use crate::files::{errors, import, loads, run};
use dyno_import::{ImportOutcome, import_bytes};
use dyno_model::metric::Time;
use dyno_model::summary::Distribution;

fn mean(one: &Option<Distribution>) -> Option<f64> {
    one.as_ref().and_then(|one| one.mean)
}

#[test]
fn a_report_of_version_0_1() {
    let run = run("llm-d-0.1.yaml");
    // The second of the loads that guidellm was asked for.
    assert_eq!(loads(&run), [("concurrency", Some(16.0))]);
    let summary = &run.summary;
    let origin = summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.form.as_str()), ("llm-d", "yaml 0.1"));
    assert_eq!(summary.run.model.as_deref(), Some("small-3b"));
    assert_eq!(summary.run.started.as_deref(), Some("2026-11-18T11:06:40Z"));
    let level = &summary.levels[0];
    let counts = &level.requests;
    let all = (counts.planned, counts.completed, counts.failed, counts.censored);
    assert_eq!(all, (Some(52), Some(48), Some(1), Some(3)));
    assert_eq!(level.duration_s, Some(12.5));
    assert_eq!(level.throughput.requests_per_s, Some(3.84));
    // Each time is in its own unit.
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.mean, latency.std, latency.p50), (Some(3750.0), Some(500.0), Some(3500.0)));
    assert_eq!(latency.p99_9, Some(4500.0));
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.p90), (Some(450.0), Some(610.5)));
    // guidellm's inter-token latency is a TPOT, and its TPOT is not.
    assert_eq!(mean(&level.times[Time::Tpot]), Some(84.5));
    assert_eq!(level.times[Time::ChunkGap], None);
}

#[test]
fn what_is_measured_depends_on_the_tool_that_measured() {
    let run = run("llm-d-0.2-vllm.json");
    // An infinite rate and a limit are a closed loop.
    assert_eq!(loads(&run), [("concurrency", Some(8.0))]);
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(60), Some(4)));
    assert_eq!(mean(&level.times[Time::Tpot]), Some(11.5));
    assert_eq!(mean(&level.times[Time::ChunkGap]), Some(12.5));
    assert_eq!((level.duration_s, &run.summary.run.model), (None, &None));
}

#[test]
fn stages_are_levels_and_the_results_they_were_made_of_are_not_read_twice() {
    let imported = import("llm-d-folder");
    assert_eq!(errors(&imported), Vec::<String>::new());
    assert_eq!(imported.runs.len(), 1);
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "inference-perf");
    assert_eq!(loads(run), [("rate", Some(2.0)), ("rate", Some(4.0))]);
    // Only the report has it.
    assert_eq!(run.summary.run.model.as_deref(), Some("small-3b"));
    let copies =
        imported.files.iter().filter(|one| matches!(one.outcome, ImportOutcome::Copy { .. }));
    assert!(copies.count() >= 1);
}

#[test]
fn reports_of_one_experiment_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    for stage in 0..2 {
        let name = format!("benchmark_report_v0.2,_stage_{stage}_lifecycle_metrics.json.yaml");
        let from = crate::files::fixture("llm-d-folder").join(&name);
        std::fs::copy(from, folder.path().join(&name)).unwrap();
    }
    let imported = dyno_import::import(folder.path()).unwrap();
    assert_eq!(imported.runs.len(), 1);
    let run = &imported.runs[0];
    assert_eq!(loads(run), [("rate", Some(2.0)), ("rate", Some(4.0))]);
    assert_eq!(run.summary.run.started.as_deref(), Some("2026-11-18T00:26:40Z"));
    let level = &run.summary.levels[1];
    assert_eq!(level.duration_s, Some(3.106));
    assert_eq!((level.requests.completed, level.requests.failed), (Some(11), Some(1)));
    // Whether inference-perf divided by tokens is not in the report.
    assert_eq!(level.times[Time::Tpot], None);
}

#[test]
fn a_time_in_an_unknown_unit_is_left_out() {
    let text = std::fs::read_to_string(crate::files::fixture("llm-d-0.1.yaml")).unwrap();
    let odd = text.replace("      units: s\n", "      units: fortnights\n");
    assert_ne!(odd, text);
    let imported = import_bytes("a.yaml", odd.as_bytes()).unwrap();
    assert!(errors(&imported)[0].contains("fortnights"), "{:?}", imported.problems);
    assert_eq!(imported.runs[0].summary.levels[0].times[Time::Latency], None);
}

#[test]
fn where_failures_are_not_stated_nothing_is_made_up() {
    let text = std::fs::read_to_string(crate::files::fixture("llm-d-0.1.yaml")).unwrap();
    let of = |name: &str| {
        let text = text.replace("    failures: 1\n    incomplete: 3\n", "");
        let text = text.replace("name: guidellm", &format!("name: {name}"));
        let imported = import_bytes("a.yaml", text.as_bytes()).unwrap();
        let counts = &imported.runs[0].summary.levels[0].requests;
        (counts.planned, counts.completed, counts.failed)
    };
    assert_eq!(of("inference-perf"), (Some(52), None, None));
    // Of vLLM's results, only the completed requests were counted.
    assert_eq!(of("vllm-benchmark"), (Some(52), Some(52), None));
}

#[test]
fn several_reports_may_be_in_a_list() {
    let one = std::fs::read_to_string(crate::files::fixture("llm-d-0.2-vllm.json")).unwrap();
    let other = one
        .replace("vllm-benchmark", "aiperf")
        .replace(r#""concurrency": 8"#, r#""concurrency": 9"#);
    let imported = import_bytes("a.json", format!("[{one}, {other}]").as_bytes()).unwrap();
    assert_eq!(imported.runs.len(), 1);
    assert_eq!(loads(&imported.runs[0]), [("concurrency", Some(8.0)), ("concurrency", Some(9.0))]);
    // AIPerf's inter-token latency is a TPOT.
    assert_eq!(mean(&imported.runs[0].summary.levels[1].times[Time::Tpot]), Some(12.5));
}

#[test]
fn a_version_without_quotes_is_one_as_well() {
    let text = std::fs::read_to_string(crate::files::fixture("llm-d-0.1.yaml")).unwrap();
    let imported = import_bytes("a.yaml", text.replace("'0.1'", "0.1").as_bytes()).unwrap();
    assert_eq!(imported.runs[0].summary.run.origin.as_ref().unwrap().form, "yaml 0.1");
}

#[test]
fn a_report_of_sessions_has_no_requests() {
    let report =
        "version: '0.2'\nresults:\n  session_performance:\n    sessions:\n      total: 24\n";
    let imported = import_bytes("a.yaml", report.as_bytes()).unwrap();
    assert!(imported.runs.is_empty());
    assert!(errors(&imported)[0].contains("no metrics of requests"), "{:?}", imported.problems);
}
