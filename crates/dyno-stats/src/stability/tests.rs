use super::*;
use crate::rng::SplitMix;

const ALL: [WatchedStatistic; 5] = [
    WatchedStatistic::Mean,
    WatchedStatistic::P50,
    WatchedStatistic::P90,
    WatchedStatistic::P95,
    WatchedStatistic::P99,
];

fn uniform(seed: u64, count: usize) -> Vec<f64> {
    let mut rng = SplitMix::new(seed);
    (0..count).map(|_| rng.unit()).collect()
}

#[test]
fn too_few_or_unusable_samples_give_nothing() {
    for statistic in ALL {
        assert_eq!(precision(&[], statistic), None);
        assert_eq!(precision(&[1.0; FEWEST_SAMPLES - 1], statistic), None);
        let mut samples = uniform(1, 2_000);
        samples[7] = f64::NAN;
        assert_eq!(precision(&samples, statistic), None);
    }
    assert_eq!(precision(&uniform(2, 999), WatchedStatistic::P99), None);
    assert!(precision(&uniform(2, 4_000), WatchedStatistic::P99).is_some());
    assert_eq!(is_steady(&uniform(3, 2 * FEWEST_SAMPLES - 1), 0.1), None);
    assert_eq!(is_steady(&[0.0; 1_000], 0.1), None);
}

#[test]
fn constant_samples_are_known_exactly() {
    for statistic in ALL {
        let got = precision(&[4.0; 5_000], statistic).unwrap();
        assert_eq!(got, Precision { value: 4.0, half_width: 0.0 });
        assert_eq!(got.relative(), Some(0.0));
    }
    assert_eq!(precision(&[0.0; 5_000], WatchedStatistic::Mean).unwrap().relative(), None);
}

#[test]
fn independent_samples_have_the_width_of_the_books() {
    // Means over many draws, since each is an estimate itself.
    let mean_width = |statistic: WatchedStatistic| {
        let width = |seed| precision(&uniform(seed, 2_000), statistic).unwrap().half_width;
        (0..200).map(width).sum::<f64>() / 200.0
    };
    let plain = 1.96 / 2_000_f64.sqrt();
    let mean = mean_width(WatchedStatistic::Mean) / (plain / 12_f64.sqrt());
    let median = mean_width(WatchedStatistic::P50) / (plain * 0.5);
    // Student and the precaution make it about a third wider.
    assert!((1.1..1.6).contains(&mean), "{mean}");
    assert!((1.1..1.6).contains(&median), "{median}");
}

#[test]
fn samples_like_their_neighbours_are_known_less_well() {
    let loose = uniform(9, 4_000);
    let tight: Vec<f64> = loose.iter().step_by(40).flat_map(|v| [*v; 40]).collect();
    for statistic in [WatchedStatistic::Mean, WatchedStatistic::P50] {
        let wide = precision(&tight, statistic).unwrap().half_width;
        let narrow = precision(&loose, statistic).unwrap().half_width;
        assert!(wide > 3.0 * narrow, "{statistic:?}: {wide} and {narrow}");
    }
}

#[test]
fn a_trend_is_not_steady() {
    let rising: Vec<f64> =
        uniform(5, 2_000).iter().enumerate().map(|(i, v)| v + i as f64 / 2_000.0).collect();
    assert_eq!(is_steady(&rising, 0.03), Some(false));
    assert_eq!(is_steady(&rising, 2.0), Some(true));
    assert_eq!(is_steady(&uniform(5, 2_000), 0.03), Some(true));
}
