//! Blocks of the serving benchmarks of vLLM and SGLang.

use super::*;
use dyno_model::metric::Time;
use dyno_model::summary::Burstiness;

#[test]
fn blocks_that_follow_one_another_are_one_run() {
    let imported = read("vllm.txt");
    let runs: Vec<(&str, Vec<&str>)> = imported
        .runs
        .iter()
        .map(|run| (run.summary.run.label.as_deref().unwrap(), labels(run)))
        .collect();
    assert_eq!(
        runs,
        [
            ("seq_length: 80", vec!["burst 1", "burst 16", "burst 2048"]),
            ("seq_length: 10000", vec!["burst 1", "burst 64"]),
            ("num_prompt:1", vec!["burst 1", "burst 1 (2)"]),
        ]
    );
    let headings = &imported.runs[0].summary.run.origin.as_ref().unwrap().headings;
    assert_eq!(*headings, ["vllm", "num_prompts: 1, 16, 2048", "seq_length: 80"]);
}

#[test]
fn a_block_of_0_6_is_a_level() {
    let imported = read("vllm.txt");
    let level = &imported.runs[0].summary.levels[1];
    assert_eq!(load(level), ("burst", Some(16.0)));
    assert_eq!((level.requests.completed, level.requests.failed), (Some(16), None));
    assert_eq!(level.requests.planned, None);
    assert_eq!(level.duration_s, Some(6.57));
    let tokens = level.input_tokens.unwrap();
    assert_eq!((tokens.total, tokens.mean), (Some(1279), 79.9375));
    assert_eq!(level.output_tokens.unwrap().total, Some(936));
    assert_eq!(level.throughput.total_tokens_per_s, Some(337.26));
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.p50, ttft.p99), (Some(1034.69), Some(1207.28), Some(1413.84)));
    assert_eq!(mean(&level.times[Time::Tpot]), Some(63.38));
    assert_eq!(level.times[Time::ChunkGap].as_ref().unwrap().p99, Some(203.24));
    assert_eq!((&level.times[Time::Itl], &level.times[Time::Latency]), (&None, &None));
    assert_eq!(level.reported.as_ref().unwrap().figures.len(), 16);
}

#[test]
fn the_burst_is_reported_as_an_assumption() {
    let imported = read("vllm.txt");
    let notes = problems(&imported, Severity::Note);
    assert_eq!(notes.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 73, 118]);
    assert!(notes.iter().all(|(_, what)| what.contains("treated as a burst")));
    let codes: Vec<&str> =
        imported.runs[1].summary.notes.iter().map(|note| note.code.as_str()).collect();
    assert_eq!(codes, ["import_load_assumed"]);
}

#[test]
fn lengths_are_those_above_if_the_counts_agree() {
    let imported = read("vllm.txt");
    let lengths = |run: usize| -> Vec<Option<u32>> {
        imported.runs[run].summary.levels.iter().map(|level| level.input_length).collect()
    };
    assert_eq!(lengths(0), [Some(80); 3]);
    assert_eq!(lengths(1), [Some(10_000); 2]);
    assert_eq!(lengths(2), [None; 2]);
    let other = fixture("vllm.txt").replace("seq_length: 80", "seq_length: 4096");
    assert_eq!(read_text(&other).runs[0].summary.levels[0].input_length, None);
}

#[test]
fn todays_block_with_everything_that_can_be_asked_for() {
    let imported = read("vllm-today.txt");
    let run = &imported.runs[0];
    let level = &run.summary.levels[0];
    assert_eq!(load(level), ("rate", Some(4.0)));
    assert_eq!((level.requests.completed, level.requests.failed), (Some(118), Some(2)));
    // The terms of the SLO are not told.
    assert_eq!(level.slo, None);
    let extras = run.extras.of(0);
    assert_eq!((extras.peak_output_per_s, extras.peak_requests), (Some(612), Some(19)));
    assert_eq!(extras.burstiness, Some(Burstiness::Shape(0.5)));
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!(
        (latency.mean, latency.p90, latency.p99),
        (Some(1661.27), Some(2103.1), Some(2698.58))
    );
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().p90, Some(121.9));
    let figures = &level.reported.as_ref().unwrap().figures;
    assert_eq!(figures["Request goodput (req/s)"], 3.51);
    assert_eq!(figures["Acceptance length"], 2.24);
    assert_eq!(figures["Position 2"], 26.2);
    assert_eq!(figures["P50 ITL (ms)"], 11.7);
    assert_eq!(imported.problems, []);
}

#[test]
fn headings_that_name_a_load_are_levels_of_the_run_around_them() {
    let block = |slots: u32| {
        format!(
            "### Concurrency {slots}\n\n```\n= Serving Benchmark Result =\n\
             Successful requests: 90\nMaximum request concurrency: {slots}\n\
             Benchmark duration (s): 2.00\nMean TTFT (ms): 5.0\n====\n```\n\n"
        )
    };
    let text = format!(
        "# Notes\n\n## Qwen2-7B, one A100\n\n{}{}## Other\n\n{}",
        block(4),
        block(16),
        block(4)
    );
    let imported = read_text(&text);
    let runs: Vec<_> = imported
        .runs
        .iter()
        .map(|run| (run.summary.run.label.as_deref().unwrap(), labels(run)))
        .collect();
    let expected = [
        ("Qwen2-7B, one A100", vec!["concurrency 4", "concurrency 16"]),
        ("Other", vec!["concurrency 4"]),
    ];
    assert_eq!(runs, expected);
}

#[test]
fn the_stated_load_decides() {
    let block = |rows: &str| {
        let text = format!(
            "= Serving Benchmark Result =\nSuccessful requests: 90\nFailed requests: 10\n{rows}\
             Benchmark duration (s): 2.00\nMean TTFT (ms): 5.0\n====\n"
        );
        let imported = read_text(&text);
        let level = &imported.runs[0].summary.levels[0];
        (level.load.kind.to_string(), level.load.value, imported.problems.len())
    };
    assert_eq!(block(""), ("burst".to_owned(), Some(100.0), 1));
    assert_eq!(block("Maximum request concurrency: 8\n"), ("concurrency".to_owned(), Some(8.0), 0));
    assert_eq!(block("Request rate configured (RPS): 2.5\n"), ("rate".to_owned(), Some(2.5), 0));
    let both = "Max reqeuest concurrency: 8\nTraffic request rate: 2.5\n";
    assert_eq!(block(both), ("rate".to_owned(), Some(2.5), 1));
    let neither = "Traffic request rate: inf\nMax request concurrency: not set\n";
    assert_eq!(block(neither), ("burst".to_owned(), Some(100.0), 0));
    assert_eq!(block("Traffic request rate: trace\n"), ("unknown".to_owned(), None, 0));
}

#[test]
fn sglang_names_its_backend() {
    let imported = read("sglang.txt");
    assert_eq!(imported.runs.len(), 1, "each line above names a level");
    let run = &imported.runs[0];
    let origin = run.summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.form.as_str()), ("sglang", "block"));
    assert_eq!(run.summary.run.api.as_deref(), Some("openai-chat"));
    assert_eq!(labels(run), ["concurrency 16", "concurrency 32"]);
    let level = &run.summary.levels[0];
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.count, latency.p90), (Some(200), Some(3600.02)));
    let gaps = level.times[Time::ChunkGap].as_ref().unwrap();
    assert_eq!((gaps.p95, gaps.max), (Some(31.77), Some(240.05)));
    assert_eq!(level.output_tokens.unwrap().total, Some(25_600));
    let figures = &level.reported.as_ref().unwrap().figures;
    assert_eq!(figures["Total generated tokens (retokenized)"], 25_571.0);
    assert_eq!(figures["Accept length"], 1.87);
    assert_eq!(figures["Concurrency"], 15.72);
    assert_eq!(run.summary.levels[1].times[Time::Tpot], None);
    assert_eq!(run.extras.of(0).peak_requests, Some(18));
    assert_eq!(run.extras.of(1).peak_requests, None);
}

#[test]
fn a_block_of_0_4_and_one_in_which_nothing_succeeded() {
    let old = "\
============ Serving Benchmark Result ============
Successful requests:                     10
Benchmark duration (s):                  5.00
Total input tokens:                      1000
Total generated tokens:                  500
Request throughput (req/s):              2.00
Input token throughput (tok/s):          200.00
Output token throughput (tok/s):         100.00
---------------Time to First Token----------------
Mean TTFT (ms):                          30.00
Median TTFT (ms):                        29.00
P99 TTFT (ms):                           60.00
==================================================
";
    let imported = read_text(old);
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(level.throughput.total_tokens_per_s, None);
    assert_eq!(level.reported.as_ref().unwrap().figures["Input token throughput (tok/s)"], 200.0);
    let none =
        old.replace("requests:                     10", "requests: 0").replace("30.00", "0.00");
    let imported = read_text(&none);
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!((&level.times[Time::Ttft], &level.input_tokens), (&None, &None));
    assert_eq!(level.requests.completed, Some(0));
    assert!(imported.problems.iter().any(|problem| problem.what == "no request succeeded"));
}
