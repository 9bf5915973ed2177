//! The published tables: all of them are read, and what is wrong with them is found.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use dyno_analysis::lint::{Lint, lint};
use dyno_import::{Imported, import};
use dyno_model::Language;
use dyno_model::Summary;
use std::path::Path;

fn published(name: &str) -> Imported {
    import(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)).unwrap()
}

fn summaries(imported: &Imported) -> Vec<&Summary> {
    imported.runs.iter().map(|run| &run.summary).collect()
}

fn levels<'a>(runs: impl Iterator<Item = &'a Summary>) -> usize {
    runs.map(|run| run.levels.len()).sum()
}

#[test]
fn every_table_and_block_is_read() {
    let sweeps = published("rate-sweeps.md");
    let rows: Vec<usize> = summaries(&sweeps).iter().map(|run| run.levels.len()).collect();
    assert_eq!(rows, [11; 12]);

    let sweeps = published("concurrency-sweeps.md");
    let of = |form: &'static str| {
        summaries(&sweeps)
            .into_iter()
            .filter(move |run| run.run.origin.as_ref().unwrap().form == form)
    };
    assert_eq!((of("block").count(), levels(of("block"))), (11, 94));
    assert_eq!((of("pivot").count(), levels(of("pivot"))), (11, 93));

    let bursts = published("bursts.txt");
    let rows: Vec<usize> = summaries(&bursts).iter().map(|run| run.levels.len()).collect();
    assert_eq!(rows, [12, 7, 4]);

    let matrix = published("length-matrix.md");
    assert_eq!(levels(summaries(&matrix).into_iter()), 16);
}

fn findings(name: &str) -> Vec<Lint> {
    let imported = published(name);
    lint(&summaries(&imported), Language::English)
}

/// The rows of the finding of that check on the table whose name contains all these words.
fn rows(found: &[Lint], check: &str, table: &[&str]) -> Vec<String> {
    let is = |finding: &&Lint| {
        finding.check == check && table.iter().all(|word| finding.run.contains(word))
    };
    let found = found.iter().filter(is);
    found.flat_map(|finding| finding.rows.iter().map(|row| row.label.clone())).collect()
}

#[test]
fn columns_rates_and_rows_that_slipped_are_found() {
    let found = findings("rate-sweeps.md");
    let at = |check: &str, table: &[&str]| rows(&found, check, table);
    let shifted = at("tokens_by_itl", &["8 × L20", "vLLM"]);
    assert_eq!(shifted.len(), 6, "{shifted:?}");
    assert_eq!(at("rates_off_grid", &["MoE", "4 × A100"]), ["rate 10.89"]);
    assert_eq!(
        at("rates_off_grid", &["Qwen2-72B-Instruct, 4 × A100"]),
        ["rate 2.14", "rate 5.37", "rate 6.43"]
    );
    let repair =
        found.iter().find(|f| f.check == "rates_off_grid" && f.run.contains("72B")).unwrap();
    for pair in ["2.14→1.64", "3.04→2.34", "3.73→3.04", "5.37→3.73", "6.43→4.43"] {
        assert!(repair.cause.contains(pair), "{}", repair.cause);
    }
    assert_eq!(at("zeros", &["MoE", "2 × A100"]), ["rate 1.27"]);
    assert_eq!(at("zeros", &["AWQ", "2 × A100"]), ["rate 0.63", "rate 1.22"]);
    assert_eq!(at("zeros", &["AWQ", "4 × A100"]), ["rate 0.95"]);
    assert_eq!(at("above_offered", &["MoE", "2 × A100"]), ["rate 1.94"]);
    assert_eq!(at("above_offered", &["AWQ", "2 × A100"]), ["rate 0.92", "rate 1.52"]);
    assert_eq!(at("above_offered", &["AWQ", "4 × A100"]), ["rate 1.44"]);
    assert_eq!(at("slow_at_low_rate", &["MoE", "2 × A100"]), ["rate 1.94"]);
    assert_eq!(at("slow_at_low_rate", &["AWQ", "4 × A100"]).len(), 5);
    assert_eq!(at("ttft_below_synchronous", &["SGLang"]).len(), 9);
}

#[test]
fn idle_slots_lost_requests_and_cut_answers_are_found() {
    let found = findings("concurrency-sweeps.md");
    let at = |check: &str, table: &[&str]| rows(&found, check, table);
    assert_eq!(at("littles_law", &["14B"]).len(), 9);
    assert_eq!(at("littles_law", &["Qwen2-72B-Chat"]).len(), 6);
    assert_eq!(at("littles_law", &["T4: vLLM"])[0], "concurrency 100");
    assert_eq!(at("littles_law", &["XInference"])[0], "concurrency 64");
    assert_eq!(at("littles_law", &["MindIE", "7B-Chat"]), [] as [&str; 0]);
    assert_eq!(at("tokens_per_request", &["14B"]).len(), 7);
    assert_eq!(at("runaway_answer", &["14B"]), ["concurrency 32", "concurrency 128"]);
    let runaway = found.iter().find(|finding| finding.check == "runaway_answer").unwrap();
    assert!(runaway.cause.contains("about 78") || runaway.cause.contains("about 79"));
    assert_eq!(at("throughput_falls", &["DeepSeek", "pivot"])[0], "concurrency 400");
    assert!(!at("throughput_falls", &["T4: vLLM"]).is_empty());
    assert_eq!(at("requests_missing", &["DeepSeek"])[0], "concurrency 400");
    assert!(at("round_timeout", &["T4: vLLM"]).contains(&"concurrency 128".to_owned()));
    let disagree = at("forms_disagree", &["Qwen2-7B-Instruct (long.jsonl)"]);
    assert_eq!(disagree, ["25", "30", "35", "40"].map(|n| format!("concurrency {n}")));
    let whole = found.iter().filter(|finding| finding.check == "not_streamed");
    assert_eq!(whole.map(|finding| finding.rows.len()).sum::<usize>(), 94);
}

#[test]
fn a_context_that_ends_is_found() {
    let found = findings("length-matrix.md");
    assert_eq!(rows(&found, "context_clamp", &[]).len(), 3);
    assert!(found[0].cause.contains("a context of about 206"), "{}", found[0].cause);
}

#[test]
fn tables_without_a_defect_have_no_error() {
    let errors = |name: &str, table: &str| {
        let found = findings(name);
        let bad = |finding: &&Lint| {
            finding.weight == dyno_model::Severity::Error && finding.run.contains(table)
        };
        found.iter().filter(bad).map(|finding| finding.what.clone()).collect::<Vec<_>>()
    };
    for table in ["MoE-57B-A14B-Instruct, 4 × L20", "lmdeploy", "GPTQ", "8 × A100", "SGLang"] {
        assert_eq!(errors("rate-sweeps.md", table), [] as [&str; 0], "{table}");
    }
    assert_eq!(errors("concurrency-sweeps.md", "MindIE / Qwen1.5-7B-Chat"), [] as [&str; 0]);
    assert_eq!(findings("bursts.txt"), []);
}

#[test]
fn findings_are_available_in_chinese() {
    for name in ["rate-sweeps.md", "concurrency-sweeps.md", "length-matrix.md"] {
        let imported = published(name);
        for finding in lint(&summaries(&imported), Language::Chinese) {
            let chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
            assert!(chinese(&finding.what) && chinese(&finding.cause), "{finding:?}");
        }
    }
}
