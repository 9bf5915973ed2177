//! Trees of sessions: their metrics by hand, and what holds for any of them.
#![allow(clippy::unwrap_used)]

use super::schema::check;
use dyno_analysis::Detail;
use dyno_analysis::lint::lint;
use dyno_model::Language;
use dyno_model::metric::Time;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::RequestRecord;
use dyno_model::summary::{GroupedBy, LevelSummary, Trees};
use dyno_model::tree::{Growth, Repeated, TurnOfTree};
use dyno_model::{MS, SEC, Verdict};
use dyno_testing::forest::*;
use dyno_testing::runs::*;
use proptest::prelude::*;

fn level_of(records: Vec<RequestRecord>) -> LevelSummary {
    let summary = summary_of(&forest_plan(2), records);
    check(&summary);
    summary.levels.into_iter().next().unwrap()
}

fn with(mut record: RequestRecord, change: impl FnOnce(&mut TurnOfTree)) -> RequestRecord {
    change(record.tree.as_mut().unwrap());
    record
}

/// A root that sends at 0 (for 180 ms), waits for a sub-agent that sends at 300 (for 180 ms) and at 600 (for 180 ms), and
/// sends again at 1000, beside one that sends at 320. Every request has 100 ms to the first of five tokens, 20 ms apart.
fn tree(number: u64) -> Vec<RequestRecord> {
    let at = |sent: u64| stream(number * 10 + sent / 100, number as u32, sent, 100, 20, 5);
    let place = |record, session, turn| of_tree(record, number, session, turn, 5);
    let recorded = |from: u64, to: u64| Some((from * MS, to * MS));
    let repeated = |of_prompts, with_responses| Some(Repeated { of_prompts, with_responses });
    vec![
        with(place(at(0), 0, 1), |turn| {
            turn.recorded = recorded(0, 100);
            turn.repeated = repeated(0, 0);
        }),
        with(place(at(300), 1, 1), |turn| turn.repeated = repeated(20, 20)),
        with(place(at(320), 2, 1), |turn| turn.repeated = repeated(20, 20)),
        with(place(at(600), 1, 2), |turn| {
            (turn.growth, turn.repeated) = (Some(Growth::Trimmed), repeated(50, 60));
        }),
        with(place(at(1000), 0, 2), |turn| {
            turn.recorded = recorded(500, 580);
            (turn.gap, turn.skipped) = (220 * MS, 3 * SEC);
            turn.join_wait = Some(280 * MS);
            (turn.growth, turn.repeated) = (Some(Growth::Cut), repeated(30, 40));
        }),
    ]
}

fn trees(records: Vec<RequestRecord>) -> Trees {
    level_of(records).trees.unwrap()
}

#[test]
fn one_tree_by_hand() {
    let mut records = tree(0);
    records[4].intended -= 3 * MS;
    let level = level_of(records);
    assert_eq!(level.sessions, None);
    let trees = level.trees.unwrap();
    assert_eq!((trees.started, trees.completed, trees.cut, trees.failed), (1, 1, 0, 0));
    assert_eq!((trees.sessions, trees.subagents, trees.sessions_failed), (3, 2, 0));
    assert_eq!((trees.turns, trees.turns_mean, trees.cancelled), (5, 5.0, 0));
    // From 0 to 1180; 300 to 500, 600 to 780 and both ends with a request in flight.
    let only = |of: Option<dyno_model::summary::Distribution>| of.unwrap().mean.unwrap();
    assert_eq!(only(trees.duration), 1180.0);
    assert_eq!(only(trees.active), 180.0 + 200.0 + 180.0 + 180.0);
    assert_eq!(only(trees.idle), 1180.0 - 740.0);
    // 1180 ms for what took 580.
    assert_eq!(only(trees.stretch), 2.03448);
    assert_eq!(only(trees.join_wait), 280.0);
    let parallel = trees.parallel.unwrap();
    assert_eq!((parallel.mean, parallel.peak), (1.21622, 2));
    assert_eq!(trees.live.unwrap().mean, 1.0);
    assert_eq!(trees.input_tokens.unwrap().mean, 500.0);
    assert_eq!(trees.output_tokens.unwrap().total, Some(25));
    let fidelity = trees.fidelity;
    assert_eq!((fidelity.trimmed, fidelity.cut, fidelity.skipped_s), (1, 1, 3.0));
    assert_eq!(
        fidelity.gap_error_ms.map(|late| (late.count, late.p50, late.max)),
        Some((5, 0.0, 3.0))
    );
    assert_eq!(fidelity.output_kept, Some(1.0));
    let ideal = trees.ideal_cache.unwrap();
    assert_eq!((ideal.of_prompts, ideal.with_responses), (0.24, 0.28));
    let groups: Vec<_> =
        trees.groups.iter().map(|of| (of.by, of.from, of.below, of.requests)).collect();
    let expected = [
        (GroupedBy::Turn, 1, Some(2), 3),
        (GroupedBy::Turn, 2, Some(6), 2),
        (GroupedBy::Context, 0, Some(4000), 5),
        (GroupedBy::Session, 0, Some(1), 2),
        (GroupedBy::Session, 1, None, 3),
    ];
    assert_eq!(groups, expected);
    assert_eq!(trees.groups[0].ttft.as_ref().unwrap().mean, Some(100.0));
    assert_eq!(trees.groups[0].tpot.as_ref().unwrap().mean, Some(20.0));
}

#[test]
fn sessions_of_two_trees_are_not_one() {
    let mut records = tree(0);
    let later = tree(1).into_iter().map(|record| moved(record, 0, 5 * SEC));
    records.extend(later.map(|record| RequestRecord { slot: 0, ..record }));
    let trees = trees(records);
    assert_eq!((trees.started, trees.sessions, trees.subagents), (2, 6, 4));
    assert_eq!(trees.duration.unwrap().max, Some(1180.0));
    // One tree at a time, and 3820 ms with none.
    let live = trees.live.unwrap();
    assert_eq!((live.mean, live.peak), (0.381877, 1));
}

#[test]
fn a_tree_is_whole_with_all_its_requests_and_cut_without() {
    let mut records = tree(0);
    records.pop();
    let trees = trees(records.clone());
    assert_eq!((trees.completed, trees.cut, trees.cancelled), (0, 1, 0));
    assert!(trees.duration.is_none() && trees.stretch.is_none());
    let level = level_of(records.clone());
    let note = level.notes.iter().find(|note| note.code == "no_whole_tree").unwrap();
    assert!(note.what.starts_with("none of the 1 tree was over"), "{}", note.what);
    let mut whole: Vec<_> = tree(1).into_iter().map(|record| moved(record, 0, 2 * SEC)).collect();
    whole.append(&mut records);
    assert!(!codes(&level_of(whole).notes).contains(&"no_whole_tree"));
}

#[test]
fn a_failure_fails_its_tree_and_cancels_what_would_have_followed() {
    let mut records = tree(0);
    records.truncate(4);
    let failed = failure(3, 0, 600, 640, FailureClass::Http(500), "oh");
    records[3] = RequestRecord { turn: records[3].turn, tree: records[3].tree.clone(), ..failed };
    let level = level_of(records);
    let trees = level.trees.as_ref().unwrap();
    assert_eq!((trees.failed, trees.completed, trees.cut), (1, 0, 0));
    assert_eq!((trees.sessions_failed, trees.cancelled), (1, 1));
    let codes = codes(&level.notes);
    assert!(codes.contains(&"trees_failed") && !codes.contains(&"sessions_broken"), "{codes:?}");
}

/// So many trees, of which so many end at the context.
fn with_overflows(all: u64, overflowed: u64) -> LevelSummary {
    let mut records = Vec::new();
    for number in 0..all {
        let mut one: Vec<_> =
            tree(number).into_iter().map(|r| moved(r, 0, number / 2 * 1_200 * MS)).collect();
        one.iter_mut().for_each(|record| record.slot = (number % 2) as u32);
        if number < overflowed {
            let last = one.last_mut().unwrap();
            last.outcome = Outcome::Dropped(Outcome::OVERFLOW.to_owned());
            (last.dispatched, last.sent) = (None, None);
        }
        records.append(&mut one);
    }
    level_of(records)
}

#[test]
fn more_than_one_percent_of_trees_beyond_the_context_is_suspect() {
    let few = with_overflows(100, 1);
    assert_eq!((few.requests.overflowed, few.requests.dropped), (Some(1), Some(0)));
    assert_eq!((few.verdict, codes(&few.notes)), (Verdict::Valid, vec!["trees_overflowed"]));
    let many = with_overflows(100, 2);
    assert_eq!((many.verdict, codes(&many.reasons)), (Verdict::Suspect, vec!["trees_overflowed"]));
    let what = "2 of 100 trees ended early (2.0 %)";
    assert!(many.reasons[0].what.starts_with(what), "{}", many.reasons[0].what);
    // However many they are, they are not this machine's fault.
    let most = with_overflows(20, 19);
    assert!(!codes(&most.reasons).contains(&"off_schedule"), "{:?}", most.reasons);
    assert_eq!((most.trees.unwrap().overflowed, most.verdict), (19, Verdict::Suspect));
    assert_eq!(many.requests.failure_share(), Some(0.0));
}

fn with_cached(tokens: u64) -> LevelSummary {
    let mut records = tree(0);
    records.iter_mut().for_each(|record| record.cached = Some(tokens));
    level_of(records)
}

#[test]
fn more_cached_than_the_trees_repeat_is_suspect() {
    // 28 of 100 tokens repeat prompts and responses; one more may be rounding.
    let fine = with_cached(29);
    assert_eq!(fine.cache.as_ref().unwrap().share, Some(0.29));
    assert!(fine.reasons.iter().all(|reason| reason.code != "cached_above_ideal"));
    let above = with_cached(30);
    let reason = above.reasons.iter().find(|reason| reason.code == "cached_above_ideal").unwrap();
    assert!(reason.what.starts_with("30 % of the prompt tokens"), "{}", reason.what);
    assert!(reason.what.contains("28 %"), "{}", reason.what);
    let cached: Vec<_> = above.trees.unwrap().groups;
    let cached: Vec<_> = cached.iter().filter(|of| of.by == GroupedBy::Cached).collect();
    assert_eq!((cached.len(), cached[0].from, cached[0].requests), (1, 1, 5));
}

#[test]
fn requests_that_warm_the_cache_are_of_their_tree_and_in_no_metric() {
    let mut records = tree(0);
    records[0] = warming(records[0].clone());
    let trees = trees(records);
    assert_eq!((trees.completed, trees.turns, trees.sessions), (1, 4, 3));
    // From 300 on.
    assert_eq!(trees.duration.unwrap().mean, Some(880.0));
    assert_eq!(trees.stretch.unwrap().mean, Some(2.25), "180 ms for what took 80");
    assert_eq!(trees.input_tokens.unwrap().mean, 400.0);
    let level = level_of(vec![warming(tree(0).swap_remove(0))]);
    assert_eq!(level.trees, None);
}

#[test]
fn speeds_are_the_inverse_of_times_and_percentiles_those_of_the_slow_side() {
    let mut records = Vec::new();
    for i in 0..100_u64 {
        // 11 tokens after 100 ms, 10 to 109 ms apart.
        records.push(stream(i, 0, i * 2_000, 100, 10 + i, 11));
    }
    let summary = summary_of(&forest_plan(1), records);
    let level = &summary.levels[0];
    let speed = level.interactivity.unwrap();
    let tpot = level.times[Time::Tpot].as_ref().unwrap();
    assert_eq!(speed.decoding.p50, Some(dyno_model::summary::round6(1e3 / tpot.p50.unwrap())));
    assert!(speed.decoding.p90 < speed.decoding.p75 && speed.decoding.p75 < speed.decoding.p50);
    assert_eq!(speed.decoding.p50, level.per_user().map(dyno_model::summary::round6));
    // 1100 tokens; latencies of 100 ms + 10 gaps, 695 ms on average.
    assert_eq!(speed.overall, Some(dyno_model::summary::round6(1100.0 / 69.5)));
    let per_token = (100.0 + 10.0 * 59.5) / 11.0;
    assert!((speed.request.p50.unwrap() - 1e3 / per_token).abs() < 1e-3);
    assert!(level.trees.is_none());
}

#[test]
fn the_first_trees_are_kept_whatever_the_order_of_their_records() {
    let trees = |records: Vec<RequestRecord>| {
        let detail = Detail::gather(&source_of(&forest_plan(8), records));
        detail.of(0).unwrap().trees.clone()
    };
    let records = forest(8, 200_000);
    let kept = trees(records.clone());
    assert_eq!((kept.of, kept.kept.len()), (24, 12));
    assert_eq!(
        kept.kept.iter().map(|tree| tree.tree).collect::<Vec<_>>(),
        (0..12).collect::<Vec<_>>()
    );
    let of_first = records.iter().filter(|record| record.tree.as_ref().unwrap().tree == 0);
    assert_eq!(kept.kept[0].records, of_first.count() as u64);
    assert_eq!(trees(records.into_iter().rev().collect()), kept);
}

/// A tree's slot has several requests in flight, or none.
#[test]
fn checks_of_single_requests_are_not_for_trees() {
    let summary = summary_of(&forest_plan(8), forest(8, 200_000));
    assert_eq!(lint(&[&summary], Language::English), vec![]);
    let mut single = summary;
    single.levels[0].trees = None;
    assert!(!lint(&[&single], Language::English).is_empty(), "the same of single requests is odd");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the order in which requests end, the summary is the same, and its parts add up.
    #[test]
    fn any_forest_adds_up_in_any_order(
        slots in 1_u32..5,
        stop in 5_000_u64..60_000,
        order in any::<prop::sample::Index>().prop_map(|at| at.index(997) + 1),
    ) {
        let records = forest(slots, stop);
        let mut mixed = records.clone();
        mixed.sort_by_key(|record| (record.index as usize * 7919 + order) % 1009);
        let level = level_of(records.clone());
        prop_assert_eq!(&level, &level_of(mixed));
        let trees = level.trees.unwrap();
        let ends = [trees.completed, trees.failed, trees.overflowed, trees.cut];
        prop_assert_eq!(ends.iter().sum::<u64>(), trees.started);
        prop_assert!(trees.sessions == trees.subagents + trees.started);
        let completed = level.requests.completed.unwrap();
        for by in [GroupedBy::Turn, GroupedBy::Context, GroupedBy::Session] {
            let of = trees.groups.iter().filter(|group| group.by == by);
            prop_assert_eq!(of.map(|group| group.requests).sum::<u64>(), completed);
        }
        prop_assert!(!codes(&level.reasons).contains(&"off_schedule"));
        if let (Some(active), Some(idle), Some(whole)) = (trees.active, trees.idle, trees.duration) {
            let sum = active.mean.unwrap() + idle.mean.unwrap();
            prop_assert!((sum - whole.mean.unwrap()).abs() < 1e-3);
        }
        prop_assert!(trees.live.unwrap().peak <= u64::from(slots) + 1);
        prop_assert_eq!(trees.ideal_cache.is_some(), completed > 0);
        if let Some(ideal) = trees.ideal_cache {
            prop_assert!(ideal.of_prompts <= ideal.with_responses && ideal.with_responses <= 1.0);
        }
    }
}
