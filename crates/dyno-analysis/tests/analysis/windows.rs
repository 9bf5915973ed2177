//! The steady window of a level, and what a level that was too short for something is told.

use super::verdicts::{expect, judged};
use dyno_model::Diagnostic;
use dyno_model::Verdict;
use dyno_model::frame::Ending;
use dyno_model::level_schedule::{MetricStatistic, Until};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::LevelPlan;
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::summary::LevelSummary;
use dyno_model::{MS, SEC};
use dyno_testing::runs::*;

#[test]
fn the_steady_window_ends_when_the_target_is_lost() {
    let half_fails = |records: &mut Vec<RequestRecord>| {
        let middle = records.iter().map(|r| r.end).max().unwrap_or(0) / 2;
        for r in records.iter_mut().filter(|r| r.end > middle) {
            r.outcome = Outcome::Failed(FailureClass::TimeoutIdle);
        }
    };
    let lost = judged(half_fails, |end| end.ending = Ending::TargetLost);
    let other = judged(half_fails, |_| {});
    let steady = |level: &LevelSummary| {
        let steady = level.steady.unwrap();
        (steady.window_s, steady.throughput.requests_per_s.unwrap())
    };
    let (lost, other) = (steady(&lost), steady(&other));
    assert!(lost.0 < 0.6 * other.0 && lost.1 > 1.5 * other.1, "{lost:?} {other:?}");
}

#[test]
fn a_warm_up_that_takes_everything_is_named() {
    let all = |records: &mut Vec<RequestRecord>| {
        records.iter_mut().for_each(|r| r.phase = Phase::Warmup);
    };
    let level = judged(all, |_| {});
    expect(&level, Verdict::Suspect, "nothing_measured");
    assert!(
        level.reasons[0].what.contains("100 requests of this level were all warm-up"),
        "{:?}",
        level.reasons
    );
    assert!(level.reasons[0].advice.as_ref().unwrap().contains("--warmup"));
    // Measured, but not answered.
    let one_failed = |records: &mut Vec<RequestRecord>| {
        all(records);
        records[99].phase = Phase::Measured;
        records[99].outcome = Outcome::Censored;
    };
    assert_eq!(codes(&judged(one_failed, |_| {}).reasons), ["nothing_completed"]);
    // B13: where all failed, nothing was measured.
    let all_failed = |records: &mut Vec<RequestRecord>| {
        let failed = Outcome::Failed(FailureClass::Http(400));
        records.iter_mut().for_each(|r| r.outcome = failed.clone());
    };
    let level = judged(all_failed, |_| {});
    assert_eq!(level.verdict, Verdict::Invalid);
    assert_eq!(codes(&level.reasons), ["nothing_completed", "failures"]);
    // Nor was anything warmed up.
    let level = judged(Vec::clear, |end| end.ending = Ending::Duration);
    expect(&level, Verdict::Suspect, "nothing_measured");
    assert!(level.reasons[0].what.contains("no request was due"), "{:?}", level.reasons);
}

/// What a level of `waves` waves says that it needs for a steady window.
fn needs(waves: u64, ending: Ending, change: impl FnOnce(&mut LevelPlan)) -> Diagnostic {
    let (mut plan, records) = closed(4, waves);
    change(&mut plan.levels[0]);
    let end = |end: &mut dyno_model::frame::LevelEnd| {
        (end.starved, end.ending) = (Some(starved(waves)), ending);
    };
    let mut level = summary_with(&plan, records, end).levels.remove(0);
    expect(&level, Verdict::Suspect, "no_steady_window");
    level.reasons.remove(0)
}

/// B12: `--requests 2x` was told to "send more requests or run longer".
#[test]
fn a_level_without_a_steady_window_says_which_option_gives_one() {
    for waves in [1, 2] {
        let said = needs(waves, Ending::Requests, |_| {});
        assert!(said.what.starts_with("too short for a steady window: "), "{said:?}");
        assert!(said.what.contains("more than two rounds of requests (0.36 s)"), "{said:?}");
        assert!(said.advice.as_ref().unwrap().starts_with("use --requests 16x;"), "{said:?}");
        let (plan, records) = closed(4, 16);
        let enough = summary_with(&plan, records, |end| end.starved = Some(starved(16)));
        assert!(enough.levels[0].steady.is_some(), "what it says is enough");
        assert!(!codes(&enough.levels[0].notes).contains(&"no_interval"), "for intervals, too");
    }
    let by_time = |level: &mut LevelPlan| level.duration_ns = Some(20 * SEC);
    let said = needs(1, Ending::Duration, by_time);
    // 0.17 s of 20 s were at full load.
    assert!(said.advice.as_ref().unwrap().starts_with("use --duration 310s;"), "{said:?}");
    let said = needs(1, Ending::Stable, by_time);
    assert!(said.advice.as_ref().unwrap().starts_with("use --min-duration"), "{said:?}");
}

/// B12: a level of 224 requests was told to lower the precision of a constant metric.
#[test]
fn until_stable_says_how_many_requests_it_needs() {
    let until = |figure: &str| {
        let figure: MetricStatistic = figure.to_owned().try_into().unwrap();
        Until { figure, precision: 0.03, least_ns: SEC }
    };
    let said = |waves: u64, figure: &str, ending: Ending| {
        let (mut plan, records) = closed(4, waves);
        plan.levels[0].until = Some(until(figure));
        plan.levels[0].duration_ns = Some(50 * SEC);
        let level = summary_with(&plan, records, |end| {
            (end.starved, end.ending) = (Some(starved(waves)), ending);
        });
        let mut notes = level.levels[0].notes.iter();
        notes.find(|note| note.code == "not_converged").cloned()
    };
    let few = said(56, "latency.mean", Ending::Duration).unwrap();
    assert!(few.what.ends_with("needs 280, had 224"), "{few:?}");
    assert_eq!(few.advice.as_deref(), Some("use --max-duration 63s"));
    let few = said(56, "latency.p99", Ending::Requests).unwrap();
    assert!(few.what.ends_with("needs 1508, had 224"), "{few:?}");
    assert_eq!(few.advice.as_deref(), Some("use --requests 380x"));
    let enough = said(70, "latency.mean", Ending::Duration).unwrap();
    assert!(enough.what.contains("ended before latency.mean converged to ± 3.0 %"), "{enough:?}");
    assert!(enough.advice.as_ref().unwrap().ends_with("such as --precision 6.0 %"), "{enough:?}");
    assert_eq!(said(56, "latency.mean", Ending::Stable), None);
}

/// `--max-duration 81s` was advised to see whether a metric converges, and 19 s for intervals, of the same level.
#[test]
fn a_level_is_told_one_length_that_is_enough_for_all_it_lacks() {
    for waves in [5, 40] {
        let (mut plan, records) = closed(4, waves);
        let figure: MetricStatistic = "latency.mean".to_owned().try_into().unwrap();
        plan.levels[0].until = Some(Until { figure, precision: 0.03, least_ns: SEC });
        plan.levels[0].duration_ns = Some(waves * 180 * MS);
        let level = summary_with(&plan, records, |end| {
            (end.starved, end.ending) = (Some(starved(waves)), Ending::Duration);
        });
        let level = &level.levels[0];
        let advice = level.reasons.iter().chain(&level.notes).filter_map(|of| of.advice.as_ref());
        let lengths: Vec<&str> = advice
            .filter_map(|advice| advice.split("--max-duration ").nth(1))
            .map(|rest| rest.split([';', ' ', ',']).next().unwrap())
            .collect();
        assert!(!lengths.is_empty() && lengths.iter().all(|it| *it == lengths[0]), "{lengths:?}");
    }
}

#[test]
fn no_steady_window_is_suspect() {
    let level = judged(|_| {}, |end| end.starved = Some(300 * MS));
    expect(&level, Verdict::Suspect, "no_steady_window");
    let one_slot = |records: &mut Vec<RequestRecord>| {
        records.iter_mut().for_each(|r| r.slot = r.slot.min(2));
    };
    expect(&judged(one_slot, |_| {}), Verdict::Suspect, "no_steady_window");
}

#[test]
fn a_level_may_end_by_its_duration() {
    let level = judged(
        |_| {},
        |end| {
            (end.ending, end.planned, end.starved) = (Ending::Duration, Some(500), None);
        },
    );
    assert_eq!((level.verdict, level.requests.planned), (Verdict::Valid, Some(100)));
}
