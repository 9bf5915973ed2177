//! Blocks and pivot tables of EvalScope.

use super::*;
use dyno_analysis::lint::{Lint, lint};
use dyno_model::Language;
use dyno_model::metric::Time;
use dyno_model::summary::RequestCounts;

#[test]
fn blocks_and_pivots_are_separate_runs() {
    let imported = read("evalscope.md");
    let forms: Vec<(String, &str, usize)> = imported
        .runs
        .iter()
        .map(|run| {
            let origin = run.summary.run.origin.as_ref().unwrap();
            let label = run.summary.run.label.clone().unwrap();
            (label, origin.form.as_str(), run.summary.levels.len())
        })
        .collect();
    let expected = [
        ("MindIE / Qwen1.5-7B-Chat (pivot)", "pivot", 3),
        ("MindIE / Qwen1.5-7B-Chat", "block", 3),
        ("vLLM / Qwen1.5-7B-Chat (pivot)", "pivot", 3),
        ("vLLM / Qwen1.5-7B-Chat", "block", 3),
        ("Qwen2-7B-Instruct (long.jsonl) (pivot)", "pivot", 3),
        ("Qwen2-7B-Instruct (long.jsonl)", "block", 3),
    ];
    assert_eq!(forms, expected.map(|(label, form, levels)| (label.to_owned(), form, levels)));
    let run = &imported.runs[5].summary.run;
    assert_eq!(run.origin.as_ref().unwrap().headings, ["vLLM", "Qwen2-7B-Instruct (long.jsonl)"]);
    assert_eq!(run.model.as_deref(), Some("Qwen2-7B-Instruct"));
}

#[test]
fn a_block_is_a_level() {
    let imported = read("evalscope.md");
    let level = &imported.runs[1].summary.levels[0];
    assert_eq!((level.label.as_str(), load(level)), ("concurrency 8", ("concurrency", Some(8.0))));
    assert_eq!(level.duration_s, Some(404.284));
    let counts = RequestCounts {
        planned: Some(1000),
        completed: Some(1000),
        failed: Some(0),
        ..RequestCounts::default()
    };
    assert_eq!(level.requests, counts);
    assert_eq!(level.throughput.requests_per_s, Some(2.474));
    assert_eq!(level.throughput.output_tokens_per_s, Some(594.929));
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.mean, latency.p50), (Some(3213.0), Some(3246.1)));
    assert_eq!((latency.p66, latency.p98), (Some(3758.7), Some(6367.8)));
    assert_eq!(level.input_tokens.map(|tokens| (tokens.total, tokens.mean)), Some((None, 40.296)));
    // The inverse of the throughput, whatever its name: no TPOT.
    assert_eq!(level.times[Time::Tpot], None);
    let figures = &level.reported.as_ref().unwrap().figures;
    assert_eq!(figures["Average time per output token"], 0.00168);
    assert_eq!(figures["Percentile of request latency p99"], 6.8545);
    assert_eq!(figures.len(), 15 + 16);
}

#[test]
fn a_pivot_is_a_level_for_each_column() {
    let imported = read("evalscope.md");
    let levels = &imported.runs[0].summary.levels;
    assert_eq!(labels(&imported.runs[0]), ["concurrency 8", "concurrency 16", "concurrency 720"]);
    let level = &levels[2];
    assert_eq!(level.duration_s, Some(40.58));
    assert_eq!(level.throughput.output_tokens_per_s, Some(5940.622));
    let latency = level.times[Time::Latency].as_ref().unwrap();
    let found = (latency.mean, latency.p50, latency.p90, latency.p99);
    assert_eq!(found, (Some(18790.0), Some(20416.1), Some(26818.3), None));
    assert_eq!(level.requests.failed, None);
    // An empty cell is not 0.
    let failed: Vec<Option<u64>> =
        imported.runs[2].summary.levels.iter().map(|level| level.requests.failed).collect();
    assert_eq!(failed, [None, Some(6), Some(28)]);
}

/// What the linter finds of a check: its words, and the rows.
fn found(imported: &Imported, check: &str) -> Vec<(String, Vec<String>)> {
    let runs: Vec<_> = imported.runs.iter().map(|run| &run.summary).collect();
    let found = lint(&runs, Language::English).into_iter().filter(|found| found.check == check);
    let rows = |found: &Lint| found.rows.iter().map(|row| row.label.clone()).collect();
    found.map(|found| (found.what.clone(), rows(&found))).collect()
}

#[test]
fn differences_between_pivot_and_blocks_are_found() {
    let differing = found(&read("evalscope.md"), "forms_disagree");
    let rows = ["concurrency 25".to_owned(), "concurrency 40".to_owned()].to_vec();
    assert_eq!(differing.len(), 1);
    assert!(differing[0].0.starts_with("failed differs in the pivot"), "{differing:?}");
    assert_eq!(differing[0].1, rows);
    let changed = fixture("evalscope.md").replace("| 404.284 |", "| 401.284 |");
    let differing = found(&read_text(&changed), "forms_disagree");
    let what = "duration differs in the pivot of the same results: concurrency 8: 404.284 \
                vs 401.284";
    assert!(differing.iter().any(|(found, _)| found == what), "{differing:?}");
}

#[test]
fn a_level_in_one_of_both_only_is_found() {
    let without =
        fixture("evalscope.md").replace("Number of concurrency: 16", "Number of concurrency: 17");
    let imported = read_text(&without);
    let alone = found(&imported, "forms_unmatched");
    assert_eq!(alone[0].1, ["concurrency 16", "concurrency 17"]);
    let notes = problems(&imported, Severity::Note);
    let what = "the line above says `parallel 16`, but the block has a concurrency of 17";
    assert!(notes.iter().any(|(_, noted)| *noted == what), "{notes:?}");
}

#[test]
fn responses_that_were_not_streamed_are_reported() {
    let imported = read("evalscope.md");
    let level = &imported.runs[1].summary.levels[0];
    assert!(level.is_whole());
    let said = |imported: &Imported| {
        imported.problems.iter().filter(|problem| problem.what.contains("in one piece")).count()
    };
    assert_eq!(said(&imported), 3, "once for each run of blocks");
    let streamed = fixture("evalscope.md")
        .replace("Average package per request: 1.000", "Average package per request: 200.000")
        .replace("Average package latency: 3.213", "Average package latency: 0.016");
    let streamed = read_text(&streamed);
    assert_eq!(said(&streamed), 0);
    let level = &streamed.runs[1].summary.levels[0];
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().p99, Some(6854.5));
    assert_eq!(mean(&level.times[Time::ChunkGap]), Some(16.0));
}

#[test]
fn inconsistent_counts_are_reported() {
    let changed =
        fixture("evalscope.md").replacen("Total requests: 1000", "Total requests: 1002", 1);
    let imported = read_text(&changed);
    let what = "`concurrency 8`: 1002 requests in total, but 1000 that succeeded or failed";
    assert!(problems(&imported, Severity::Note).iter().any(|(_, noted)| *noted == what));
}

#[test]
fn the_grid_of_later_versions() {
    let imported = read("evalscope-grid.txt");
    assert_eq!(imported.runs.len(), 1);
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(load(level), ("concurrency", Some(10.0)));
    assert_eq!(level.duration_s, Some(92.5));
    assert_eq!(level.throughput.requests_per_s, Some(1.081));
    assert_eq!(level.throughput.output_tokens_per_s, Some(1727.45));
    assert_eq!(level.throughput.total_tokens_per_s, Some(1749.1));
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!(
        (latency.mean, latency.p50, latency.p99),
        (Some(8636.0), Some(9385.0), Some(11168.8))
    );
    assert_eq!(level.times[Time::Tpot].as_ref().unwrap().p50, Some(5.2));
    let figures = &level.reported.as_ref().unwrap().figures;
    assert_eq!(figures["Latency (s) 10%"], 5.4506);
    assert_eq!(figures.get("TPOT (s) 10%"), None);
    assert_eq!(figures["Output tokens 99%"], 2048.0);
    assert_eq!(problems(&imported, Severity::Error), []);
}

#[test]
fn the_tables_of_1_9_are_one_level() {
    let imported = read("evalscope-1.9.log");
    assert_eq!((imported.runs.len(), imported.problems.as_slice()), (1, &[][..]));
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.model.as_deref(), Some("acme/tiny-1.5B"));
    assert_eq!(run.summary.run.label.as_deref(), Some("acme/tiny-1.5B"));
    assert_eq!(labels(run), ["concurrency 5"]);
    let level = &run.summary.levels[0];
    let counts = &level.requests;
    assert_eq!((counts.planned, counts.completed, counts.failed), (Some(20), Some(19), Some(1)));
    assert_eq!(level.duration_s, Some(4.24));
    assert_eq!(level.throughput.requests_per_s, Some(4.48));
    assert_eq!(level.throughput.output_tokens_per_s, Some(558.36));
    assert_eq!(level.throughput.total_tokens_per_s, Some(716.1));
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.mean, latency.min, latency.p99), (Some(1020.0), Some(610.0), Some(1610.0)));
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!((ttft.mean, ttft.p50, ttft.max), (Some(41.3), Some(40.2), Some(80.9)));
    assert_eq!(mean(&level.times[Time::Tpot]), Some(7.91));
    assert_eq!(mean(&level.times[Time::ChunkGap]), Some(7.88));
    assert_eq!(level.input_tokens.unwrap().mean, 35.2);
}

#[test]
fn a_rate_is_the_load_where_there_is_one() {
    let log = fixture("evalscope-1.9.log");
    let load_with = |rate: &str| {
        let imported = read_text(&log.replace("│        -1.00 │", &format!("│ {rate:>12} │")));
        let level = &imported.runs[0].summary.levels[0];
        (level.load.kind.to_string(), level.load.value, imported.problems.len())
    };
    assert_eq!(load_with("INF"), ("concurrency".to_owned(), Some(5.0), 0));
    assert_eq!(load_with("2.50"), ("rate".to_owned(), Some(2.5), 1));
}

#[test]
fn percentiles_belong_to_the_summary_above_them() {
    let log = fixture("evalscope-1.9.log");
    let warned = log.replace(
        "Percentile results:",
        "2026-01-12 10:00:09 - evalscope - WARNING: some requests failed\nPercentile results:",
    );
    assert_eq!(labels(&read_text(&warned).runs[0]), ["concurrency 5"]);
    let at = log.find("Percentile results:").unwrap();
    let end = log.find("╭").unwrap();
    let alone = read_text(&log[at..end]);
    assert_eq!(labels(&alone.runs[0]), ["unknown"], "one level, of which the load is not stated");
    let notes = problems(&alone, Severity::Note);
    assert!(notes[0].1.starts_with("EvalScope's percentiles without the summary"), "{notes:?}");
    assert_eq!(alone.runs[0].summary.levels[0].times[Time::Ttft].as_ref().unwrap().p99, Some(80.9));
}

#[test]
fn a_summary_without_its_heading_is_read() {
    let log = fixture("evalscope-1.9.log");
    let (_, from) = log.split_once("Benchmarking summary:\n").unwrap();
    let (tables, _) = from.split_once("╭").unwrap();
    let imported = read_text(&tables.replace("Percentile results:\n", "\n"));
    assert_eq!((imported.runs.len(), imported.problems.as_slice()), (1, &[][..]));
    let level = &imported.runs[0].summary.levels[0];
    assert_eq!(load(level), ("concurrency", Some(5.0)));
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().p99, Some(80.9));
}

#[test]
fn a_report_is_a_level_for_each_row() {
    let imported = read("evalscope-report.txt");
    assert_eq!((imported.runs.len(), imported.problems.as_slice()), (1, &[][..]));
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.model.as_deref(), Some("tiny-1.5B"));
    assert_eq!(labels(run), ["concurrency 1", "concurrency 5"]);
    let levels = &run.summary.levels;
    let counts: Vec<_> =
        levels.iter().map(|level| (level.requests.planned, level.requests.completed)).collect();
    assert_eq!(counts, [(Some(10), Some(10)), (Some(20), None)], "95.0% is a rounded share");
    let latency = levels[1].times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.mean, latency.p99), (Some(1020.0), Some(1610.0)));
    assert_eq!(mean(&levels[1].times[Time::Ttft]), Some(41.3));
    assert_eq!(levels[1].throughput.output_tokens_per_s, Some(558.36));
}

#[test]
fn the_report_since_1_9_has_the_metrics_in_a_second_table() {
    let imported = read("evalscope-overview.txt");
    assert_eq!((imported.runs.len(), imported.problems.as_slice()), (1, &[][..]));
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.label.as_deref(), Some("tiny-1.5B"));
    assert_eq!(labels(run), ["concurrency 2", "concurrency 8"]);
    let [first, second] = &run.summary.levels[..] else { panic!() };
    assert_eq!((first.requests.planned, first.requests.completed), (Some(30), Some(30)));
    assert_eq!((second.requests.planned, second.requests.completed), (Some(90), None));
    assert_eq!(second.throughput.output_tokens_per_s, Some(988.2));
    let latency = second.times[Time::Latency].as_ref().unwrap();
    assert_eq!((latency.mean, latency.p50, latency.p99), (Some(842.0), Some(838.0), Some(1102.0)));
    assert_eq!(second.times[Time::Ttft].as_ref().unwrap().p99, Some(91.0));
    assert_eq!(second.output_tokens.unwrap().mean, 105.0);
    let turns = "│      │      │ Turns/Req     │   1.60 │     - │     - │\n│    8";
    let several = fixture("evalscope-overview.txt").replacen(
        "│    8 │    - │ Latency",
        &format!("{turns} │    - │ Latency"),
        1,
    );
    let level = &read_text(&several).runs[0].summary.levels[0];
    assert_eq!(level.requests.planned, None, "conversations are not requests");
}

#[test]
fn glossaries_and_tables_of_other_things_are_no_results() {
    let error = import_bytes("glossary.md", fixture("glossary.md").as_bytes()).unwrap_err();
    assert!(matches!(error, dyno_import::ImportError::Unknown { .. }));
    // The same rows are results where the columns state loads.
    let table = |heads: &str| {
        let text =
            format!("| 指标 | {heads} |\n|---|---|---|\n| QPS | 3 | 5 |\n| TTFT | 1 | 2 |\n");
        import_bytes("a.md", text.as_bytes()).map(|imported| imported.runs[0].summary.levels.len())
    };
    for heads in ["8 | 16", "parallel 8 | parallel 16", "c=8 | c=16", "8 并发 | 16 并发"] {
        assert_eq!(table(heads).ok(), Some(2), "{heads}");
    }
    for heads in ["A100 | H20", "v1 | v2", "P50 | P99", "1.5 | 2.5", "before | after"] {
        assert!(table(heads).is_err(), "{heads}");
    }
}
