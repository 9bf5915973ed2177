//! Ramps and soaks: slices worked out by hand, and what is found in them.
#![allow(clippy::unwrap_used)]

use dyno_analysis::summarise;
use dyno_model::frame::{Ending, Frame};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::outcome::FailureClass;
use dyno_model::plan::{Arrival, Load, Plan, Warmup};
use dyno_model::ramp::Ramp;
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::server::ServerSample;
use dyno_model::summary::LevelSummary;
use dyno_model::{MS, Nanos, SEC};
use dyno_model::{Summary, Verdict};
use dyno_report::{TextOptions, render_text};
use dyno_stats::rng::SplitMix;
use dyno_testing::runs::*;
use dyno_testing::soak::{CLOSED, OPEN, Soak};

fn load(ramp: Ramp) -> Load {
    let Ramp { from, to, over_ns, steps } = ramp;
    Load::Ramp { from, to, over_ns, steps, arrival: Arrival::Poisson }
}

fn ramp_plan(ramp: Ramp) -> Plan {
    plan(vec![level_plan("ramp", load(ramp), None)])
}

fn ended(plan: &Plan, records: Vec<RequestRecord>, stopped: Nanos) -> Summary {
    summary_with(plan, records, |end| {
        end.ending = Ending::Duration;
        end.sending_stopped = stopped;
    })
}

/// Poisson arrivals of a ramp at `servers` servers that take 100 ms to the first of five tokens
/// and 20 ms for each other, ± 20 %; first come, first served.
fn served(ramp: Ramp, servers: usize, seed: u64) -> LevelSummary {
    let mut rng = SplitMix::new(seed);
    let mut free = vec![0_u64; servers];
    let (mut due, mut records) = (0.0, Vec::new());
    loop {
        due -= rng.unit().ln();
        let Some(at) = ramp.offset_of(due) else { break };
        let sent = at / MS;
        let next = free.iter_mut().min().unwrap();
        let begun = sent.max(*next);
        let ttft = begun - sent + 80 + rng.below(40) as u64;
        let record = stream(records.len() as u64, 0, sent, ttft, 20, 5);
        *next = record.end / MS;
        records.push(record);
    }
    ended(&ramp_plan(ramp), records, ramp.over_ns).levels.remove(0)
}

fn owned_codes(level: &LevelSummary) -> Vec<String> {
    level.notes.iter().map(|note| note.code.clone()).collect()
}

const UP: Ramp = Ramp { from: 1.0, to: 50.0, over_ns: 120 * SEC, steps: None };

#[test]
fn slices_count_what_happened_in_their_time() {
    let ramp = Ramp { from: 1.0, to: 3.0, over_ns: 3 * SEC, steps: Some(3) };
    let mut plan = ramp_plan(ramp);
    plan.levels[0].warmup = Some(Warmup::Duration(SEC));
    // A second of warm-up; then 1, 2 and 3 requests in a second each.
    let starts = [0, 1000, 2000, 2500, 3000, 3100, 3200];
    let mut records: Vec<RequestRecord> =
        starts.iter().zip(0..).map(|(at, i)| stream(i, 0, *at, 100 + i, 20, 5)).collect();
    records[0].phase = Phase::Warmup;
    records[4] = failure(4, 0, 3000, 3050, FailureClass::Http(500), "no");
    records[6] = stream(6, 0, 3200, 500, 200, 5);
    records[6].phase = Phase::Drain;
    let level = ended(&plan, records, 4 * SEC).levels.remove(0);
    let slices = level.slices.as_ref().unwrap();
    let times: Vec<_> = slices.iter().map(|s| (s.from_s, s.to_s)).collect();
    assert_eq!(times, [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]);
    let offered: Vec<_> = slices.iter().map(|s| s.offered_per_s).collect();
    assert_eq!(offered, [1.0, 2.0, 3.0]);
    let completed: Vec<_> = slices.iter().map(|s| s.completed_per_s).collect();
    assert_eq!(completed, [1.0, 2.0, 1.0]);
    assert_eq!(slices.iter().map(|s| s.failed).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(slices.iter().map(|s| s.in_flight).collect::<Vec<_>>(), [0, 0, 1]);
    // Two requests sent in the second: 102 and 103 ms to the first token, 80 ms more to the last.
    assert_eq!(slices[1].ttft_p50_ms, Some(102.5));
    assert_eq!(slices[1].latency_p50_ms, Some(182.5));
    assert_eq!((slices[0].ttft_p50_ms, slices[1].ttft_p99_ms), (None, None));
}

/// Of 40 requests sent in the first of two steps, those that had to be given up took longest.
#[test]
fn a_percentile_among_running_requests_is_unknown() {
    let ramp = Ramp { from: 40.0, to: 1.0, over_ns: 2 * SEC, steps: Some(2) };
    let first_slice = |censored: u64| {
        let records = (0..40).map(|i| match i < 40 - censored {
            true => stream(i, 0, 10 * i, 100 + i, 20, 5),
            false => {
                let mut r = failure(i, 0, 10 * i, 3000, FailureClass::Http(500), "");
                r.outcome = dyno_model::outcome::Outcome::Censored;
                r
            }
        });
        let level = ended(&ramp_plan(ramp), records.collect(), 2 * SEC).levels.remove(0);
        level.slices.unwrap()[0]
    };
    assert_eq!(first_slice(0).ttft_p50_ms, Some(119.5));
    // The median of all forty is still among the thirty.
    assert_eq!(first_slice(10).ttft_p50_ms.map(f64::round), Some(119.0));
    assert!(first_slice(0).ttft_p99_ms.is_some() && first_slice(10).ttft_p99_ms.is_none());
    assert_eq!((first_slice(21).ttft_p50_ms, first_slice(21).latency_p50_ms), (None, None));
}

#[test]
fn a_ramp_has_no_steady_window_and_no_latencies() {
    let level = served(UP, 40, 3);
    assert!(
        level.steady.is_none()
            && level.times[Time::Latency].is_none()
            && level.times[Time::Itl].is_none()
    );
    assert_eq!((level.load.kind, level.load.value), (LoadKind::Ramp, Some(50.0)));
    assert_eq!(level.verdict, Verdict::Valid, "{:?}", level.reasons);
    assert!(level.reasons.is_empty() && level.notes.is_empty(), "{:?}", level.notes);
    assert_eq!(level.slices.unwrap().len(), 20);
}

/// Five servers of 0.1795 s carry 27.9 requests per second.
#[test]
fn the_rate_at_which_a_ramp_bent_is_named() {
    for (steps, slices) in [(None, 20), (Some(5), 5), (Some(25), 25)] {
        let mut near = 0;
        for seed in 0..12 {
            let level = served(Ramp { steps, ..UP }, 5, seed);
            assert_eq!(codes(&level.notes), ["ramp_bent"], "{steps:?} {seed}: {:?}", level.notes);
            assert_eq!(level.slices.unwrap().len(), slices);
            let words = &level.notes[0].what;
            assert!(words.contains("queued"), "{words}");
            let rate: f64 =
                words.split("about ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
            near += usize::from((rate / 27.9 - 1.0).abs() < 0.12);
        }
        println!("{steps:?} steps: {near} of 12 bends named within 12 %");
        assert!(near >= 11, "{steps:?}: {near} of 12");
    }
}

#[test]
fn a_ramp_that_the_server_keeps_up_with_has_no_bend() {
    let bent = (0..50).filter(|seed| !served(UP, 14, *seed).notes.is_empty()).count();
    println!("at 64 % of what is carried: {bent} of 50 ramps seem to bend");
    assert!(bent == 0, "{bent} of 50");
}

#[test]
fn a_ramp_just_past_capacity_is_detected_by_its_latency() {
    let found: Vec<Vec<String>> =
        (0..25).map(|seed| owned_codes(&served(Ramp { to: 34.0, ..UP }, 5, seed))).collect();
    let told = found.iter().filter(|codes| !codes.is_empty()).count();
    println!("27.9/s carried, ramp to 34/s: {told} of 25 told");
    assert!(told >= 22, "{told} of 25");
    assert!(found.iter().any(|codes| codes == &["ramp_latency"]));
}

#[test]
fn a_ramp_down_or_cut_short_is_shown_and_not_judged() {
    let down = served(Ramp { from: 50.0, to: 1.0, ..UP }, 5, 1);
    assert!(down.notes.is_empty() && down.slices.unwrap().len() == 20);
    let mut records = vec![stream(0, 0, 100, 100, 20, 5), stream(1, 0, 5000, 100, 20, 5)];
    records[1].phase = Phase::Drain;
    let plan = ramp_plan(UP);
    let cut = summary_with(&plan, records, |end| {
        end.ending = Ending::Interrupted;
        end.sending_stopped = 7 * SEC;
    });
    let slices = cut.levels[0].slices.clone().unwrap();
    assert_eq!(slices.last().map(|slice| (slice.from_s, slice.to_s)), Some((6.0, 7.0)));
}

#[test]
fn failures_past_the_bend_are_distinguished_from_queues() {
    let mut rng = SplitMix::new(8);
    let (mut due, mut records) = (0.0, Vec::new());
    let mut busy: Vec<u64> = Vec::new();
    while let Some(at) = UP.offset_of(due) {
        let (index, sent) = (records.len() as u64, at / MS);
        busy.retain(|end| *end > sent);
        let taken = busy.len() < 4;
        records.push(match taken {
            true => stream(index, 0, sent, 90 + rng.below(20) as u64, 20, 5),
            false => failure(index, 0, sent, sent + 3, FailureClass::Http(503), "busy"),
        });
        busy.extend(taken.then(|| records[index as usize].end / MS));
        due -= rng.unit().ln();
    }
    let level = ended(&ramp_plan(UP), records, UP.over_ns).levels.remove(0);
    let bent = level.notes.iter().find(|note| note.code == "ramp_bent").unwrap();
    assert!(bent.what.contains("requests failed"), "{}", bent.what);
}

#[test]
fn a_bent_ramp_as_people_see_it() {
    let ramp = Ramp { steps: Some(8), ..UP };
    let mut level = served(ramp, 5, 4);
    level.client = dyno_model::summary::ClientSummary::default();
    let mut summary = ended(&ramp_plan(ramp), vec![], 0);
    summary.levels = vec![level];
    let text = render_text(&summary, &TextOptions::default());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

/// A bar of 1 % false alarms and 95 % found, on few soaks here; `cargo run --release -p dyno-analysis
/// --example soak_drift` runs a thousand of each of many kinds.
#[test]
fn clean_soaks_do_not_drift_and_drifting_ones_do() {
    for (load, seed) in [(CLOSED, 70_000), (OPEN, 80_000)] {
        let clean = Soak { load, noise: 0.1, sway: 0.02, drift: 0.0, requests: 1200 };
        let (alarms, kinds) = clean.count(seed..seed + 16);
        println!("{load:?}: {alarms} of 16 clean soaks have a finding: {kinds:?}");
        assert!(alarms == 0, "{alarms} of 16: {kinds:?}");
        let (found, kinds) = Soak { drift: 0.2, ..clean }.count(seed..seed + 8);
        println!("{load:?}: {found} of 8 soaks that drift by 20 % are found: {kinds:?}");
        assert!(found >= 7, "{found} of 8: {kinds:?}");
    }
}

#[test]
fn drift_is_reported_and_makes_the_level_suspect() {
    let soak = Soak { load: CLOSED, noise: 0.03, sway: 0.0, drift: 0.4, requests: 2000 };
    let level = soak.summary(1).levels.remove(0);
    assert_eq!(level.verdict, Verdict::Suspect);
    let drift = level.reasons.iter().find(|reason| reason.code == "drift_latency").unwrap();
    assert!(drift.what.starts_with("latency drifted: ") && drift.what.contains("(+"), "{drift:?}");
    assert_eq!(level.slices.as_ref().unwrap().len(), 20);
    let plain = Soak { drift: 0.0, ..soak }.summary(1).levels.remove(0);
    assert!(plain.slices.is_some() && plain.steady.is_some());
    assert_eq!(plain.verdict, Verdict::Valid, "{:?}", plain.reasons);
    // "No drift" was said although 31 % could have been missed.
    let unclear = plain.notes.iter().find(|note| note.code == "soak_too_short").unwrap();
    assert!(unclear.what.contains("only a steady change of 31 % or more"), "{}", unclear.what);
    let advice = unclear.advice.as_deref().unwrap();
    assert!(advice.starts_with("use --soak ") && advice.contains("20 %"), "{advice}");
    assert!(!codes(&plain.notes).contains(&"no_drift"));
    // B13: what one soaks for is said, and how much it is worth.
    let long = Soak { drift: 0.0, requests: 8000, ..soak }.summary(1).levels.remove(0);
    let none = long.notes.iter().find(|note| note.code == "no_drift").unwrap();
    assert!(none.what.contains("or more over the level would have been seen"), "{}", none.what);
    for level in [&level, &long] {
        assert!(!codes(&level.notes).contains(&"soak_too_short"));
    }
    assert!(!codes(&level.notes).contains(&"no_drift"));
}

/// A soak of one slot: answers of 180 ms, one after the other; from `from` of 1200 on, every
/// `every`-th fails.
fn failing(from: u64, every: u64) -> LevelSummary {
    let mut plan = plan(vec![level_plan("soak", Load::Concurrency { concurrency: 1 }, None)]);
    plan.levels[0].soak = true;
    plan.allow_failures = 1.0;
    let one = |i: u64| match i >= from && i.is_multiple_of(every) {
        true => failure(i, 0, i * 200, i * 200 + 50, FailureClass::Http(500), "no"),
        false => stream(i, 0, i * 200, 100, 20, 5),
    };
    ended(&plan, (0..1200).map(one).collect(), 240 * SEC).levels.remove(0)
}

#[test]
fn rising_failures_are_reported_with_the_time_of_the_first() {
    let late = failing(1000, 10);
    let creep = late.reasons.iter().find(|reason| reason.code == "drift_failures").unwrap();
    assert!(creep.what.contains("0 % of the requests in the first quarter"), "{}", creep.what);
    assert!(creep.what.contains("first failure came after 3m20s"), "{}", creep.what);
    let always = failing(0, 10);
    assert!(always.reasons.iter().all(|reason| reason.code != "drift_failures"), "{always:?}");
}

#[test]
fn a_soak_of_a_few_responses_is_reported_as_too_short() {
    let mut plan = plan(vec![level_plan("soak", Load::Concurrency { concurrency: 1 }, None)]);
    plan.levels[0].soak = true;
    let records = (0..20).map(|i| stream(i, 0, i * 200, 100, 20, 5)).collect();
    let level = ended(&plan, records, 4 * SEC).levels.remove(0);
    assert!(codes(&level.notes).contains(&"soak_too_short"), "{:?}", level.notes);
    assert!(!codes(&level.notes).contains(&"no_drift"), "{:?}", level.notes);
    assert!(level.reasons.iter().all(|reason| !reason.code.starts_with("drift")));
}

/// A clean soak of four minutes, whose server says every second how much memory it has.
fn with_memory(bytes: impl Fn(u64) -> u64) -> LevelSummary {
    let mut plan = plan(vec![level_plan("soak", Load::Concurrency { concurrency: 1 }, None)]);
    plan.levels[0].soak = true;
    let records: Vec<_> = (0..1200).map(|i| stream(i, 0, i * 200, 100, 20, 5)).collect();
    let mut end = level_end(0, &records);
    end.sending_stopped = 240 * SEC;
    let samples = (1..240).map(|second| ServerSample {
        at: second * SEC,
        resident_bytes: Some(bytes(second)),
        ..ServerSample::default()
    });
    let all: Vec<Frame> = samples.map(Frame::Server).chain(frames(records, Some(end))).collect();
    summarise(&plan, None, &source(&plan, all)).levels.remove(0)
}

#[test]
fn steadily_growing_server_memory_is_reported() {
    let codes = |level: &LevelSummary| {
        let all = level.notes.iter().chain(&level.reasons);
        all.map(|reason| reason.code.clone()).collect::<Vec<_>>()
    };
    let leaking = with_memory(|second| (4 << 30) + second * (8 << 20));
    assert!(codes(&leaking).contains(&"drift_memory".to_owned()), "{:?}", codes(&leaking));
    let level = with_memory(|second| (4 << 30) + (second % 7) * (1 << 20));
    assert!(!codes(&level).contains(&"drift_memory".to_owned()), "{:?}", codes(&level));
}
