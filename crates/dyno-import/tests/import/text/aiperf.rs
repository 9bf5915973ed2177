//! The tables that AIPerf and GenAI-Perf print.

use super::*;
use dyno_model::metric::Time;

#[test]
fn a_table_is_a_level() {
    let imported = read("aiperf.txt");
    assert_eq!((imported.runs.len(), imported.problems.as_slice()), (1, &[][..]));
    let run = &imported.runs[0];
    let origin = run.summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.form.as_str()), ("aiperf", "block"));
    // From the command below the table.
    assert_eq!(run.summary.run.model.as_deref(), Some("acme/tiny"));
    assert_eq!(run.summary.run.label.as_deref(), Some("acme/tiny"));
    assert_eq!(labels(run), ["concurrency 2"]);
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.duration_s), (Some(10), Some(14.92)));
    // Names that the terminal wrapped.
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.min, ttft.p50), (Some(19.1), Some(12.5), Some(13.9)));
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.p90, latency.max), (Some(4474.4), Some(7319.3)));
    assert_eq!(mean(&level.times[Time::Tpot]), Some(4.1));
    assert_eq!(level.throughput.requests_per_s, Some(0.67));
    assert_eq!(level.throughput.output_tokens_per_s, Some(470.1));
    assert_eq!(level.output_tokens.unwrap().mean, 700.0);
}

#[test]
fn a_number_that_the_terminal_cut_off_is_none() {
    let imported = read("genai-perf.txt");
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "genai-perf");
    let level = &run.summary.levels[0];
    assert_eq!((load(level), level.throughput.output_tokens_per_s), (("unknown", None), None));
    assert_eq!(level.throughput.requests_per_s, Some(0.67));
    let errors = problems(&imported, Severity::Error);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].1.contains("`470…` is not a valid value"), "{errors:?}");
}

#[test]
fn tables_of_one_model_are_the_levels_of_a_run() {
    let one = fixture("aiperf.txt");
    let two = one.replace("--concurrency 2", "--concurrency 8");
    let imported = read_text(&format!("{one}\n{two}"));
    assert_eq!(imported.runs.len(), 1);
    assert_eq!(labels(&imported.runs[0]), ["concurrency 2", "concurrency 8"]);
    let other = two.replace("acme/tiny", "acme/small");
    assert_eq!(read_text(&format!("{one}\n{other}")).runs.len(), 2);
}

#[test]
fn further_tables_belong_to_the_same_level() {
    let one = fixture("aiperf.txt");
    let more = "\
                    NVIDIA AIPerf | LLM Metrics: Effective
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━┳━━━━━━━┳━━━━━━━┓
┃                     Metric ┃   avg ┃   min ┃   max ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━╇━━━━━━━╇━━━━━━━┩
│      Effective Concurrency │  1.95 │  1.00 │  2.00 │
│                 (requests) │       │       │       │
└────────────────────────────┴───────┴───────┴───────┘

CLI Command:";
    let imported = read_text(&one.replace("CLI Command:", more));
    assert_eq!(imported.runs.len(), 1);
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(level.concurrency.map(|c| (c.mean, c.peak)), Some((1.95, 2)));
    assert_eq!(load(level), ("concurrency", Some(2.0)));
}

#[test]
fn tables_of_other_statistics_are_none() {
    let text =
        "| Metric | avg | min |\n|---|---|---|\n| CPU (%) | 5 | 1 |\n| Power (W) | 9 | 2 |\n";
    assert!(import_bytes("a.md", text.as_bytes()).is_err());
}
