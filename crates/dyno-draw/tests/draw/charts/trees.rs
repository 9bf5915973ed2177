//! Trees of sessions: bands, rows, bars and marks.

use super::*;
use dyno_model::record::RequestRecord;
use dyno_testing::forest::{forest, forest_plan, of_tree, warming};
use dyno_testing::runs::{source_of, stream, summary_of};

fn drawn(records: Vec<RequestRecord>, language: Language) -> String {
    let plan = forest_plan(8);
    let detail = Detail::gather(&source_of(&plan, records.clone()));
    let summary = summary_of(&plan, records);
    let all = chart::charts(&summary, Some(&detail), &ChartOptions { language });
    let found = all.into_iter().find(|(name, _)| name == "trees");
    found.map(|(_, drawing)| drawing).unwrap_or_default()
}

fn lines(drawing: &str) -> Vec<String> {
    texts(drawing).lines().map(str::to_owned).collect()
}

#[test]
fn the_first_trees_of_a_level_with_what_became_of_them() {
    let records = forest(8, 90_000);
    let drawing = drawn(records.clone(), Language::English);
    let lines = lines(&drawing);
    let has = |text: &str| assert!(lines.iter().any(|line| line == text), "{text}: {lines:#?}");
    has("c=8 (the first 12 of 14 trees)");
    ["tree 1", "failed", "too long", "cut", "tree 12, cut"].into_iter().for_each(has);
    assert!(!lines.iter().any(|line| line.starts_with("tree 13")));
    let shown = |record: &&RequestRecord| record.tree.as_ref().unwrap().tree < 12;
    let joins =
        records.iter().filter(shown).filter(|r| r.tree.as_ref().unwrap().join_wait.is_some());
    assert_eq!(count(&drawing, "dc-join"), joins.count() + 1, "one of them in the legend");
    assert_eq!(count(&drawing, "dc-tree"), 12);
    // A bar of output for each request with a first token, and a swatch.
    let streams = records.iter().filter(shown).filter(|record| record.first.is_some());
    assert_eq!(count(&drawing, "dc-b0"), streams.count() + 1);
    let about = "sub-agent 1, turn 1, #";
    assert!(drawing.contains(about), "tooltips name the session");
    assert!(chart::picture(&drawing).unwrap().missing.is_empty());
}

#[test]
fn the_same_in_chinese() {
    let drawing = drawn(forest(8, 90_000), Language::Chinese);
    let lines = lines(&drawing);
    for text in ["c=8（前 12 棵，共 14 棵任务树）", "任务树 1", "失败", "超长", "等待多个会话"]
    {
        assert!(lines.iter().any(|line| line == text), "{text}: {lines:#?}");
    }
    assert!(chart::picture(&drawing).unwrap().missing.is_empty());
}

/// A tree of so many sessions with so many turns each.
fn wide(sessions: u64, turns: u64) -> Vec<RequestRecord> {
    let all = (sessions * turns) as u32;
    let one = |i: u64| {
        let (session, number) = (i % sessions, (i / sessions) as u32 + 1);
        let sent = session * 3 + u64::from(number) * 200;
        of_tree(stream(i, 0, sent, 20, 10, 5), 0, session, number, all)
    };
    (0..sessions * turns).map(one).collect()
}

#[test]
fn large_trees_are_bounded_and_say_so() {
    let many = drawn(wide(30, 4), Language::English);
    assert!(
        lines(&many).iter().any(|line| line == "c=8 (1 tree, 22 sub-agents not shown)"),
        "{many}"
    );
    let long = drawn(wide(2, 2_000), Language::English);
    assert!(lines(&long).iter().any(|line| line == "c=8 (1 tree, their first requests)"));
    assert!(count(&long, "dc-b0") <= 201);
}

#[test]
fn requests_that_only_warm_the_cache_are_not_those_of_the_task() {
    let mut records = wide(2, 3);
    records[0] = warming(records[0].clone());
    let drawing = drawn(records, Language::English);
    assert!(lines(&drawing).iter().any(|line| line == "warms the cache"));
    assert_eq!(count(&drawing, "dc-b7"), 2, "its bar and the legend's");
}

#[test]
fn a_slot_of_a_closed_loop_of_trees_is_an_agent() {
    let mut summary = made::ladder();
    assert!(one(&summary, "concurrency").unwrap().contains(">concurrency<"));
    let trees = summary_of(&forest_plan(8), forest(8, 60_000)).levels[0].trees.clone();
    summary.levels.iter_mut().for_each(|level| level.trees.clone_from(&trees));
    assert!(one(&summary, "concurrency").unwrap().contains(">agents (live trees)<"));
}

#[test]
fn without_trees_there_is_no_such_chart() {
    let (plan, records) = dyno_testing::runs::closed(2, 6);
    let detail = Detail::gather(&source_of(&plan, records.clone()));
    let all = chart::charts(&summary_of(&plan, records), Some(&detail), &ENGLISH);
    assert!(all.iter().all(|(name, _)| name != "trees") && !all.is_empty());
}
