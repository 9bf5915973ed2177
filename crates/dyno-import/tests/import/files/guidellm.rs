//! guidellm, from 0.1 on.

use crate::files::{close, errors, import, loads, notes, reported, run};
use dyno_import::ImportOutcome;
use dyno_model::Verdict;
use dyno_model::metric::Time;

#[test]
fn the_first_version_is_computed_from_its_requests() {
    let run = run("guidellm-0.1.json");
    let summary = &run.summary;
    let wanted = [("concurrency", Some(1.0)), ("rate", Some(4.0)), ("unlimited", None)];
    assert_eq!(loads(&run), wanted);
    assert_eq!(summary.run.model.as_deref(), Some("tiny-7b"));
    assert_eq!(summary.run.started.as_deref(), Some("2024-07-14T23:33:20Z"));
    let level = &summary.levels[0];
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    // 100, 110, 120 and 130 ms; gaps of 20, 20 and 30 ms.
    assert_eq!((ttft.count, ttft.mean), (Some(4), Some(115.0)));
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().mean, Some(185.0));
    close(level.times[Time::Tpot].as_ref().unwrap().mean, 70.0 / 3.0, 1e-5);
    assert_eq!(level.times[Time::Itl].as_ref().unwrap().count, Some(12));
    // Four requests at 0.5 s, the last of which takes 0.2 s.
    assert_eq!(level.duration_s, Some(1.7));
    let failed = &summary.levels[1].requests;
    assert_eq!((failed.completed, failed.failed), (Some(4), Some(1)));
    assert!(summary.levels.iter().all(|level| level.verdict == Verdict::Unjudged));
    assert!(run.rebuilt.is_some());
}

#[test]
fn every_later_version_gives_the_same_kind_of_level() {
    for (name, load, version) in [
        ("guidellm-0.2.json", ("rate", Some(8.0)), None),
        ("guidellm-0.3.json", ("concurrency", Some(2.0)), None),
        ("guidellm-0.6.json", ("rate", Some(4.0)), Some("0.6.0")),
        ("guidellm-0.8.json", ("concurrency", Some(1.0)), Some("0.8.1")),
    ] {
        let run = run(name);
        assert_eq!(loads(&run)[0], load, "{name}");
        let summary = &run.summary;
        let origin = summary.run.origin.as_ref().unwrap();
        assert_eq!((origin.tool.as_str(), origin.version.as_deref()), ("guidellm", version));
        assert_eq!(summary.run.model.as_deref(), Some("tiny"));
        assert_eq!(summary.run.target.as_deref(), Some("http://localhost:8000"));
        let level = &summary.levels[0];
        assert_eq!(level.requests.completed, Some(6), "{name}");
        assert_eq!(level.requests.failed, Some(0));
        // Recomputed values equal those that the tool reports.
        let stat = |metric: &str, stat| reported(level, &format!("{metric}.successful.{stat}"));
        let ttft = level.times[Time::Ttft].as_ref().unwrap();
        close(ttft.mean, stat("time_to_first_token_ms", "mean"), 1e-4);
        close(ttft.max, stat("time_to_first_token_ms", "max"), 1e-4);
        close(
            level.times[Time::Tpot].as_ref().unwrap().mean,
            stat("inter_token_latency_ms", "mean"),
            1e-3,
        );
        // guidellm's latency goes to the end of the body, Dyno's to the last output.
        close(
            level.times[Time::Latency].as_ref().unwrap().mean,
            stat("request_latency", "mean") * 1e3,
            0.02,
        );
        assert_eq!(level.output_tokens.unwrap().total, Some(96));
        // It keeps no times between the first and the last token.
        assert_eq!((&level.times[Time::Itl], &level.times[Time::ChunkGap]), (&None, &None));
        assert_eq!(level.integrity.one_burst_share, None);
        assert!(run.rebuilt.is_some());
    }
}

#[test]
fn open_loops_have_due_times() {
    let run = run("guidellm-0.6.json");
    let level = &run.summary.levels[0];
    let mean = |figure: &Option<dyno_model::summary::Distribution>| figure.as_ref()?.mean;
    let [sent, due] =
        [mean(&level.times[Time::Ttft]).unwrap(), mean(&level.times[Time::TtftScheduled]).unwrap()];
    assert!(due > sent, "{due} {sent}");
    assert_eq!(level.client.send_lag_ms.unwrap().count, 6);
    let closed = super::run("guidellm-0.8.json");
    assert!(closed.summary.levels.iter().all(|level| level.times[Time::TtftScheduled].is_none()));
    assert!(closed.summary.levels.iter().all(|level| level.client.send_lag_ms.is_none()));
}

#[test]
fn results_are_not_computed_from_a_sample_of_the_requests() {
    let imported = import("guidellm-sampled.json");
    assert!(notes(&imported)[0].contains("2 of 6 requests"), "{:?}", imported.problems);
    let run = &imported.runs[0];
    assert!(run.rebuilt.is_none());
    let level = &run.summary.levels[0];
    assert_eq!(level.requests.completed, Some(6));
    let told = reported(level, "time_to_first_token_ms.successful.mean");
    close(level.times[Time::Ttft].as_ref().unwrap().mean, told, 1e-6);
    let p99 = reported(level, "time_to_first_token_ms.successful.percentiles.p99");
    close(level.times[Time::Ttft].as_ref().unwrap().p99, p99, 1e-6);
}

#[test]
fn warm_up_and_cool_down_do_not_count() {
    let run = run("guidellm-warmup.json");
    let level = &run.summary.levels[0];
    let counts = &level.requests;
    // Three before, six that count, two after, and one that was cancelled at the end.
    let all = (counts.completed, counts.failed, counts.censored, counts.planned);
    assert_eq!(all, (Some(6), Some(0), Some(0), Some(6)));
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    // 50 to 100 ms; those of the warm-up are 700 and 300 ms.
    assert_eq!(ttft.count, Some(6));
    close(ttft.mean, 75.0, 1e-4);
    close(ttft.p50, 75.0, 1e-4);
    // Five of six ended within the time that was measured: rates are of that time.
    assert_eq!(level.duration_s, Some(5.25));
    close(level.throughput.requests_per_s, 5.0 / 5.25, 1e-4);
    assert_eq!(level.steady, None);
    assert_eq!((level.input_length, level.output_length), (Some(40), Some(21)));
    assert!(run.rebuilt.is_some(), "they are kept, as warm-up");
}

#[test]
fn without_warm_up_the_rates_are_computed() {
    let run = run("guidellm-0.6.json");
    let level = &run.summary.levels[0];
    close(level.throughput.requests_per_s, 6.0 / level.duration_s.unwrap(), 1e-3);
}

#[test]
fn the_median_of_the_older_versions_is_not_a_percentile() {
    let bytes = std::fs::read_to_string(crate::files::fixture("guidellm-0.2.json")).unwrap();
    let mut report: serde_json::Value = serde_json::from_str(&bytes).unwrap();
    // Without the requests, its own values are shown.
    report["benchmarks"][0]["requests"] = serde_json::Value::Null;
    let imported = dyno_import::import_bytes("a.json", report.to_string().as_bytes()).unwrap();
    let level = &imported.runs[0].summary.levels[0];
    let told = reported(level, "time_to_first_token_ms.successful.median");
    close(level.times[Time::Ttft].as_ref().unwrap().p50, told, 1e-6);
    assert_eq!((level.input_length, level.output_length), (Some(12), Some(16)));
}

#[test]
fn csv_of_each_version_says_what_json_says() {
    for (csv, json) in [
        ("guidellm-0.2.csv", "guidellm-0.2.json"),
        ("guidellm-folder/benchmarks.csv", "guidellm-folder/benchmarks.json"),
        ("guidellm-folder/benchmarks.yaml", "guidellm-folder/benchmarks.json"),
    ] {
        let [ours, theirs] = [csv, json].map(run);
        assert_eq!(loads(&ours), loads(&theirs), "{csv}");
        let [a, b] = [&ours, &theirs].map(|run| &run.summary.run);
        assert_eq!((&a.model, &a.target), (&b.model, &b.target));
        let [a, b] = [a, b].map(|run| run.origin.as_ref().unwrap());
        assert_eq!((&a.tool, &a.version), (&b.tool, &b.version));
        assert_eq!(a.form.split(' ').next(), csv.rsplit('.').next());
        for (ours, theirs) in ours.summary.levels.iter().zip(&theirs.summary.levels) {
            let [a, b] = [&ours.requests, &theirs.requests];
            let counts = |one: &dyno_model::summary::RequestCounts| {
                (one.planned, one.completed, one.failed, one.censored)
            };
            assert_eq!(counts(a), counts(b));
            let told = |metric: &str| reported(theirs, &format!("{metric}.successful.mean"));
            close(ours.throughput.requests_per_s, told("requests_per_second"), 1e-6);
            close(ours.throughput.output_tokens_per_s, told("output_tokens_per_second"), 1e-6);
            close(ours.throughput.total_tokens_per_s, told("tokens_per_second"), 1e-6);
            let ttft = ours.times[Time::Ttft].as_ref().unwrap();
            close(ttft.mean, told("time_to_first_token_ms"), 1e-6);
            let listed =
                |name: &str| reported(theirs, &format!("time_to_first_token_ms.successful.{name}"));
            close(ttft.p50, listed("median"), 1e-6);
            close(ttft.p95, listed("percentiles.p95"), 1e-6);
            close(ttft.max, listed("max"), 1e-6);
            close(
                ours.times[Time::Tpot].as_ref().unwrap().mean,
                told("inter_token_latency_ms"),
                1e-6,
            );
            let latency = ours.times[Time::Latency].as_ref().unwrap();
            close(latency.mean, told("request_latency") * 1e3, 1e-6);
            let lengths = (ours.input_length, ours.output_length);
            assert_eq!(lengths, (theirs.input_length, theirs.output_length));
            let tokens =
                [ours.output_tokens, theirs.output_tokens].map(|tokens| tokens.unwrap().mean);
            assert_eq!(tokens[0], tokens[1]);
        }
    }
}

#[test]
fn the_forms_of_one_report_in_a_folder_are_one_run() {
    let imported = import("guidellm-folder");
    assert_eq!(errors(&imported), Vec::<String>::new());
    assert_eq!(imported.runs.len(), 1);
    assert_eq!(imported.runs[0].summary.run.origin.as_ref().unwrap().file, "benchmarks.json");
    let outcomes: Vec<(&str, bool)> = imported
        .files
        .iter()
        .map(|one| (one.file.as_str(), matches!(one.outcome, ImportOutcome::Copy { .. })))
        .collect();
    let copies = [("benchmarks.json", false), ("benchmarks.yaml", true), ("benchmarks.csv", true)];
    assert_eq!(outcomes, copies);
}

#[test]
fn a_row_that_does_not_fit_its_headings_is_left_out() {
    let imported = import("guidellm-shifted.csv");
    assert_eq!(imported.runs[0].summary.levels.len(), 1);
    let told = errors(&imported);
    assert!(told[0].contains("line 5") && told[0].contains("JSON"), "{told:?}");
}

#[test]
fn a_page_is_refused_with_a_hint() {
    let imported = import("guidellm.html");
    assert!(imported.runs.is_empty());
    assert!(errors(&imported)[0].contains("--outputs json"), "{:?}", imported.problems);
    assert_eq!(imported.files[0].outcome, ImportOutcome::Empty { tool: "guidellm".to_owned() });
}

#[test]
fn a_report_without_benchmarks_is_not_read_in_silence() {
    let report = br#"{"metadata": {"version": 1, "guidellm_version": "0.5.2"}, "benchmarks": []}"#;
    let imported = dyno_import::import_bytes("a.json", report).unwrap();
    assert!(imported.runs.is_empty());
    assert!(errors(&imported)[0].contains("no benchmark"), "{:?}", imported.problems);
}
