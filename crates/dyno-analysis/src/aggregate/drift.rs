//! Drift in a soak: metrics in equal slices of time, tested for a trend; failures of the last quarter
//! against the first; and the server's memory, where it is known.

use super::slices::{Cell, Sliced};
use dyno_model::units::to_s;
use dyno_model::{Diagnostic, Nanos};
use dyno_stats::drift::{FEWEST_STRETCHES, longer_to_see};
use dyno_stats::{Counted, drift, more_marked};
use dyno_words::OverTime;
use dyno_words::number::{bytes, change, clock, millis, percent, short};

/// A smaller change from the first quarter to the last is not reported.
const MATTERS: f64 = 0.05;
const MEMORY_MATTERS: f64 = 0.02;
/// Where a larger change could have been missed, nothing can be said about drift.
const BLIND: f64 = 0.2;
const SIGNIFICANT: f64 = 0.001;
/// The least average number of responses in a slice.
const ENOUGH: u64 = 5;
/// Slices for samples of memory.
const STRETCHES: usize = 40;

/// The findings about a soak. `latency`: of the whole level; `closed`: a closed loop.
pub(super) fn drifts(sliced: &Sliced, latency: &Counted, closed: bool) -> Vec<Diagnostic> {
    let (Some(median), Some(long)) = (latency.quantile(0.5), latency.quantile(0.95)) else {
        return Vec::new();
    };
    let needed = FEWEST_STRETCHES as u64 + 2;
    let by_time = (sliced.length() as f64 / (2.0 * median)) as u64;
    let stretches = by_time.min(latency.count() / ENOUGH);
    let mut found = Vec::new();
    let whole = sliced.whole_cells();
    let cells: Vec<&Cell> = (0..whole)
        // During ramp-up and drain, metrics differ whatever the server does.
        .filter(|i| sliced.edge(*i) >= long as u64)
        .filter(|i| sliced.edge(*i + 1) + long as u64 <= sliced.length())
        .filter_map(|i| sliced.cells.get(i))
        .collect();
    // Cells that are shorter than two latencies or hold few responses are merged.
    let together = (whole as u64).div_ceil(stretches.clamp(1, whole.max(1) as u64)) as usize;
    let stretched: Vec<&[&Cell]> = cells.chunks_exact(together.max(1)).collect();
    if stretched.len() < FEWEST_STRETCHES {
        found.push(OverTime::SoakTooShort.with([stretches.min(needed - 1), needed]));
    } else {
        let seconds = to_s(sliced.edge(1)) * together as f64;
        let tested = [
            of_samples(&stretched, OverTime::TtftDrifted, |cell| &cell.ttft),
            of_samples(&stretched, OverTime::LatencyDrifted, |cell| &cell.latency),
            of_throughput(&stretched, seconds, closed),
        ];
        // TTFT of responses that were not streamed is not known.
        let visible = tested.iter().flatten().map(|tested| tested.visible).reduce(f64::max);
        found.extend(tested.into_iter().flatten().filter_map(|tested| tested.drifted));
        if let (true, Some(visible)) = (found.is_empty(), visible) {
            found.push(match visible <= BLIND {
                true => OverTime::NoDrift.with([percent(visible.max(MATTERS))]),
                false => {
                    let times = longer_to_see(BLIND, visible, stretched.len());
                    let enough = soak_of(to_s(sliced.length()) * times);
                    OverTime::DriftUnclear.with([percent(visible), enough, percent(BLIND)])
                }
            });
        }
    }
    found.extend(of_failures(sliced, whole));
    found
}

/// A time to type, in whole minutes, and in fives and thirties of them where it is long.
fn soak_of(seconds: f64) -> String {
    let minutes = (seconds / 60.0).ceil().max(1.0);
    let step = match minutes {
        ..=10.0 => 1.0,
        ..=60.0 => 5.0,
        _ => 30.0,
    };
    let minutes = (minutes / step).ceil() * step;
    match minutes % 60.0 == 0.0 {
        true => format!("{}h", minutes / 60.0),
        false => format!("{minutes}m"),
    }
}

/// The test of one metric.
struct Tested {
    drifted: Option<Diagnostic>,
    /// The smallest drift that would have been found.
    visible: f64,
}

/// The first and the last quarter.
fn quarters<T>(all: &[T]) -> [&[T]; 2] {
    let quarter = all.len().div_ceil(4);
    [&all[..quarter], &all[all.len() - quarter..]]
}

fn drifted(what: OverTime, first: f64, last: f64, show: fn(f64) -> String) -> Diagnostic {
    what.with([show(first), show(last), change(last / first - 1.0)])
}

fn of_samples(
    stretched: &[&[&Cell]],
    what: OverTime,
    samples: impl Fn(&Cell) -> &Vec<u64>,
) -> Option<Tested> {
    let pooled = |stretches: &[&[&Cell]]| {
        let all = stretches.iter().flat_map(|cells| cells.iter());
        let all = all.flat_map(|cell| samples(cell).iter().copied()).collect();
        Counted::from_samples(all).quantile(0.5)
    };
    let medians: Vec<f64> = stretched.chunks(1).filter_map(pooled).collect();
    let [first, last] = quarters(stretched).map(|quarter| pooled(quarter).map(|ns| ns / 1e6));
    let (first, last) = (first?, last?);
    let trend = drift(&medians)?;
    let clear = trend.is_drift(MATTERS) && (last / first - 1.0).abs() >= MATTERS;
    let drifted = clear.then(|| drifted(what, first, last, millis));
    Some(Tested { drifted, visible: trend.visible })
}

/// Completed requests per second; in an open loop, the noise of the arrivals is removed first.
fn of_throughput(stretched: &[&[&Cell]], seconds: f64, closed: bool) -> Option<Tested> {
    let sum = |cells: &[&Cell], count: fn(&Cell) -> u64| {
        cells.iter().map(|cell| count(cell)).sum::<u64>() as f64
    };
    let rate = |cells: &&[&Cell]| sum(cells, |cell| cell.completed) / seconds;
    let values: Vec<f64> = (stretched.iter())
        .filter_map(|cells| {
            let arrived = sum(cells, |cell| cell.arrived);
            match closed {
                true => Some(rate(cells)),
                false => (arrived > 0.0).then(|| sum(cells, |cell| cell.completed) / arrived),
            }
        })
        .collect();
    let [first, last] = quarters(stretched)
        .map(|quarter| quarter.iter().map(rate).sum::<f64>() / quarter.len() as f64);
    let moved = first > 0.0 && (last / first - 1.0).abs() >= MATTERS;
    let trend = drift(&values)?;
    let clear = moved && trend.is_drift(MATTERS);
    let show = |rate| format!("{}/s", short(rate));
    let drifted = clear.then(|| drifted(OverTime::ThroughputDrifted, first, last, show));
    Some(Tested { drifted, visible: trend.visible })
}

fn of_failures(sliced: &Sliced, whole: usize) -> Option<Diagnostic> {
    let after_s = sliced.offset(sliced.first_failure?).map(to_s)?;
    let cells = sliced.cells.get(..whole).filter(|cells| !cells.is_empty())?;
    let [first, last] = quarters(cells).map(|quarter| {
        let failed: u64 = quarter.iter().map(|cell| cell.failed + cell.shed).sum();
        let completed: u64 = quarter.iter().map(|cell| cell.completed).sum();
        (failed, failed + completed)
    });
    let share = |(failed, ended): (u64, u64)| failed as f64 / ended.max(1) as f64;
    let creeps = more_marked(last, first) < SIGNIFICANT;
    let [first, last] = [first, last].map(|quarter| percent(share(quarter)));
    creeps.then(|| OverTime::FailuresCrept.with([first, last, clock(after_s)]))
}

/// Whether a server's memory grows steadily, from samples of times and bytes, in order.
pub fn memory_growth(samples: &[(Nanos, u64)]) -> Option<Diagnostic> {
    growth(samples).map(|growth| OverTime::MemoryGrew.with(growth.map(bytes)))
}

/// Bytes after it had settled, bytes in the last quarter, and bytes per hour. The first quarter of the
/// time is left out, because a server allocates at start-up.
fn growth(samples: &[(Nanos, u64)]) -> Option<[f64; 3]> {
    let (begun, _) = *samples.first()?;
    let (until, _) = *samples.last()?;
    let from = begun + (until.checked_sub(begun)?) / 4;
    let length = u128::from(until - from).max(1);
    let mut sums = [(0_u128, 0_u64); STRETCHES];
    for (at, bytes) in samples.iter().filter(|(at, _)| *at >= from) {
        let stretch = (u128::from(at - from) * STRETCHES as u128 / length) as usize;
        let (sum, count) = &mut sums[stretch.min(STRETCHES - 1)];
        (*sum, *count) = (*sum + u128::from(*bytes), *count + 1);
    }
    let means: Vec<f64> =
        sums.iter().filter(|(_, n)| *n > 0).map(|(sum, n)| *sum as f64 / *n as f64).collect();
    let found = drift(&means)?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let [first, last] = quarters(&means).map(mean);
    if !found.is_drift(MEMORY_MATTERS) || last <= first {
        return None;
    }
    // The middles of the two quarters are three quarters of the time apart.
    let hours = to_s(until - from) * 0.75 / 3600.0;
    Some([first, last, (last - first) / hours])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::SEC;
    use dyno_stats::rng::SplitMix;

    fn samples(bytes: impl Fn(f64, &mut SplitMix) -> f64) -> Vec<(Nanos, u64)> {
        let mut rng = SplitMix::new(9);
        (0..720).map(|i| (i * 10 * SEC, bytes(i as f64 / 720.0, &mut rng) as u64)).collect()
    }

    #[test]
    fn times_to_type_are_round_and_never_too_short() {
        let times = [20.0, 61.0, 601.0, 3_700.0, 7_200.0].map(soak_of);
        assert_eq!(times, ["1m", "2m", "15m", "90m", "2h"]);
    }

    #[test]
    fn a_leak_is_told_by_the_hour() {
        let leak = samples(|part, rng| 8e9 + 1e9 * part + 2e7 * rng.unit());
        let [first, last, per_hour] = growth(&leak).unwrap();
        assert!(first > 8.2e9 && last < 9.1e9, "{first} {last}");
        assert!((per_hour / 5e8 - 1.0).abs() < 0.1, "{per_hour} for 1e9 in two hours");
    }

    #[test]
    fn memory_that_is_taken_at_the_start_or_at_once_or_sways_is_no_leak() {
        let start = samples(|part, rng| 8e9 * (part * 10.0).min(1.0) + 2e7 * rng.unit());
        assert_eq!(memory_growth(&start), None);
        let sways = samples(|part, rng| 8e9 + 1e9 * (part * 40.0).sin() + 2e7 * rng.unit());
        assert_eq!(memory_growth(&sways), None);
        let falls = samples(|part, rng| 9e9 - 2e9 * part + 2e7 * rng.unit());
        assert_eq!(memory_growth(&falls), None);
        let at_once = samples(|part, rng| 8e9 + if part > 0.6 { 1e9 } else { 0.0 } + rng.unit());
        assert_eq!(memory_growth(&at_once), None);
        assert_eq!(memory_growth(&[]), None);
        assert_eq!(memory_growth(&[(5, 5), (5, 9)]), None);
    }
}
