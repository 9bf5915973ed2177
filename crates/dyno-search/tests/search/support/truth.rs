//! The true capacity by brute force: where the median margin of many levels is 0.

use super::Lab;
use dyno_search::LevelKind;
use dyno_search::capacity::CapacityAnswer;
use dyno_stats::quantile;
use dyno_stats::rng::SplitMix;

/// Levels at each load while only the neighbourhood is looked for, at most.
const COARSE: usize = 41;
const GRID: usize = 13;

/// The load at which half the levels hold: a rate, or the highest number in flight at which at
/// least half of them do. `seeds` levels are measured at each load of a fine grid.
pub(crate) fn truth(lab: &Lab, seeds: usize) -> f64 {
    match lab.kind {
        LevelKind::Concurrency => whole(lab, seeds),
        _ => between(lab, seeds),
    }
}

/// Whether an answer contains the truth.
pub(crate) fn contains(lab: &Lab, answer: CapacityAnswer, truth: f64) -> bool {
    match answer {
        CapacityAnswer::Between { low, high, .. } if lab.kind == LevelKind::Concurrency => {
            low <= truth && truth < high
        }
        CapacityAnswer::Between { low, high, .. } => low <= truth && truth <= high,
        _ => false,
    }
}

fn median(lab: &Lab, load: f64, count: usize) -> f64 {
    let mut seeds = SplitMix::new(load.to_bits());
    let mut margins: Vec<f64> = (0..count).map(|_| lab.margin(load, seeds.next_u64())).collect();
    margins.sort_by(f64::total_cmp);
    quantile(&margins, 0.5).expect("levels")
}

fn whole(lab: &Lab, seeds: usize) -> f64 {
    let (mut low, mut high) = (1_u32, 512_u32);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if median(lab, f64::from(middle), seeds) <= 0.0 { low = middle } else { high = middle }
    }
    f64::from(low)
}

fn between(lab: &Lab, seeds: usize) -> f64 {
    let most = lab.level(LevelKind::Throughput, 512.0, 1).completed_rate.expect("a rate");
    let (mut low, mut high) = (most / 64.0, most * 1.3);
    while high / low > 1.03 {
        let middle = (low * high).sqrt();
        if median(lab, middle, seeds.min(COARSE)) < 0.0 { low = middle } else { high = middle }
    }
    // Medians on a grid around, each averaged with its neighbours, and where they cross 0.
    let (low, high) = ((low / 1.06).ln(), (high * 1.06).ln());
    let place = |i: usize| low + (high - low) * i as f64 / (GRID - 1) as f64;
    let medians: Vec<f64> = (0..GRID).map(|i| median(lab, place(i).exp(), seeds)).collect();
    let smooth: Vec<f64> =
        medians.windows(3).map(|three| three.iter().sum::<f64>() / 3.0).collect();
    let crossing = smooth.windows(2).position(|two| two[0] < 0.0 && two[1] >= 0.0);
    let i = crossing.expect("the margin to cross 0");
    let part = smooth[i] / (smooth[i] - smooth[i + 1]);
    (place(i + 1) + part * (place(i + 2) - place(i + 1))).exp()
}
