//! The table of llama-bench, in a log and in documents.

use super::*;

#[test]
fn a_log_has_a_level_for_each_row() {
    let imported = read("llama-bench.txt");
    assert_eq!(problems(&imported, Severity::Error), []);
    let run = &imported.runs[0];
    let origin = run.summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.form.as_str()), ("llama-bench", "table"));
    // Lines of the log do not name the run.
    assert_eq!(run.summary.run.label.as_deref(), Some("pocket 1B Q4_K - Medium"));
    assert_eq!(run.summary.run.model.as_deref(), Some("pocket 1B Q4_K - Medium"));
    assert_eq!(labels(run), ["pp512 fa=0", "tg128 fa=0", "pp512+tg128 fa=1", "tg128 @ d4096 fa=1"]);
    let speeds: Vec<_> =
        run.summary.levels.iter().map(|level| level.throughput.total_tokens_per_s).collect();
    assert_eq!(speeds, [Some(4321.5), Some(98.75), Some(412.5), Some(81.25)]);
    let reported = &run.summary.levels[0].reported.as_ref().unwrap().figures;
    assert_eq!((reported["t/s"], reported["t/s ±"]), (4321.5, 12.25));
    assert_eq!(load(&run.summary.levels[0]), ("unknown", None));
}

#[test]
fn several_models_in_a_table_are_told_apart() {
    let text = fixture("llama-bench.txt");
    let mut rows = text.lines().filter(|line| line.starts_with('|'));
    let table: Vec<&str> = rows.by_ref().take(3).collect();
    let other = table[2].replace("pocket 1B Q4_K", "pocket 3B Q8_0");
    let imported = read_text(&format!("{}\n{other}\n", table.join("\n")));
    let run = &imported.runs[0];
    assert_eq!(run.summary.run.model, None);
    assert_eq!(labels(run), ["pocket 1B Q4_K - Medium pp512", "pocket 3B Q8_0 - Medium pp512"]);
}

#[test]
fn tables_of_tools_that_test_a_server_are_not_its() {
    let text = "| model | test | t/s | peak t/s | ttfr (ms) |\n| --- | --- | --- | --- | --- |\n\
                | a | pp512 | 812.50 ± 1.25 | | 640.00 ± 1.00 |\n";
    assert!(import_bytes("a.md", text.as_bytes()).is_err());
}

#[test]
fn rows_that_are_not_tests_are_reported() {
    let text = fixture("llama-bench.txt").replace("98.75 ± 0.50", "failed");
    let imported = read_text(&text);
    assert_eq!(imported.runs[0].summary.levels.len(), 3);
    let errors = problems(&imported, Severity::Error);
    assert_eq!(errors.len(), 1);
    assert!(errors[0].0 == 6 && errors[0].1.contains("`failed`"), "{errors:?}");
}

#[test]
fn a_translated_header_is_the_same_header() {
    let text = "| 模型 | 大小 | 参数 | 后端 | ngl | 测试 | t/s |\n|-|-|-|-|-|-|-|\n\
                | pocket 1B | 1 GiB | 1 B | CPU | 0 | pp 512 | 12.50 ± 0.25 |\n";
    let imported = read_text(text);
    assert_eq!(imported.runs[0].summary.run.model.as_deref(), Some("pocket 1B"));
    assert_eq!(labels(&imported.runs[0]), ["pp512"]);
}

#[test]
fn progress_between_rows_does_not_end_the_table() {
    let text = fixture("llama-bench.txt");
    let mut number = 0;
    let logged = text.lines().map(|line| {
        number += usize::from(line.starts_with("| pocket"));
        let progress = format!("llama-bench: benchmark {number}/4: generation run 1/5");
        if number > 1 && line.starts_with("| pocket") {
            format!("{progress}\n{progress}\n{line}")
        } else {
            line.to_owned()
        }
    });
    let logged: Vec<String> = logged.collect();
    assert_eq!(
        labels(&read_text(&logged.join("\n")).runs[0]),
        labels(&read("llama-bench.txt").runs[0])
    );
}

#[test]
fn a_page_with_a_block_of_csv_is_still_a_page() {
    let csv = include_str!("../../fixtures/files/llama-bench.csv");
    let table = fixture("llama-bench.txt");
    let imported = read_text(&format!("# Speeds\n\n{table}\n\nas CSV:\n\n```csv\n{csv}\n```\n"));
    assert_eq!(labels(&imported.runs[0]).len(), 4);
}
