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
fn what_is_hidden_is_said_and_a_file_gets_everything() {
    let comparison = compared(&["before", "after"]);
    let narrow = table(&comparison, Language::English, Some(60));
    assert!(narrow.contains("column") && narrow.contains("hidden"), "{narrow}");
    assert!(!narrow.contains("95 % interval"), "{narrow}");
    for wide in [
        table(&comparison, Language::English, Some(200)),
        table(&comparison, Language::English, None),
    ] {
        assert!(wide.contains("95 % interval") && !wide.contains("hidden"), "{wide}");
    }
}
