//! The schedule's statistics, over 200 seeds at 200/s for 30 s.

use dyno_drive::arrivals::Arrivals;
use dyno_model::plan::Arrival;
use dyno_stats::{index_of_dispersion, ks_one_sample};

const SEEDS: u64 = 200;
const RATE: f64 = 200.0;
const SECONDS: u64 = 30;

fn schedule(seed: u64, arrival: Arrival) -> Vec<u64> {
    Arrivals::new(seed, 0, RATE, arrival).take_while(|t| *t < SECONDS * 1_000_000_000).collect()
}

fn bins(schedule: &[u64]) -> Vec<u64> {
    let mut bins = vec![0; (SECONDS * 100) as usize];
    schedule.iter().for_each(|t| bins[(t / 10_000_000) as usize] += 1);
    bins
}

fn gaps(schedule: &[u64]) -> Vec<f64> {
    schedule.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e9).collect()
}

#[test]
fn poisson_arrivals_are_poisson() {
    let schedules: Vec<_> = (0..SEEDS).map(|seed| schedule(seed, Arrival::Poisson)).collect();
    let mean = schedules.iter().map(|s| s.len() as f64).sum::<f64>() / SEEDS as f64;
    let expected = RATE * SECONDS as f64;
    assert!((mean / expected - 1.0).abs() < 0.005, "mean count {mean}, expected {expected}");

    let dispersion: f64 =
        schedules.iter().map(|s| index_of_dispersion(&bins(s)).unwrap()).sum::<f64>()
            / SEEDS as f64;
    assert!((dispersion - 1.0).abs() < 0.1, "index of dispersion {dispersion}");
    let worst = schedules
        .iter()
        .map(|s| (index_of_dispersion(&bins(s)).unwrap() - 1.0).abs())
        .fold(0.0, f64::max);
    assert!(worst < 0.15, "one seed is off by {worst}");

    // At a level of 1 % some seeds must fail; many failing would not be chance.
    let cdf = |gap: f64| 1.0 - (-gap * RATE).exp();
    let rejected =
        schedules.iter().filter(|s| ks_one_sample(&gaps(s), cdf).unwrap().p < 0.01).count();
    assert!(rejected <= 8, "{rejected} of {SEEDS} seeds fail Kolmogorov–Smirnov at 1 %");
    let pooled: Vec<f64> = schedules.iter().take(20).flat_map(|s| gaps(s)).collect();
    let pooled = ks_one_sample(&pooled, cdf).unwrap();
    assert!(pooled.p > 0.001, "pooled gaps: p = {}", pooled.p);
}

#[test]
fn the_ks_test_would_notice_gaps_that_are_not_exponential() {
    let schedule = schedule(1, Arrival::Gamma { shape: 2.0 });
    let result = ks_one_sample(&gaps(&schedule), |gap| 1.0 - (-gap * RATE).exp()).unwrap();
    assert!(result.p < 1e-6);
}

#[test]
fn gamma_arrivals_keep_the_rate_and_scale_the_dispersion() {
    for shape in [0.25, 0.5, 2.0, 4.0] {
        let schedules: Vec<_> =
            (0..SEEDS).map(|seed| schedule(seed, Arrival::Gamma { shape })).collect();
        let mean = schedules.iter().map(|s| s.len() as f64).sum::<f64>() / SEEDS as f64;
        let expected = RATE * SECONDS as f64;
        assert!((mean / expected - 1.0).abs() < 0.01, "shape {shape}: mean count {mean}");
        // The squared coefficient of variation of a gamma gap is 1 / shape.
        let all: Vec<f64> = schedules.iter().flat_map(|s| gaps(s)).collect();
        let mean_gap = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|g| (g - mean_gap).powi(2)).sum::<f64>() / all.len() as f64;
        let cv2 = variance / (mean_gap * mean_gap);
        assert!((cv2 * shape - 1.0).abs() < 0.03, "shape {shape}: cv² {cv2}");
    }
}

#[test]
fn constant_arrivals_are_evenly_spaced_without_drift() {
    let schedule = schedule(9, Arrival::Constant);
    assert_eq!(schedule.len(), 6000);
    assert!(schedule.iter().enumerate().all(|(i, t)| *t == i as u64 * 5_000_000));
}

#[test]
fn the_same_seed_gives_the_same_schedule_and_another_seed_another() {
    for arrival in [Arrival::Poisson, Arrival::Gamma { shape: 0.5 }] {
        assert_eq!(schedule(5, arrival), schedule(5, arrival));
        assert_ne!(schedule(5, arrival), schedule(6, arrival));
    }
}

#[test]
fn the_schedule_is_the_same_on_every_machine() {
    // Written down once: a change here breaks the promise that a seed means the same everywhere.
    let first: Vec<u64> = Arrivals::new(42, 0, RATE, Arrival::Poisson).take(3).collect();
    let gamma: Vec<u64> =
        Arrivals::new(42, 0, RATE, Arrival::Gamma { shape: 0.5 }).take(3).collect();
    assert_eq!(
        (first, gamma),
        (vec![10_419_672, 17_343_769, 17_695_986], vec![172_995, 395_510, 11_530_483])
    );
}
