//! The table of a comparison within the width of the terminal.
#![allow(clippy::unwrap_used)]

#[path = "../../dyno-analysis/tests/common/mod.rs"]
mod common;

use common::*;
use dyno_analysis::compare::{Comparison, Side, Terms, compare};
use dyno_model::{Language, Summary};
use dyno_report::compared::table;
use dyno_words::columns::width;

fn summary() -> Summary {
    let (plan, records) = closed(8, 30);
    summary_with(&plan, records, |end| end.starved = Some(starved(30)))
}

fn compared(names: &[&str]) -> Comparison {
    let summary = summary();
    let sides: Vec<Side<'_>> = names.iter().map(|name| Side { name, summary: &summary }).collect();
    compare(&sides, &Terms::default())
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let long =
        ["qwen2-72b-vllm-0.6.3-baseline-of-monday", "qwen2-72b-vllm-0.7.0-候选版本-of-tuesday"];
    for names in [&long[..], &["a", "b", "c", "d"][..]] {
        let comparison = compared(names);
        for terminal in [40, 60, 80, 120, 200] {
            for language in [Language::English, Language::Chinese] {
                let text = table(&comparison, language, Some(terminal));
                for line in text.lines() {
                    assert!(width(line) <= terminal, "{terminal}: {line}\n{text}");
                }
            }
        }
    }
}

#[test]
fn the_verdict_is_kept_longest_and_stands_at_the_left() {
    let comparison = compared(&["before", "after"]);
    let narrow = table(&comparison, Language::English, Some(60));
    let head = narrow.lines().next().unwrap();
    assert!(head.contains("change") && head.contains("verdict"), "{narrow}");
    assert!(!head.contains("before"), "the values go first: {narrow}");
    assert!(narrow.contains("column") && narrow.contains("hidden"), "{narrow}");
    let column = |line: &str, word| width(line.split(word).next().unwrap());
    let at = column(head, "verdict");
    let verdicts = || narrow.lines().filter(|line| line.contains(" within "));
    assert!(verdicts().count() > 3, "{narrow}");
    assert!(verdicts().all(|line| column(line, "within") == at), "{narrow}");
    let narrower = table(&comparison, Language::English, Some(40));
    assert!(narrower.lines().next().unwrap().contains("verdict"), "{narrower}");
}

#[test]
fn a_file_is_as_wide_as_a_terminal_of_80_columns() {
    let comparison = compared(&["before", "after"]);
    let file = table(&comparison, Language::English, None);
    assert_eq!(file, table(&comparison, Language::English, Some(80)));
    assert!(file.contains("verdict") && file.contains("95 % interval"), "{file}");
    let wide = table(&comparison, Language::English, Some(200));
    assert!(wide.contains("95 % interval") && !wide.contains("hidden"), "{wide}");
}
