//! Engines that changed, beside their twins.

use super::*;
use dyno_engine::core::Launch;
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::Accuracy;

/// A server whose front end and launches matter.
fn server() -> (Scheduler, Cost) {
    let scheduler =
        Scheduler { policy: Policy::Chunked, max_seqs: 24, steps_ahead: 1, ..scheduler() };
    let front = Front { request: 1e-3, chunk: 150e-6, turns: 4, ..Front::default() };
    let launch = Launch { decode: 1e-3, prefill: 18e-3, sequence: 2e-4, ..Launch::default() };
    (scheduler, Cost { launch, front, front_end: 5e-3, ..cost() })
}

fn twin() -> Twin {
    let (scheduler, cost) = server();
    Twin { scheduler, cost, ..Twin::load(Twin::default_name()).unwrap() }
}

/// What is measured of a server that was changed, with noise of its own.
fn changed(change: impl Fn(&mut Scheduler, &mut Cost)) -> Vec<Trial> {
    let (mut scheduler, mut cost) = server();
    change(&mut scheduler, &mut cost);
    let loads = [closed(1), closed(4), closed(16), closed(40), open(10.0)];
    let measured = |load: &Trial| rerun(load, Core::new(scheduler, cost, 99).unwrap()).unwrap();
    loads.iter().map(measured).collect()
}

fn slower(cost: &mut Cost, factor: f64) {
    for time in [&mut cost.base, &mut cost.decode, &mut cost.kv, &mut cost.prefill_token] {
        *time *= factor;
    }
}

#[test]
fn an_unchanged_server_is_the_same() {
    let found = check(&twin(), &changed(|_, _| ()));
    assert!(found.same(), "{found:?}");
    assert!(found.explanations.is_empty());
}

/// 64 users for 8 s on an engine with 48 places, as measured with noise of its own.
fn timed(twin: &Twin, seed: u64) -> Trial {
    let requests = (0..120).map(|place| SentRequest {
        input: 256,
        output: 64,
        ..match place {
            0..64 => sent(TrialTime::At(place as Nanos * 30_000), true),
            _ => sent(TrialTime::After { request: 0, pause: 150_000 }, true),
        }
    });
    let load = Trial {
        label: "concurrency 64".to_owned(),
        kind: TrialKind::Closed,
        requests: requests.collect(),
        until: Some(8_000 * MS),
    };
    rerun(&load, Core::new(twin.scheduler, twin.cost, seed).unwrap()).unwrap()
}

#[test]
fn a_level_that_ended_by_time_is_the_same_on_its_own_engine() {
    let twin = Twin::load(Twin::default_name()).unwrap();
    let off = |level: Trial| {
        let found = check(&twin, &[level]);
        let (measured, simulated) = found.levels[0].figures[&Quantity::LatencyP90];
        (found.same(), (simulated.unwrap() / measured).ln().abs())
    };
    let (mut by_time, mut by_count) = (0.0_f64, 0.0_f64);
    for seed in 20..30 {
        let level = timed(&twin, seed);
        let sent = crate::trial::sent_times(&level);
        assert!((7_000 * MS..8_000 * MS).contains(sent.iter().max().unwrap()), "{sent:?}");
        let (same, found) = off(level.clone());
        assert!(same, "{seed}: {found}");
        by_time = by_time.max(found);
        by_count = by_count.max(off(Trial { until: None, ..level }).1);
    }
    println!(
        "p90 of latency at most {by_time:.3} off, with fixed numbers of requests {by_count:.3}"
    );
    assert!(by_time < 0.05 && by_time <= by_count, "{by_time} {by_count}");
}

#[test]
fn a_twin_agrees_with_the_run_that_it_was_fitted_to() {
    let mut twin = twin();
    slower(&mut twin.cost, 1.08);
    let exact = Accuracy { rate: 0.5, ttft: 4.0, itl: Some(0.5), latency: 0.5 };
    twin.errors.kinds.insert("closed".to_owned(), exact);
    twin.errors.kinds.insert("open".to_owned(), exact);
    let trials = changed(|_, _| ());
    assert!(!check(&twin, &trials).same());
    super::super::check::allow_for_misfit(&mut twin, &trials);
    let found = check(&twin, &trials);
    assert!(found.same(), "{found:?} {:?}", twin.errors.kinds);
    // It still sees what it never missed by as much.
    assert!(!check(&twin, &changed(|_, cost| slower(cost, 1.5))).same());
}

/// B1: the errors that are allowed for are not so wide that nothing is seen any more.
#[test]
fn an_engine_a_tenth_slower_differs_from_its_fitted_twin_and_its_own_run_does_not() {
    let loads = || [closed(1), closed(4), closed(16), open(15.0), open(35.0)];
    let trials = loads();
    let known = FitSettings { token_budget: Some(2048), ..FitSettings::default() };
    let twin = fitted(&trials, &known).twin("fitted");
    let found = check(&twin, &trials);
    assert!(found.same(), "its own run: {found:?} {:?}", twin.errors.kinds);
    let again = |factor: f64| -> Vec<Trial> {
        let mut changed = cost();
        slower(&mut changed, factor);
        let core = || Core::new(scheduler(), changed, 31).unwrap();
        loads().iter().map(|load| rerun(load, core()).unwrap()).collect()
    };
    let found = check(&twin, &again(1.0));
    assert!(found.same(), "another run: {found:?} {:?}", twin.errors.kinds);
    for factor in [1.1, 1.0 / 1.1] {
        let found = check(&twin, &again(factor));
        assert!(!found.same(), "{factor}: {found:?} {:?}", twin.errors.kinds);
    }
}

fn explained(part: ExplainedPart, value: [f64; 2], change: impl Fn(&mut Scheduler, &mut Cost)) {
    let found = check(&twin(), &changed(change));
    assert!(!found.same(), "{part:?}");
    let best = found.explanations.first().unwrap_or_else(|| panic!("{part:?}: {found:?}"));
    assert_eq!(best.part, part, "{:?}", found.explanations);
    assert!((value[0]..=value[1]).contains(&best.value), "{best:?}");
}

#[test]
fn a_slower_accelerator_is_named() {
    explained(ExplainedPart::Accelerator, [1.25, 1.35], |_, cost| slower(cost, 1.3));
}

#[test]
fn a_front_end_short_of_cpu_is_named() {
    explained(ExplainedPart::FrontEnd, [2.6, 3.4], |_, cost| {
        let front = &mut cost.front;
        for time in [&mut cost.front_end, &mut front.request, &mut front.chunk] {
            *time *= 3.0;
        }
    });
}

#[test]
fn a_smaller_batch_is_named() {
    explained(ExplainedPart::MaxSeqs, [11.0, 13.0], |scheduler, _| scheduler.max_seqs = 12);
}

#[test]
fn slower_launches_are_named() {
    explained(ExplainedPart::Launch, [1.6, 2.4], |_, cost| {
        let launch = &mut cost.launch;
        for time in [&mut launch.decode, &mut launch.prefill, &mut launch.sequence] {
            *time *= 2.0;
        }
    });
}

#[test]
fn what_all_levels_have_in_common_is_seen_where_none_of_them_shows_it() {
    let mut twin = twin();
    // It was never right by more than this, for any kind of load.
    let wide = Accuracy { rate: 15.0, ttft: 30.0, itl: Some(15.0), latency: 15.0 };
    twin.accuracy = Some(wide);
    let trials = changed(|_, cost| slower(cost, 1.08));
    let blind = check(&twin, &trials);
    assert!(blind.levels.iter().all(|level| level.differs.is_empty()), "{blind:?}");
    assert!(blind.same(), "{:?}", blind.shifts);
    // It is known how well levels of these kinds are predicted.
    let typical = Accuracy { rate: 3.0, ttft: 6.0, itl: Some(4.0), latency: 3.6 };
    for kind in [TrialKind::Closed, TrialKind::Open] {
        twin.errors.kinds.insert(kind.name().to_owned(), typical);
    }
    let found = check(&twin, &trials);
    assert!(found.levels.iter().all(|level| level.differs.is_empty()), "{found:?}");
    assert!(!found.same());
    let latency = found.shifts.iter().find(|shift| shift.quantity == Quantity::LatencyP50);
    assert!((0.05..0.1).contains(&latency.unwrap().by), "{:?}", found.shifts);
    assert!(check(&twin, &changed(|_, _| ())).same());
}

#[test]
fn errors_of_a_kind_that_was_fitted_replace_the_widest_interval() {
    let mut twin = twin();
    twin.accuracy = Some(Accuracy { rate: 60.0, ttft: 99.0, itl: Some(60.0), latency: 60.0 });
    let trials = changed(|_, cost| slower(cost, 1.3));
    assert!(check(&twin, &trials).levels.iter().all(|level| level.differs.is_empty()));
    let typical = Accuracy { rate: 1.0, ttft: 4.0, itl: Some(2.0), latency: 1.5 };
    twin.errors.kinds.insert("closed".to_owned(), typical);
    let found = check(&twin, &trials);
    let [closed, open] = ["concurrency 4", "rate 10"].map(|label| {
        !found.levels.iter().find(|level| level.label == label).unwrap().differs.is_empty()
    });
    assert!(closed && !open, "{found:?}");
}

#[test]
fn a_knee_and_a_rise_are_part_of_the_accelerator() {
    let mut twin = twin();
    twin.cost.knee = Some(dyno_engine::core::CostKnee { above: 8, decode: 800e-6, jump: 4e-3 });
    twin.cost.rise = Some(dyno_engine::core::Rise { time: 9e-3, within: 4.0 });
    let loads = [closed(1), closed(4), closed(16), closed(40), open(10.0)];
    let mut cost = twin.cost;
    slower(&mut cost, 1.3);
    let (knee, rise) = (cost.knee.as_mut().unwrap(), cost.rise.as_mut().unwrap());
    for time in [&mut knee.decode, &mut knee.jump, &mut rise.time] {
        *time *= 1.3;
    }
    let core = || Core::new(twin.scheduler, cost, 99).unwrap();
    let trials: Vec<Trial> = loads.iter().map(|load| rerun(load, core()).unwrap()).collect();
    let found = check(&twin, &trials);
    let best = found.explanations[0];
    assert_eq!(best.part, ExplainedPart::Accelerator, "{:?}", found.explanations);
    assert!((1.27..1.33).contains(&best.value) && best.removes > 0.9, "{best:?}");
}

#[test]
fn a_twin_file_knows_all_kinds_of_load() {
    assert_eq!(TrialKind::ALL.map(TrialKind::name), dyno_engine::twin::profile::KINDS);
}

#[test]
fn errors_of_tables_are_allowed_for() {
    let mut twin = twin();
    let trials = changed(|_, cost| slower(cost, 1.3));
    assert!(!check(&twin, &trials).same());
    use dyno_engine::twin::reference::ReferenceValue;
    let rows = [
        ReferenceValue::CompletedRate,
        ReferenceValue::LatencyS,
        ReferenceValue::ItlMs,
        ReferenceValue::TtftMs,
    ];
    twin.errors.held_out = rows.map(|of| (of, 15.0)).into();
    let levels = check(&twin, &trials).levels;
    assert!(levels.iter().all(|level| level.differs.is_empty()), "{levels:?}");
}
