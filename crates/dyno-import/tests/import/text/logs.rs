//! Logs: several loads one after the other, what is stated ahead of each, prefixes, and logs without a result.

use super::*;
use dyno_import::ImportOutcome;
use dyno_model::metric::Time;

#[test]
fn a_log_of_several_loads_is_one_run() {
    let imported = read("vllm-sweep.log");
    assert_eq!((imported.runs.len(), imported.problems.as_slice()), (1, &[][..]));
    let run = &imported.runs[0];
    assert_eq!(labels(run), ["concurrency 4", "concurrency 16", "concurrency 64"]);
    assert_eq!(run.summary.run.model.as_deref(), Some("acme/made-up-8B"));
    assert_eq!(run.summary.run.label.as_deref(), Some("acme/made-up-8B"), "and not a tip");
    let planned: Vec<_> = run
        .summary
        .levels
        .iter()
        .map(|level| (level.requests.planned, level.requests.completed, level.requests.failed))
        .collect();
    let expected = [
        (Some(40), Some(40), Some(0)),
        (Some(160), Some(159), Some(1)),
        (Some(640), Some(640), Some(0)),
    ];
    assert_eq!(planned, expected);
    for level in &run.summary.levels {
        assert_eq!((level.input_length, level.output_length), (Some(512), Some(128)));
    }
}

#[test]
fn another_model_is_another_run() {
    let one = fixture("vllm-sweep.log");
    let other = one.replace("acme/made-up-8B", "acme/made-up-70B");
    let imported = read_text(&format!("{one}{other}"));
    let models: Vec<_> =
        imported.runs.iter().map(|run| run.summary.run.model.as_deref().unwrap()).collect();
    assert_eq!(models, ["acme/made-up-8B", "acme/made-up-70B"]);
}

#[test]
fn settings_say_what_the_block_does_not() {
    let log = fixture("vllm-sweep.log");
    let block: String = log
        .lines()
        .filter(|line| !line.starts_with("Maximum request") && !line.starts_with("Traffic"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(labels(&read_text(&block).runs[0])[0], "concurrency 4");
    let rate =
        block.replace("request_rate=inf", "request_rate=2.5").replace("max_concurrency", "x");
    assert_eq!(labels(&read_text(&rate).runs[0])[0], "rate 2.5");
    let fast = log.replace("Traffic request rate: inf", "Traffic request rate: 1000000000.0");
    assert_eq!(labels(&read_text(&fast).runs[0])[0], "concurrency 4", "as fast as possible");
    // Another range of lengths is no length.
    let ranged = log.replace("[512, 512]", "[256, 768]");
    assert_eq!(read_text(&ranged).runs[0].summary.levels[0].input_length, None);
}

#[test]
fn the_progress_bar_says_how_many_were_sent() {
    let log = fixture("vllm-sweep.log");
    let planned = |text: &str| read_text(text).runs[0].summary.levels[1].requests.planned;
    assert_eq!(planned(&log.replace("num_prompts=160", "num_prompts=999")), Some(160));
    assert_eq!(planned(&log.replace("160/160", "?")), Some(160), "the settings");
    let command = log.replace("160/160", "?").replace("Namespace(", "settings(");
    assert_eq!(planned(&command), None);
    assert_eq!(planned(&log.replace("160/160", "100/100")), None, "fewer than ended");
}

#[test]
fn zeros_where_there_was_nothing_to_measure_are_none() {
    let log = fixture("vllm-sweep.log")
        .replace("Mean ITL (ms):                           16.10", "Mean ITL (ms): 0.00")
        .replace("Median ITL (ms):                         15.70", "Median ITL (ms): 0.00")
        .replace("P99 ITL (ms):                            19.33", "P99 ITL (ms): 0.00");
    let imported = read_text(&log);
    let gaps: Vec<bool> = imported.runs[0]
        .summary
        .levels
        .iter()
        .map(|level| level.times[Time::ChunkGap].is_some())
        .collect();
    assert_eq!(gaps, [false, true, true]);
}

#[test]
fn prose_names_neither_model_nor_run() {
    let block = "\
============ Serving Benchmark Result ============
Successful requests:                     10
Benchmark duration (s):                  5.00
Request throughput (req/s):              2.00
Mean TTFT (ms):                          30.00
==================================================
";
    for above in [
        "We ran the model in a container",
        "Model: Available",
        "tip: install termplotlib and gnuplot to plot the metrics",
        "INFO 01-12 10:00:03 [loader.py:7] Loading model in 3 s",
        "$ curl http://localhost:8000/v1/models --silent",
    ] {
        let imported = read_text(&format!("{above}\n{block}"));
        let run = &imported.runs[0].summary.run;
        assert_eq!(run.model, None, "{above}");
        if !above.starts_with("We") && !above.starts_with("Model") {
            assert_eq!(run.label, None, "{above}");
        }
    }
    let stated = read_text(&format!("Model: tiny\n\n{block}"));
    assert_eq!(stated.runs[0].summary.run.model.as_deref(), Some("tiny"));
}

/// What was read, without the lines at which it stands.
fn read_values(imported: &Imported) -> Vec<String> {
    let levels = imported.runs.iter().flat_map(|run| &run.summary.levels);
    levels.map(|level| serde_json::to_string(level).unwrap()).collect()
}

#[test]
fn prefixes_and_colours_change_nothing() {
    for name in [
        "vllm-sweep.log",
        "guidellm-0.4.log",
        "guidellm-0.2.txt",
        "evalscope-1.9.log",
        "aiperf.txt",
    ] {
        let text = fixture(name);
        let plain = read(name);
        for prefix in ["2026-01-12T10:00:00.1234567Z ", "bench-1  | ", "[pod/bench-x7/main] "] {
            let logged: String = text.lines().map(|line| format!("{prefix}{line}\n")).collect();
            assert_eq!(read_values(&read_text(&logged)), read_values(&plain), "{name} {prefix}");
        }
        let coloured: String =
            text.lines().map(|line| format!("\u{1b}[1;34m{line}\u{1b}[0m\n")).collect();
        assert_eq!(read_values(&read_text(&coloured)), read_values(&plain), "{name}");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(read_values(&read_text(&crlf)), read_values(&plain), "{name}");
    }
}

#[test]
fn a_log_without_a_result_says_what_was_seen() {
    for (name, line, tool) in [
        ("vllm-sweep.log", 5, "vllm"),
        ("guidellm-0.4.log", 2, "guidellm"),
        ("aiperf.txt", 1, "aiperf"),
    ] {
        let text = fixture(name);
        let started: String = text.lines().take(12).map(|line| format!("{line}\n")).collect();
        let cut = if tool == "aiperf" { text.lines().next().unwrap() } else { &started };
        let imported = read_text(cut);
        assert!(imported.runs.is_empty());
        let what = format!("{tool} was started here, and no result of it follows");
        assert_eq!(problems(&imported, Severity::Error), [(line, what.as_str())]);
        assert_eq!(imported.files[0].outcome, ImportOutcome::Empty { tool: tool.to_owned() });
    }
}
