//! Tables of guidellm: one in 0.1, several that belong together since.

use super::*;
use dyno_model::Verdict;
use dyno_model::metric::Time;

#[test]
fn every_row_is_a_level() {
    let imported = read("guidellm.md");
    assert_eq!(imported.runs.len(), 2);
    let run = &imported.runs[0];
    assert_eq!(run.summary.levels.len(), 11);
    let level = &run.summary.levels[0];
    assert_eq!(load(level), ("concurrency", Some(1.0)));
    assert_eq!(level.throughput.requests_per_s, Some(0.60));
    assert_eq!(level.throughput.output_tokens_per_s, Some(71.04));
    assert_eq!(mean(&level.times[Time::Latency]), Some(1670.0));
    assert_eq!(mean(&level.times[Time::Ttft]), Some(108.93));
    assert_eq!(mean(&level.times[Time::ChunkGap]), Some(13.15));
    assert_eq!(level.times[Time::Itl], None);
    assert_eq!(level.verdict, Verdict::Unjudged);
    assert_eq!(load(&run.summary.levels[2]), ("rate", Some(2.60)));
    assert_eq!(load(&run.summary.levels[10]), ("unlimited", None));
}

#[test]
fn what_is_not_stated_is_absent() {
    let imported = read("guidellm.md");
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(level.requests, Default::default());
    assert_eq!((level.duration_s, level.steady), (None, None));
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.count, latency.p50, latency.p99), (None, None, None));
}

#[test]
fn a_run_has_the_name_above_its_table() {
    let imported = read("guidellm.md");
    let run = &imported.runs[1].summary.run;
    assert_eq!(run.model.as_deref(), Some("Qwen2-72B-Instruct"));
    let label = "Qwen2-72B-Instruct, 8 × A100 80GB, vLLM, prompt_tokens=512, generated_tokens=128";
    assert_eq!(run.label.as_deref(), Some(label));
    assert_eq!(run.id, "guidellm-2");
    let origin = run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.form.as_str()), ("guidellm", "table"));
    assert_eq!((origin.file.as_str(), origin.line), ("guidellm.md", Some(21)));
    assert_eq!(origin.headings, ["Servers side by side", label]);
    let level = &imported.runs[1].summary.levels[3];
    assert_eq!((level.input_length, level.output_length), (Some(512), Some(128)));
}

#[test]
fn every_value_is_kept_under_the_tools_name() {
    let imported = read("guidellm.md");
    let reported = imported.runs[0].summary.levels[0].reported.as_ref().unwrap();
    assert_eq!(reported.line, Some(7));
    let figures: Vec<(&str, f64)> = reported.figures.iter().map(|(n, v)| (&**n, *v)).collect();
    let expected = [
        ("Inter Token Latency (ms)", 13.15),
        ("Output Token Throughput (tokens/sec)", 71.04),
        ("Request Latency (sec)", 1.67),
        ("Requests per Second (req/sec)", 0.60),
        ("Time to First Token (ms)", 108.93),
    ];
    assert_eq!(figures, expected);
}

#[test]
fn a_row_of_zeros_has_no_times() {
    let imported = read("guidellm.md");
    let level = &imported.runs[0].summary.levels[1];
    assert_eq!(load(level), ("rate", Some(1.27)));
    assert_eq!(level.throughput.requests_per_s, Some(0.0));
    assert_eq!(
        (&level.times[Time::Latency], &level.times[Time::Ttft], &level.times[Time::ChunkGap]),
        (&None, &None, &None)
    );
    assert_eq!(level.reported.as_ref().unwrap().figures["Request Latency (sec)"], 0.0);
    let notes = problems(&imported, Severity::Note);
    assert!(
        notes
            .contains(&(8, "`asynchronous@1.27 req/sec` has 0 in every column: nothing completed"))
    );
}

#[test]
fn other_loads_and_columns() {
    let imported = read_text(
        "| Benchmark | Requests per Second | Request Latency (ms) | GPU use |\n\
         |---|---|---|---|\n\
         | concurrent@64 | 5.1 | 1200 | 87 % |\n\
         | poisson@2.5 req/sec | 2.4 | 900 | |\n\
         | soak | 2.2 | 800 | 5 |\n",
    );
    let levels = &imported.runs[0].summary.levels;
    assert_eq!(load(&levels[0]), ("concurrency", Some(64.0)));
    assert_eq!(load(&levels[1]), ("rate", Some(2.5)));
    assert_eq!(load(&levels[2]), ("unknown", None));
    assert_eq!(mean(&levels[0].times[Time::Latency]), Some(1200.0));
    assert_eq!(levels[0].reported.as_ref().unwrap().figures["GPU use (%)"], 87.0);
    let notes = problems(&imported, Severity::Note);
    assert_eq!(notes[0].0, 1);
    assert!(
        notes[0].1.ends_with(
            "no column Time to First Token, Inter Token Latency, Output Token Throughput"
        )
    );
}

#[test]
fn a_comparison_with_the_same_words_is_no_result() {
    for (head, name) in [("GPU", "A100"), ("Benchmark", "on one A100")] {
        let text = format!(
            "| {head} | Requests per Second | Request Latency | Time to First Token |\n\
             |---|---|---|---|\n| {name} | 5.1 | 1.2 | 80 |\n"
        );
        assert!(import_bytes("a.md", text.as_bytes()).is_err(), "{head}");
    }
}

#[test]
fn the_tables_of_0_2_are_one_run() {
    let imported = read("guidellm-0.2.txt");
    assert_eq!((imported.runs.len(), imported.problems.as_slice()), (1, &[][..]));
    let run = &imported.runs[0];
    assert_eq!(labels(run), ["concurrency 1", "unlimited", "rate 2.5"]);
    assert_eq!(run.summary.run.label, None, "titles of tables name no run");
    let level = &run.summary.levels[1];
    let counts = &level.requests;
    assert_eq!((counts.completed, counts.censored, counts.failed), (Some(300), Some(212), Some(3)));
    assert_eq!(level.duration_s, Some(30.0));
    assert_eq!(level.throughput.requests_per_s, Some(11.1));
    assert_eq!(level.throughput.output_tokens_per_s, Some(1420.1));
    let tokens = level.output_tokens.unwrap();
    assert_eq!((tokens.total, tokens.mean), (Some(38_400), 128.0));
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.p50, ttft.p99), (Some(868.5), Some(830.4), Some(1481.4)));
    // The mean over a response, whatever its name.
    assert_eq!(mean(&level.times[Time::Tpot]), Some(140.1));
    assert_eq!(level.times[Time::Itl], None);
}

#[test]
fn a_latency_in_seconds_is_one_whatever_is_above_it() {
    let seconds = fixture("guidellm-0.2.txt");
    assert!(seconds.contains("Req Latency (ms)"));
    let latency =
        |text: &str| mean(&read_text(text).runs[0].summary.levels[2].times[Time::Latency]);
    assert_eq!(latency(&seconds), Some(1660.0));
    assert_eq!(latency(&seconds.replace("Req Latency (ms) ", "Req Latency (sec)")), Some(1660.0));
    let millis = seconds.replace("|  1.66|   1.65|  1.80|", "|1660.0| 1650.0|1800.0|");
    assert_eq!(latency(&millis), Some(1660.0), "rate and concurrency decide");
}

#[test]
fn the_tables_since_0_4_are_one_run() {
    let imported = read("guidellm-0.4.log");
    assert_eq!((imported.runs.len(), imported.problems.as_slice()), (1, &[][..]));
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.model.as_deref(), Some("acme/made-up-8B"));
    assert_eq!(labels(run), ["concurrency 4", "concurrency 16", "unlimited"]);
    let level = &run.summary.levels[1];
    assert_eq!((level.input_length, level.output_length), (Some(512), Some(128)));
    assert_eq!(level.duration_s, Some(60.0));
    assert_eq!(level.throughput.requests_per_s, Some(5.0));
    assert_eq!(level.throughput.output_tokens_per_s, Some(640.1));
    assert_eq!(level.throughput.total_tokens_per_s, Some(3173.1));
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.p50, latency.p95, latency.mean), (Some(3200.0), Some(3400.0), None));
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().p95, Some(180.3));
    assert_eq!(level.times[Time::Tpot].as_ref().unwrap().p50, Some(24.6));
    // They are not stated.
    assert_eq!((level.requests.completed, level.output_tokens), (None, None));
    let figures = &level.reported.as_ref().unwrap().figures;
    assert_eq!(figures["Output Tokens Per Second Mean"], 633.0);
    assert_eq!(figures["TPOT ms Mdn"], 25.0);
    assert_eq!(figures["Output Tokens Comp Tot"], 38_016.0);
}

#[test]
fn a_statistic_may_reach_over_several_groups() {
    let log = fixture("guidellm-0.4.log");
    let (before, _) = log.split_once("ℹ Server Throughput").unwrap();
    let newer = "\
ℹ Server Throughput Statistics (All Requests)
|============|=======|======|=========|==============|===============|==============|
| Benchmark  | Requests             ||| Input Tokens | Output Tokens | Total Tokens |
| Strategy   | Concurrency || Per Sec | Per Sec      | Per Sec       | Per Sec      |
|            | Mdn   | Mean | Mean                                               ||||
|------------|-------|------|---------|--------------|---------------|--------------|
| concurrent | 4.0   | 4.0  | 1.7     | 861.5        | 215.4         | 1076.9       |
| concurrent | 16.0  | 15.9 | 5.0     | 2533.0       | 640.1         | 3173.1       |
| throughput | 200.0 | 16.5 | 9.8     | 5033.0       | 1260.1        | 6293.1       |
|============|=======|======|=========|==============|===============|==============|
";
    let imported = read_text(&format!("{before}{newer}"));
    assert_eq!((imported.runs.len(), imported.problems.as_slice()), (1, &[][..]));
    let rates: Vec<_> =
        imported.runs[0].summary.levels.iter().map(|l| l.throughput.requests_per_s).collect();
    assert_eq!(rates, [Some(1.7), Some(5.0), Some(9.8)]);
    assert_eq!(imported.runs[0].summary.levels[1].throughput.output_tokens_per_s, Some(640.1));
}

#[test]
fn a_strategy_without_its_value_is_said() {
    let text = fixture("guidellm-0.4.log").replace("streams", "other");
    let imported = read_text(&text);
    assert_eq!(load(&imported.runs[0].summary.levels[0]), ("concurrency", None));
    let notes = problems(&imported, Severity::Note);
    assert_eq!(notes.len(), 1, "said once: {notes:?}");
    assert_eq!(notes[0].1, "`concurrent` is stated without its concurrency or rate");
}

#[test]
fn a_second_report_in_the_log_is_a_second_run() {
    let text = fixture("guidellm-0.4.log");
    let imported = read_text(&text.repeat(2));
    let levels: Vec<usize> = imported.runs.iter().map(|run| run.summary.levels.len()).collect();
    assert_eq!(levels, [3, 3]);
}

#[test]
fn tables_without_rows_are_no_success() {
    let text = fixture("guidellm-0.4.log");
    let cut: String = text.lines().take(23).map(|line| format!("{line}\n")).collect();
    let imported = read_text(&cut);
    assert!(imported.runs.is_empty());
    assert_eq!(problems(&imported, Severity::Error), [(19, "a table of guidellm without values")]);
}
