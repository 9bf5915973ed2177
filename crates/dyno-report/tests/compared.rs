//! The table of a comparison within the width of the terminal, and what it says of refused requests.
#![allow(clippy::unwrap_used)]

#[path = "../../dyno-analysis/tests/common/mod.rs"]
mod common;

use common::*;
use dyno_analysis::compare::{Answer, Compared, Comparison, Note, Side, Terms, compare, gated};
use dyno_model::summary::{Overload, Retried};
use dyno_model::{Language, Summary};
use dyno_report::compared::{caveats, check_line, table};
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

/// A level of which the server shed a share, as counts.
fn shedding(completed: u64, shed: u64) -> Summary {
    let mut summary = summary();
    let counts = &mut summary.levels[0].requests;
    (counts.completed, counts.failed, counts.shed) = (Some(completed), Some(0), Some(shed));
    summary
}

fn against(first: &Summary, own: &Summary) -> Comparison {
    let sides = [("before", first), ("after", own)];
    compare(&sides.map(|(name, summary)| Side { name, summary }), &Terms::default())
}

#[test]
fn a_run_that_sheds_more_than_its_baseline_fails_the_gate() {
    let comparison = against(&shedding(120, 0), &shedding(60, 60));
    let text = table(&comparison, Language::English, Some(120));
    assert!(text.contains("shed %") && !text.contains("failed %"), "{text}");
    let note = "the server shed 50.0 % of the requests of after: times and rates cover only";
    assert!(text.contains(note), "{text}");
    let chosen = [Compared::named("latency_mean").unwrap()];
    let found = gated(&comparison, &chosen, 0.05);
    let check = found.checks.iter().find(|check| check.metric.is_shed()).unwrap();
    assert_eq!((found.answer, check.answer), (Answer::Fail, Answer::Fail));
    assert!(check_line(check, Language::English).ends_with("shed: 0.0 % → 50.0 %"));
    assert_eq!(found.caveats, [Note::Shed]);
    let better = gated(&against(&shedding(60, 60), &shedding(120, 0)), &[], 0.05);
    assert_ne!(better.answer, Answer::Fail);
    assert_eq!(better.caveats, [Note::Shed], "the baseline's times are those of half the requests");
    let none = gated(&against(&shedding(120, 0), &shedding(120, 0)), &[], 0.05);
    assert!(none.checks.iter().all(|check| !check.metric.is_shed()) && none.caveats.is_empty());
}

#[test]
fn different_apis_and_requests_sent_again_are_caveats() {
    let (first, mut own) = (shedding(120, 0), shedding(120, 0));
    own.levels[0].overload = Some(Overload {
        retried: Some(Retried {
            requests: 60,
            share: 0.5,
            completed: 60,
            retries: 60,
            first_refusal_ms: None,
            final_latency_ms: None,
        }),
        ..Default::default()
    });
    own.run.api = Some("sglang-generate".into());
    let comparison = against(&first, &own);
    let text = table(&comparison, Language::English, Some(120)).replace('\n', " ");
    let api = first.run.api.unwrap();
    assert!(text.contains(&format!("different APIs: {api}, sglang-generate")), "{text}");
    assert!(text.contains("sent again (--on-shed retry) for 50.0 % of the requests of after"));
    assert_eq!(gated(&comparison, &[], 0.05).caveats, [Note::OtherApi, Note::SentAgain]);
    let chinese = caveats(&comparison, Language::Chinese);
    assert!(chinese[1].contains("after 的 50.0 %"), "{chinese:?}");
}
