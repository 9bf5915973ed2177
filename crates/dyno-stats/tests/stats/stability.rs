//! The watch on series with known statistics: a small version of `examples/stability_table.rs`,
//! and what must not make it stop.

use crate::queues::table::JUDGED_ON;
use crate::queues::watched::{Series, watched};
use crate::queues::{exponential, normal};
use dyno_stats::rng::SplitMix;
use dyno_stats::stability::is_steady;
use dyno_stats::{StabilityWatch, Standing, WatchedStatistic};

/// Of so many runs with the rates that the table shows, fewer than nine in ten are covered less
/// than once in 100 times.
fn covers(series: Series, statistic: WatchedStatistic, wanted: f64, runs: usize) {
    let got = watched(series, statistic, wanted, 4_711, runs);
    assert!(got.stopped >= 99.0, "{series}, {statistic:?}: {got:?}");
    assert!(got.covered >= 90.0, "{series}, {statistic:?}: {got:?}");
}

#[test]
fn the_mean_of_correlated_samples_is_covered() {
    covers(
        Series::Autoregressive { alike: 0.9, deviation: 1.0 },
        WatchedStatistic::Mean,
        0.03,
        120,
    );
}

#[test]
fn a_percentile_is_covered() {
    covers(Series::Autoregressive { alike: 0.5, deviation: 3.0 }, WatchedStatistic::P90, 0.03, 60);
}

#[test]
fn a_queue_is_covered() {
    covers(Series::Queue { load: 0.5 }, WatchedStatistic::Mean, 0.1, 60);
}

#[test]
fn a_growing_queue_is_never_precise() {
    let queue = JUDGED_ON[0];
    for seed in 0..10 {
        let seen = queue.run(&mut SplitMix::new(seed), 1.2, 10_000);
        let mut watch = StabilityWatch::new(WatchedStatistic::Mean, 0.03);
        for latency in seen.latencies {
            watch.add(latency);
            assert!(!matches!(watch.ask(), Standing::Known(_)), "after {}", watch.count());
        }
    }
}

/// Noise of 10 % about a level that is reached as a server fills.
fn filling(rng: &mut SplitMix, count: usize, fill: f64) -> Vec<f64> {
    let level = |i: usize| 1.0 - 0.8 * (-(i as f64) / fill).exp();
    (0..count).map(|i| 10.0 * level(i) + normal(rng)).collect()
}

#[test]
fn a_level_that_fills_is_not_steady_until_it_has() {
    let mut rng = SplitMix::new(6);
    for count in [400, 1_000, 3_000] {
        assert_eq!(is_steady(&filling(&mut rng, count, 500.0), 0.03), Some(false), "{count}");
    }
    // The first half's mean is then low by 0.8 · 500 / 15,000, which is less than 3 %.
    assert_eq!(is_steady(&filling(&mut rng, 30_000, 500.0), 0.03), Some(true));
}

#[test]
fn steady_samples_are_seldom_called_unsteady() {
    let mut rng = SplitMix::new(60);
    let called = (0..400)
        .filter(|_| {
            let samples: Vec<f64> = (0..400).map(|_| exponential(&mut rng)).collect();
            is_steady(&samples, 0.03) == Some(false)
        })
        .count();
    assert!(called <= 12, "{called} of 400");
}

#[test]
fn looks_are_few_however_often_it_is_asked() {
    let mut rng = SplitMix::new(61);
    let mut watch = StabilityWatch::new(WatchedStatistic::P50, 0.001);
    let mut changes = 0;
    let mut before = watch.ask();
    for _ in 0..5_000 {
        watch.add(10.0 + normal(&mut rng));
        let now = watch.ask();
        changes += u32::from(now != before);
        before = now;
    }
    // 200, 280, 392, … 4,213: ten looks below 5,000.
    assert_eq!(changes, 10);
}

#[test]
fn nan_samples_are_left_out() {
    let mut watch = StabilityWatch::new(WatchedStatistic::Mean, 0.03);
    for sample in [f64::NAN, f64::INFINITY, 1.0] {
        watch.add(sample);
    }
    assert_eq!(watch.count(), 1);
    assert_eq!(watch.ask(), Standing::TooFew);
}
