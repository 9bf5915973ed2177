//! The capacity search, on a simulated server whose edge is known exactly.

use dyno_search::capacity::{Capacity, CapacityAnswer, Doubt, LEVELS, SearchStart, needed};
use dyno_search::{HeldLoad, LevelKind, Margin, MeasuredLevel, NextLevel};
use dyno_stats::rng::SplitMix;
use proptest::prelude::*;

fn level(kind: LevelKind, load: f64, held: HeldLoad) -> MeasuredLevel {
    MeasuredLevel {
        kind,
        load,
        arrived_rate: None,
        completed_rate: None,
        steady: true,
        saturated: None,
        held,
        latency: None,
        requests: 1_000,
        failed_share: 0.0,
        valid: true,
    }
}

fn by(log_ratio: f64) -> HeldLoad {
    HeldLoad::By(Margin { log_ratio, error: None })
}

/// Searches to the end. The server gets the load and the number of the level.
fn run(
    search: Capacity,
    server: impl Fn(f64, usize) -> HeldLoad,
) -> (CapacityAnswer, Vec<MeasuredLevel>) {
    run_of(4_000, search, server)
}

/// The same, with levels of so many requests.
fn run_of(
    requests: u64,
    search: Capacity,
    server: impl Fn(f64, usize) -> HeldLoad,
) -> (CapacityAnswer, Vec<MeasuredLevel>) {
    run_from(Vec::new(), requests, search, server)
}

/// The same, after some levels.
fn run_from(
    mut so_far: Vec<MeasuredLevel>,
    requests: u64,
    search: Capacity,
    server: impl Fn(f64, usize) -> HeldLoad,
) -> (CapacityAnswer, Vec<MeasuredLevel>) {
    loop {
        match search.next(&so_far) {
            NextLevel::Level(wish) => {
                assert!(wish.load.is_finite() && wish.load > 0.0, "{wish:?}");
                let held = server(wish.load, so_far.len());
                let mut measured = level(wish.kind, wish.load, held);
                measured.completed_rate = Some(MOST);
                measured.requests = requests;
                so_far.push(measured);
                assert!(so_far.len() <= search.levels, "more levels than allowed");
            }
            NextLevel::Done(answer) => return (answer, so_far),
        }
    }
}

/// The full rate of the simulated server.
const MOST: f64 = 60.0;

fn rate(start: SearchStart) -> Capacity {
    Capacity::new(LevelKind::Rate, start)
}

/// Each level of each search has luck of its own.
fn luck(seed: u64, number: usize) -> SplitMix {
    SplitMix::new(SplitMix::new(seed * 100 + number as u64).next_u64())
}

/// Noise of a normal distribution with a standard deviation of 1.
fn noise(random: &mut SplitMix) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

fn between(answer: CapacityAnswer) -> (f64, f64) {
    match answer {
        CapacityAnswer::Between { low, high, .. } => (low, high),
        other => panic!("no interval: {other:?}"),
    }
}

#[test]
fn noisy_margins_give_narrow_intervals_that_contain_the_edge() {
    const SEEDS: u64 = 30;
    for (slope, jitter) in [(0.8, 0.02), (10.0, 0.25), (20.0, 0.4), (30.0, 0.6)] {
        let one = |seed: u64| {
            let server = |load: f64, number: usize| {
                by(slope * (load / 41.5).ln() + jitter * noise(&mut luck(seed, number)))
            };
            between(run(rate(SearchStart::Probe(512)), server).0)
        };
        let all: Vec<_> = (0..SEEDS).map(one).collect();
        let contains = |(low, high): &(f64, f64)| *low <= 41.5 && 41.5 <= *high;
        let narrow = |(low, high): &(f64, f64)| high / low <= 1.06 + 1e-9;
        // At 95 % for each, fewer than 25 of 30 are a chance of one in a thousand.
        let contained = all.iter().filter(|one| contains(one)).count();
        assert!(contained >= 25, "slope {slope}: {contained} of {SEEDS}");
        // Steeper lines are known to end up somewhat wider.
        let good = all.iter().filter(|one| contains(one) && narrow(one)).count();
        assert!(good >= if slope > 20.0 { 20 } else { 25 }, "slope {slope}: {good} of {SEEDS}");
    }
}

#[test]
fn it_says_how_sure_it_is() {
    let (answer, _) = run(rate(SearchStart::Guess(10.0)), |load, _| by(2.0 * (load / 30.0).ln()));
    let CapacityAnswer::Between { low, high, confidence, doubt } = answer else {
        panic!("{answer:?}")
    };
    assert!(low < 30.0 && 30.0 < high);
    assert!(confidence.is_some_and(|chance| (0.95..=1.0).contains(&chance)), "{answer:?}");
    assert_eq!(doubt, None);
}

#[test]
fn a_server_that_cannot_meet_it_is_told_after_few_levels() {
    let (answer, levels) =
        run(rate(SearchStart::Probe(512)), |load, _| by(1.0 + 0.2 * (load / MOST)));
    let CapacityAnswer::Never { load, margin } = answer else { panic!("{answer:?}") };
    assert!(load <= MOST / 50.0 && levels.len() <= 6, "{load} after {}", levels.len());
    assert!(margin.is_some_and(|margin| (0.9..1.1).contains(&margin)));

    let search = Capacity::new(LevelKind::Concurrency, SearchStart::Between([1.0, 512.0]));
    let (answer, levels) = run(search, |_, _| by(0.8));
    assert!(matches!(answer, CapacityAnswer::Never { load, .. } if load == 1.0), "{answer:?}");
    assert!(levels.len() <= 7, "{}", levels.len());
}

#[test]
fn a_server_that_holds_everything_is_told_too() {
    let search = rate(SearchStart::Between([5.0, 80.0]));
    let (answer, levels) = run(search, |_, _| by(-1.0));
    assert!(matches!(answer, CapacityAnswer::AtLeast { load } if load == 80.0), "{answer:?}");
    assert!(levels.len() <= 5, "{}", levels.len());
}

#[test]
fn numbers_in_flight_may_come_down_to_two_neighbours() {
    let search = Capacity::new(LevelKind::Concurrency, SearchStart::Between([1.0, 512.0]));
    let (answer, levels) = run(search, |load, _| by(0.7 * (load / 6.4).ln()));
    assert_eq!(between(answer), (6.0, 7.0));
    assert!(levels.iter().all(|level| level.load.fract() == 0.0));
    let (answer, _) = run(search, |load, _| by(0.7 * (load / 200.5).ln()));
    let (low, high) = between(answer);
    assert!(low <= 200.0 && 201.0 <= high && high / low < 1.07, "{low} {high}");
}

#[test]
fn yes_and_no_are_enough_to_find_it_roughly() {
    let server = |load: f64, _| if load < 33.0 { HeldLoad::Yes } else { HeldLoad::No };
    let (low, high) = between(run(rate(SearchStart::Guess(10.0)), server).0);
    assert!(low <= 33.0 && 33.0 <= high && high / low < 1.5, "{low} {high}");
}

#[test]
fn levels_that_contradict_each_other_widen_the_answer_and_are_named() {
    let odd = [(50.0, -0.3), (40.0, 0.3), (60.0, -0.2)];
    let odd = odd.map(|(load, margin)| level(LevelKind::Rate, load, by(margin)));
    let server = |load: f64, _| by(2.0 * (load / 45.0).ln());
    let (answer, levels) = run_from(odd.into(), 1_000, rate(SearchStart::Guess(50.0)), server);
    let CapacityAnswer::Between { low, high, confidence, doubt } = answer else {
        panic!("{answer:?}")
    };
    let Some(Doubt::Contradiction { held, failed }) = doubt else { panic!("{answer:?}") };
    assert_eq!(confidence, None);
    assert!(failed < held, "{answer:?}");
    assert!(low <= failed + 1e-6 && held <= high + 1e-6, "{answer:?}");
    assert_eq!(levels.len(), LEVELS, "it should look as long as it may");
}

#[test]
fn short_levels_that_wobble_widen_the_answer_and_it_still_contains_the_edge() {
    const SEEDS: u64 = 30;
    for (jitter, requests, width) in [(0.05, 1_000, 1.04), (0.1, 200, 1.1), (0.2, 50, 1.2)] {
        let one = |seed: u64| {
            let server = |load: f64, number: usize| {
                by((load / 40.0).ln() + jitter * noise(&mut luck(seed, number)))
            };
            between(run_of(requests, rate(SearchStart::Between([10.0, 100.0])), server).0)
        };
        let all: Vec<_> = (0..SEEDS).map(one).collect();
        let contain = all.iter().filter(|(low, high)| *low <= 40.0 && 40.0 <= *high).count();
        assert!(contain >= 25, "{requests} requests: {contain} of {SEEDS}");
        let wide = all.iter().filter(|(low, high)| high / low > width).count();
        assert!(wide >= 15, "{requests} requests: {wide} of {SEEDS} wider than {width}");
    }
}

#[test]
fn a_server_that_gets_slower_is_named() {
    let server =
        |load: f64, number: usize| by(3.0 * (load / (40.0 * 0.965_f64.powi(number as i32))).ln());
    let (answer, _) = run(rate(SearchStart::Guess(40.0)), server);
    let CapacityAnswer::Between { confidence, doubt, .. } = answer else { panic!("{answer:?}") };
    assert!(doubt.is_some() && confidence.is_none(), "{answer:?}");
}

#[test]
fn what_cannot_be_sent_or_judged_is_not_asked_for_again_and_again() {
    // Above 50 this client does not keep up.
    let server = |load: f64, _| if load > 50.0 { HeldLoad::Unsure } else { by(-0.5) };
    let (answer, levels) = run(rate(SearchStart::Between([10.0, 200.0])), server);
    assert!(
        matches!(answer, CapacityAnswer::AtLeast { load } if load > 25.0 && load <= 50.0),
        "{answer:?}"
    );
    assert!(levels.len() < LEVELS);
}

fn loads(levels: &[MeasuredLevel]) -> Vec<f64> {
    levels.iter().map(|level| level.load).collect()
}

#[test]
fn a_level_that_cannot_be_judged_is_measured_once_more_and_never_a_lower_one_for_it() {
    let (answer, levels) = run(rate(SearchStart::Guess(10.0)), |_, _| HeldLoad::Unsure);
    assert_eq!(answer, CapacityAnswer::Inconclusive { load: Some(10.0), failed: None });
    assert_eq!(loads(&levels), [10.0, 10.0]);
    // The second attempt can be judged: it goes on from there, upwards.
    let server = |load: f64, number| match number {
        0 => HeldLoad::Unsure,
        _ => by(3.0 * (load / 40.0).ln()),
    };
    let (answer, levels) = run(rate(SearchStart::Guess(10.0)), server);
    let (low, high) = between(answer);
    assert!(low <= 40.0 && 40.0 <= high, "{answer:?}");
    assert!(loads(&levels).iter().all(|load| *load >= 10.0), "{:?}", loads(&levels));
}

#[test]
fn a_level_that_was_read_badly_but_is_far_from_its_bound_counts() {
    // Only whether they held is known of any of them.
    let server = |load: f64, _| if load < 300.0 { HeldLoad::Yes } else { HeldLoad::No };
    let (answer, levels) = run(rate(SearchStart::Guess(10.0)), server);
    let (low, high) = between(answer);
    assert!(low <= 300.0 && 300.0 <= high, "{answer:?}");
    assert!(loads(&levels).iter().all(|load| *load >= 10.0), "{:?}", loads(&levels));
    let (answer, _) = run(rate(SearchStart::Between([1.0, 100.0])), |_, _| HeldLoad::Yes);
    assert!(matches!(answer, CapacityAnswer::AtLeast { load } if load > 95.0), "{answer:?}");
}

#[test]
fn below_a_load_that_failed_what_cannot_be_judged_is_inconclusive_and_not_never() {
    let server = |load: f64, _| if load < 8.0 { HeldLoad::Unsure } else { by(0.9) };
    let (answer, levels) = run(rate(SearchStart::Guess(10.0)), server);
    let CapacityAnswer::Inconclusive { load: Some(load), failed: Some(failed) } = answer else {
        panic!("{answer:?}")
    };
    assert!(load < 8.0 && (8.0..=10.0).contains(&failed), "{answer:?}");
    assert_eq!(loads(&levels).iter().filter(|other| **other == load).count(), 2);
}

#[test]
fn between_a_load_that_held_and_one_that_failed_it_answers_with_what_there_is() {
    let server = |load: f64, _| match load {
        load if load < 20.0 => by(-0.4),
        load if load > 60.0 => by(1.5),
        _ => HeldLoad::Unsure,
    };
    let (answer, levels) = run(rate(SearchStart::Between([15.0, 80.0])), server);
    match answer {
        CapacityAnswer::Between { low, high, .. } => {
            assert!(low < 60.0 && high > 20.0, "{answer:?}")
        }
        CapacityAnswer::Inconclusive { load: Some(load), .. } => assert!(load > 20.0, "{answer:?}"),
        other => panic!("{other:?}"),
    }
    assert!(levels.len() < LEVELS, "{:?}", loads(&levels));
}

#[test]
fn ranges_that_make_no_sense_give_no_level() {
    let guesses = [f64::NAN, -1.0, 1.4703700394189247e-308, 1e300].map(SearchStart::Guess);
    for start in guesses.into_iter().chain([SearchStart::Between([0.0, 0.0])]) {
        let nothing = CapacityAnswer::Inconclusive { load: None, failed: None };
        assert_eq!(rate(start).next(&[]), NextLevel::Done(nothing), "{start:?}");
    }
}

#[test]
fn ten_requests_lie_beyond_a_percentile() {
    assert_eq!([0.5, 0.9, 0.95, 0.99, 0.999].map(needed), [20, 100, 200, 1_000, 10_000]);
}

fn any_held() -> impl Strategy<Value = HeldLoad> {
    prop_oneof![
        any::<f64>().prop_map(by),
        (-3.0_f64..3.0).prop_map(by),
        (-3.0_f64..3.0, any::<f64>())
            .prop_map(|(log_ratio, error)| HeldLoad::By(Margin { log_ratio, error: Some(error) })),
        Just(HeldLoad::Yes),
        Just(HeldLoad::No),
        Just(HeldLoad::Unsure),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_measured_it_ends_in_time(
        held in proptest::collection::vec(any_held(), LEVELS),
        whole in any::<bool>(),
        start in prop_oneof![
            Just(SearchStart::Probe(512)),
            any::<f64>().prop_map(SearchStart::Guess),
            (0.1_f64..1e4).prop_map(SearchStart::Guess),
            (1e-3_f64..1e3, 1e-3_f64..1e3).prop_map(|(a, b)| SearchStart::Between([a, b])),
        ],
    ) {
        let kind = if whole { LevelKind::Concurrency } else { LevelKind::Rate };
        let (answer, levels) = run(Capacity::new(kind, start), |_, number| held[number]);
        prop_assert!(levels.len() <= LEVELS);
        if let CapacityAnswer::Between { low, high, .. } = answer {
            prop_assert!(0.0 < low && low < high && high.is_finite());
        }
    }
}
