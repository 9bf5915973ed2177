//! Arrivals of a level at a rate: as many as the rate says, and as bursty as their process.
#![allow(clippy::unwrap_used)]

use dyno_drive::paced::PacedArrivals;
use dyno_model::plan::{Arrival, LevelPlan, Load, Warmup};
use dyno_model::{Nanos, SEC};
use dyno_stats::{index_of_dispersion, ks_one_sample};
use proptest::prelude::*;

const SEEDS: u64 = 60;
const PROCESSES: [Arrival; 3] =
    [Arrival::Poisson, Arrival::Gamma { shape: 0.5 }, Arrival::Gamma { shape: 4.0 }];

fn plan(rate: f64, requests: Option<u64>, duration_ns: Option<Nanos>) -> LevelPlan {
    let load = Load::Rate { rate, arrival: Arrival::Poisson };
    LevelPlan { requests, duration_ns, ..LevelPlan::new(load) }
}

fn timed(rate: f64, seconds: u64) -> LevelPlan {
    plan(rate, None, Some(seconds * SEC))
}

fn arrivals(seed: u64, arrival: Arrival, plan: &LevelPlan) -> PacedArrivals {
    PacedArrivals::new(seed, 0, plan.load.value(), arrival, plan, false)
}

fn until(end: Nanos, arrivals: PacedArrivals) -> Vec<Nanos> {
    arrivals.take_while(|due| *due < end).collect()
}

#[test]
fn a_level_of_a_given_time_has_as_many_arrivals_as_its_rate_says() {
    for (rate, seconds, expected) in [(2.5, 20, 50), (2.5, 1, 3), (0.1, 1, 1), (200.0, 30, 6_000)] {
        for arrival in PROCESSES {
            for seed in 0..20 {
                let due = until(seconds * SEC, arrivals(seed, arrival, &timed(rate, seconds)));
                assert_eq!(due.len(), expected, "{rate}/s for {seconds} s, {arrival}, seed {seed}");
                assert!(due.is_sorted());
            }
        }
    }
}

#[test]
fn a_level_of_a_given_number_is_sent_at_its_rate() {
    for arrival in PROCESSES {
        for seed in 0..20 {
            let due: Vec<_> =
                arrivals(seed, arrival, &plan(2.5, Some(30), None)).take(30).collect();
            let rate = 29.0 / ((due[29] - due[0]) as f64 / 1e9);
            assert!((rate - 2.5).abs() < 1e-6, "{arrival}, seed {seed}: {rate}/s");
        }
    }
    let both = plan(2.5, Some(1_000), Some(20 * SEC));
    assert_eq!(until(20 * SEC, arrivals(1, Arrival::Poisson, &both)).len(), 50, "time ends it");
    let both = plan(2.5, Some(10), Some(20 * SEC));
    let due: Vec<_> = arrivals(1, Arrival::Poisson, &both).take(10).collect();
    assert!((9.0 / ((due[9] - due[0]) as f64 / 1e9) - 2.5).abs() < 1e-6, "the number ends it");
}

#[test]
fn warm_up_and_measured_part_each_have_their_number() {
    for seed in 0..20 {
        let warmed = LevelPlan { warmup: Some(Warmup::Duration(8 * SEC)), ..timed(2.5, 20) };
        let due = until(28 * SEC, arrivals(seed, Arrival::Poisson, &warmed));
        assert_eq!(due.iter().filter(|due| **due < 8 * SEC).count(), 20);
        assert_eq!(due.len(), 70);

        let warmed = LevelPlan { warmup: Some(Warmup::Requests(20)), ..timed(2.5, 20) };
        let due: Vec<_> = arrivals(seed, Arrival::Poisson, &warmed).take(80).collect();
        let first = due[20];
        assert_eq!(first, 8 * SEC, "as long as 20 take at this rate");
        let measured = due.iter().filter(|due| (first..first + 20 * SEC).contains(due));
        assert_eq!(measured.count(), 50);
    }
}

#[test]
fn conversations_are_counted_by_time_alone() {
    let plan = plan(2.5, Some(10), Some(20 * SEC));
    let due = PacedArrivals::new(7, 0, 2.5, Arrival::Poisson, &plan, true);
    assert_eq!(until(20 * SEC, due).len(), 50, "10 are turns, and nobody knows of how many");
    let turns = LevelPlan { warmup: Some(Warmup::Requests(3)), ..plan };
    let counts: Vec<usize> = (0..20)
        .map(|seed| PacedArrivals::new(seed, 0, 2.5, Arrival::Poisson, &turns, true))
        .map(|due| until(20 * SEC, due).len())
        .collect();
    assert!(counts.iter().any(|count| *count != 50), "up to chance: {counts:?}");
}

#[test]
fn arrivals_stay_as_bursty_as_their_process() {
    let bins = |due: &[Nanos], width: Nanos| {
        let mut bins = vec![0; (30 * SEC / width) as usize];
        due.iter().for_each(|due| bins[(due / width) as usize] += 1);
        bins
    };
    let dispersion = |arrival, width| {
        let all =
            (0..SEEDS).map(|seed| until(30 * SEC, arrivals(seed, arrival, &timed(200.0, 30))));
        all.map(|due| index_of_dispersion(&bins(&due, width)).unwrap()).sum::<f64>() / SEEDS as f64
    };
    // The variance over the mean of counts in bins is 1 for Poisson arrivals, and 1 / shape in
    // long bins for gamma ones; that the bins add up to a given number hardly matters.
    let poisson = dispersion(Arrival::Poisson, SEC / 100);
    assert!((poisson - 1.0).abs() < 0.02, "{poisson}");
    let second = dispersion(Arrival::Poisson, SEC);
    assert!((second - 1.0).abs() < 0.06, "{second}");
    let bursty = dispersion(Arrival::Gamma { shape: 0.5 }, SEC);
    assert!((1.7..2.2).contains(&bursty), "{bursty}");
    let smooth = dispersion(Arrival::Gamma { shape: 4.0 }, SEC);
    assert!((0.2..0.32).contains(&smooth), "{smooth}");
}

#[test]
fn given_their_number_poisson_arrivals_are_anywhere_and_their_gaps_exponential() {
    let schedules: Vec<Vec<Nanos>> = (0..SEEDS)
        .map(|seed| until(30 * SEC, arrivals(seed, Arrival::Poisson, &timed(200.0, 30))))
        .collect();
    let places = |due: &Vec<Nanos>| due.iter().map(|due| *due as f64 / 30e9).collect::<Vec<_>>();
    let gaps = |due: &Vec<Nanos>| {
        due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect::<Vec<_>>()
    };
    // At a level of 1 % some seeds must fail; many failing would not be chance.
    let rejected = |cdf: fn(f64) -> f64, samples: &dyn Fn(&Vec<Nanos>) -> Vec<f64>| {
        let fails = |due: &&Vec<Nanos>| ks_one_sample(&samples(due), cdf).unwrap().p < 0.01;
        schedules.iter().filter(fails).count()
    };
    assert!(rejected(|place| place, &places) <= 4);
    assert!(rejected(|gap| 1.0 - (-gap * 200.0).exp(), &gaps) <= 4);
    let early: usize = schedules.iter().map(|s| s.iter().filter(|d| **d < 15 * SEC).count()).sum();
    let share = early as f64 / (SEEDS * 6_000) as f64;
    assert!((share - 0.5).abs() < 0.003, "{share}");
}

#[test]
fn the_schedule_is_the_same_on_every_machine() {
    // Written down once: a change here breaks the promise that a seed means the same everywhere.
    let first: Vec<Nanos> = arrivals(42, Arrival::Poisson, &timed(200.0, 30)).take(3).collect();
    let number = arrivals(42, Arrival::Poisson, &plan(200.0, Some(50), None));
    assert_eq!(
        (first, number.take(3).collect()),
        (vec![10_378_345, 17_274_980, 17_625_799], vec![10_419_672, 17_348_227, 17_700_670])
    );
    let again = |seed| arrivals(seed, Arrival::Poisson, &timed(200.0, 1)).take(300).collect();
    let [one, same, other]: [Vec<Nanos>; 3] = [again(5), again(5), again(6)];
    assert_eq!(one, same);
    assert_ne!(one, other);
}

#[test]
fn even_arrivals_are_left_as_they_are() {
    let due: Vec<Nanos> = arrivals(9, Arrival::Constant, &timed(200.0, 30)).take(6_000).collect();
    assert!(due.iter().enumerate().all(|(i, due)| *due == i as u64 * 5_000_000));
}

proptest! {
    #[test]
    fn whatever_the_plan_they_come_in_order_and_without_end(
        seed in any::<u64>(),
        rate in 1e-3_f64..1e5,
        shape in prop_oneof![Just(0.01), 0.05_f64..10.0],
        requests in proptest::option::of(0_u64..300),
        duration in proptest::option::of(1_u64..5 * SEC),
        warmup in proptest::option::of(prop_oneof![
            (0_u64..100).prop_map(Warmup::Requests),
            (0_u64..SEC).prop_map(Warmup::Duration),
        ]),
    ) {
        let plan = LevelPlan { warmup, ..plan(rate, requests, duration) };
        let due: Vec<Nanos> = arrivals(seed, Arrival::Gamma { shape }, &plan).take(500).collect();
        prop_assert_eq!(due.len(), 500);
        prop_assert!(due.is_sorted(), "{:?}", due);
    }
}
