//! What a search for a capacity does among levels that cannot be judged, on synthetic levels.
#![allow(clippy::unwrap_used)]

use dyno_analysis::search::{Chosen, first_load, found, level_name, next_level};
use dyno_analysis::slo::judge;
use dyno_model::level_schedule::{Over, Range, Search};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::plan::{Arrival, LevelPlan, Load, Plan};
use dyno_model::summary::{
    Distribution, LevelSummary, LoadSummary, RequestCounts, SearchSummary, SloSummary, Throughput,
};
use dyno_model::{Decision, Diagnostic, SEC, Severity, Verdict};
use dyno_testing::runs::*;
use dyno_words::Finding;

fn searching(range: Range, slo: &str) -> Plan {
    let search = Search::Capacity {
        over: Over::Rate,
        range,
        levels: 12,
        width: 0.06,
        arrival: Arrival::Poisson,
        least_requests: 200,
        quick: false,
    };
    let load = first_load(&search, None);
    let label = level_name(Some(&search), &load);
    let first = LevelPlan { duration_ns: Some(60 * SEC), ..level_plan(&label, load, None) };
    let mut plan = plan(vec![first]);
    plan.course.search = Some(search);
    plan.slo = Some(slo.parse().unwrap());
    plan
}

/// A level as it might have been measured, with so many samples of TTFT around a value.
fn measured(index: u32, plan: &LevelPlan, ttft: f64, samples: u64) -> LevelSummary {
    let kind = plan.load.kind();
    let rate = if kind == LoadKind::Rate { plan.load.value() } else { 40.0 };
    let times = Distribution {
        count: Some(samples),
        mean: Some(ttft * 0.8),
        min: Some(ttft * 0.5),
        p50: Some(ttft * 0.8),
        p90: Some(ttft * 0.95),
        p95: Some(ttft),
        max: Some(ttft * 1.1),
        ..Distribution::default()
    };
    let mut level = LevelSummary {
        index,
        label: plan.label.clone(),
        load: LoadSummary { kind, value: Some(plan.load.value()) },
        verdict: Verdict::Valid,
        requests: RequestCounts {
            completed: Some(samples),
            failed: Some(0),
            ..RequestCounts::default()
        },
        throughput: Throughput { requests_per_s: Some(rate), ..Throughput::default() },
        offered_per_s: (kind == LoadKind::Rate).then_some(rate),
        ..LevelSummary::default()
    };
    level.times[Time::Ttft] = Some(times.clone());
    level.times[Time::Latency] = Some(times);
    level
}

/// Invalid for how its times were read.
fn read_badly(level: LevelSummary) -> LevelSummary {
    let reason = Diagnostic {
        severity: Some(Severity::Error),
        ..Diagnostic::new("read_lag", "the client was busy", Some("see dyno doctor"))
    };
    LevelSummary { verdict: Verdict::Invalid, reasons: vec![reason], ..level }
}

/// Searches to the end: all levels, their plans, and what was found.
fn search(
    plan: &Plan,
    server: impl Fn(u32, &LevelPlan) -> LevelSummary,
) -> (Vec<LevelPlan>, SearchSummary) {
    let mut plans = vec![plan.levels[0].clone()];
    let mut levels = vec![server(0, &plans[0])];
    loop {
        assert!(levels.len() <= 14, "it does not end: {plans:?}");
        let so_far: Vec<&LevelSummary> = levels.iter().collect();
        let Some(Chosen { level: next, .. }) = next_level(plan, &so_far) else { break };
        levels.push(server(levels.len() as u32, &next));
        plans.push(next);
    }
    let answer = found(plan, &levels).unwrap();
    (plans, answer)
}

fn rates(plans: &[LevelPlan]) -> Vec<f64> {
    let rate = |plan: &LevelPlan| match plan.load {
        Load::Rate { rate, .. } => Some(rate),
        _ => None,
    };
    plans.iter().filter_map(rate).collect()
}

fn doubt(answer: &SearchSummary) -> String {
    let SearchSummary::Capacity { doubt, .. } = answer else { panic!("{answer:?}") };
    doubt.as_ref().map(|doubt| doubt.what.clone()).unwrap_or_default()
}

#[test]
fn invalid_levels_far_from_the_bound_still_decide_the_search() {
    let plan = searching(Range::Unknown, "ttft.p95<500ms");
    let (plans, answer) =
        search(&plan, |index, level| read_badly(measured(index, level, 80.0, 2_000)));
    let rates = rates(&plans);
    assert!(rates.is_sorted(), "{rates:?}");
    assert!(rates.len() < 12, "{rates:?}");
    let SearchSummary::Capacity { holds, does_not_hold, .. } = answer else { panic!() };
    // A quarter more than it does when it is full.
    assert!(holds.is_some_and(|load| load > 40.0) && does_not_hold.is_none(), "{holds:?}");
    assert_eq!(answer.outcome(), Some(Decision::Met));
}

#[test]
fn invalid_levels_near_the_bound_are_inconclusive_after_two() {
    let plan = searching(Range::Near(10.0), "ttft.p95<500ms");
    let (plans, answer) =
        search(&plan, |index, level| read_badly(measured(index, level, 400.0, 2_000)));
    assert_eq!(rates(&plans), [10.0, 10.0]);
    assert_eq!(answer.outcome(), Some(Decision::Inconclusive));
    let doubt = doubt(&answer);
    assert!(doubt.contains("could not be judged: the level is invalid"), "{doubt}");
    assert!(doubt.contains("a valid level at this load would decide it"), "{doubt}");
}

#[test]
fn a_level_with_too_few_samples_is_measured_again_and_longer() {
    let plan = searching(Range::Near(10.0), "ttft.p95<500ms");
    // The first has 40 samples near the bound, and the others enough.
    let (plans, answer) = search(&plan, |index, level| {
        let rate = level.load.value();
        let ttft = 480.0 * (rate / 10.0).powi(2);
        measured(index, level, ttft, if index == 0 { 40 } else { 4_000 })
    });
    assert_eq!(rates(&plans)[..2], [10.0, 10.0]);
    assert!(plans[1].duration_ns > plans[0].duration_ns, "{:?}", &plans[..2]);
    assert!(plans[2].duration_ns < plans[1].duration_ns, "only that one is longer");
    assert_eq!(answer.outcome(), Some(Decision::Met));
    let few = search(&plan, |index, level| measured(index, level, 480.0, 40));
    assert_eq!((rates(&few.0).len(), few.1.outcome()), (2, Some(Decision::Inconclusive)));
    assert!(doubt(&few.1).contains("more requests would decide it"), "{}", doubt(&few.1));
}

#[test]
fn few_samples_far_from_the_bound_are_enough() {
    let plan = searching(Range::Between([5.0, 20.0]), "ttft.p95<500ms");
    let (plans, answer) = search(&plan, |index, level| measured(index, level, 70.0, 40));
    assert!(rates(&plans).is_sorted(), "{:?}", rates(&plans));
    let SearchSummary::Capacity { holds, .. } = answer else { panic!() };
    assert!(holds.is_some_and(|load| load > 19.0), "{holds:?}");
    let (_, never) = search(&plan, |index, level| measured(index, level, 5_000.0, 40));
    assert_eq!(never.outcome(), Some(Decision::Missed));
}

#[test]
fn a_server_too_slow_for_one_request_is_detected_even_in_an_invalid_level() {
    let plan = searching(Range::Unknown, "ttft.p95<500ms");
    let slow = |index: u32, level: &LevelPlan| read_badly(measured(index, level, 9_000.0, 50));
    let (plans, answer) = search(&plan, slow);
    assert_eq!((plans.len(), answer.outcome()), (1, Some(Decision::Missed)));
}

/// A level of a rough search that takes so many seconds in all.
fn lasting(level: LevelSummary, seconds: f64) -> LevelSummary {
    LevelSummary { duration_s: Some(seconds), ..level }
}

fn rough(slo: &str) -> Plan {
    let mut plan = searching(Range::Unknown, slo);
    plan.levels[0].duration_ns = Some(10 * SEC);
    let Some(Search::Capacity { quick, width, levels, .. }) = &mut plan.course.search else {
        panic!("no search")
    };
    (*quick, *width, *levels) = (true, 0.25, 6);
    plan
}

#[test]
fn a_rough_search_has_a_budget_and_measures_the_maximum_once() {
    let plan = rough("ttft.p95<500ms");
    let of = |ttft: f64, seconds: f64| {
        search(&plan, |index, level| {
            // A full server is too slow for a steady window.
            let ttft =
                if level.load == (Load::Concurrency { concurrency: 512 }) { 9_000.0 } else { ttft };
            judged(&plan, lasting(measured(index, level, ttft, 2_000), seconds))
        })
    };
    let (plans, answer) = of(80.0, 35.0);
    let labels: Vec<&str> = plans.iter().map(|plan| &*plan.label).collect();
    assert_eq!(labels[..2], ["synchronous", "throughput"]);
    assert!(!labels.contains(&"throughput (2)"), "{labels:?}");
    // Three end before 120 s are over, and one begins.
    assert_eq!(plans.len(), 4, "{labels:?}");
    assert_eq!(answer.outcome(), Some(Decision::Met));
    assert_eq!(of(80.0, 10.0).0.len(), 6, "shorter levels leave time for all");
    // While no rate met the SLO it goes on: a load that meets it is the answer.
    let (plans, _) = search(&plan, |index, level| {
        let ttft = if index == 0 { 80.0 } else { 700.0 };
        judged(&plan, lasting(measured(index, level, ttft, 2_000), 100.0))
    });
    assert_eq!(plans.len(), 6);
}

/// Short levels end before the queue has built up: their estimate was 7 % too high, and missed the truth in a fifth.
#[test]
fn the_answer_of_a_rough_search_reaches_further_down() {
    let ends = |rough: bool| {
        let mut plan = searching(Range::Between([10.0, 20.0]), "ttft.p95<500ms");
        if let Some(Search::Capacity { quick, .. }) = &mut plan.course.search {
            *quick = rough;
        }
        let (_, answer) = search(&plan, |index, level| {
            let ttft = 500.0 * (level.load.value() / 15.0).powi(3);
            judged(&plan, measured(index, level, ttft, 2_000))
        });
        match answer {
            SearchSummary::Capacity { holds, does_not_hold, .. } => {
                [holds, does_not_hold].map(Option::unwrap)
            }
            SearchSummary::Knee { .. } => panic!("no capacity"),
        }
    };
    let ([low, high], [rough_low, rough_high]) = (ends(false), ends(true));
    assert!((low..high).contains(&15.0), "{low} {high}");
    assert!(
        (rough_low / low - 0.875).abs() < 1e-4 && rough_high == high,
        "{rough_low} {rough_high}"
    );
}

/// A level with the outcome of its SLO.
fn judged(plan: &Plan, mut level: LevelSummary) -> LevelSummary {
    let verdict = judge(&level, plan.slo.as_ref().unwrap());
    level.slo = Some(SloSummary { verdict, goodput_per_s: None, met_share: None });
    level
}

#[test]
fn a_capacity_that_rests_on_a_growing_queue_is_not_given_without_a_word() {
    let plan = searching(Range::Between([10.0, 20.0]), "ttft.p95<500ms");
    let care = |change: fn(&mut LevelSummary)| {
        let (_, answer) = search(&plan, |index, level| {
            let mut level = judged(&plan, measured(index, level, 80.0, 2_000));
            change(&mut level);
            level
        });
        doubt(&answer)
    };
    assert_eq!(care(|_| {}), "");
    let said = "less was completed than offered in level rate 20, so that its queue may keep growing and a longer \
                level miss the SLO";
    assert_eq!(care(|level| level.saturated = Some(true)), said);
    let noted = |level: &mut LevelSummary| {
        level.notes = vec![Finding::Behind.with(["14.10", "20.00", "--duration 120s"])];
    };
    assert_eq!(care(noted), said);
}
