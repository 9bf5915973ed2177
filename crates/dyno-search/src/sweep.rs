//! Sweeps from idle to full: one request at a time, as many as possible, then rates in between.

use crate::level::{LevelKind, LevelWish, MeasuredLevel, NextLevel, rounded};

/// Default number of levels.
pub const LEVELS: usize = 10;
/// Default number of requests in flight to fill a server.
pub const IN_FLIGHT: u32 = 512;

/// The first rates, as shares of the way from idle to full, after one above it.
const FIRST: [f64; 3] = [0.5, 0.8, 0.2];
/// The rate above the full rate, as a factor: there the queue grows.
const ABOVE: f64 = 1.07;
/// Rates nearer to each other than this, as a share of the full rate, add nothing.
const NEAREST: f64 = 0.02;
/// Where one request at a time nearly fills the server, or its rate is unknown, rates begin at
/// this share of the full rate.
const LOWEST: f64 = 0.25;
/// Significant digits of a rate.
const DIGITS: i32 = 3;

/// How rates are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SweepSpacing {
    /// More of them where the curve of latency over rate bends, and one above the full rate.
    #[default]
    Adaptive,
    /// Equal steps from the rate of one request at a time, which is not repeated, to the full rate.
    Linear,
}

/// A sweep of rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sweep {
    /// Levels in all, with the two that come first.
    pub levels: usize,
    /// How many are in flight to fill the server.
    pub in_flight: u32,
    /// How rates are spread.
    pub spacing: SweepSpacing,
}

impl Default for Sweep {
    fn default() -> Self {
        Self { levels: LEVELS, in_flight: IN_FLIGHT, spacing: SweepSpacing::default() }
    }
}

/// A point of the curve.
#[derive(Debug, Clone, Copy)]
struct Point {
    rate: f64,
    /// The logarithm of its latency, if that is known.
    latency: Option<f64>,
    /// Completed per second, divided by what was offered; at most 1.
    kept_up: Option<f64>,
}

impl Sweep {
    /// The next step after these levels.
    pub fn next(&self, so_far: &[MeasuredLevel]) -> NextLevel<()> {
        let find = |kind| so_far.iter().find(|level| level.kind == kind);
        let one = LevelWish { kind: LevelKind::Synchronous, load: 1.0 };
        let many =
            LevelWish { kind: LevelKind::Throughput, load: f64::from(self.in_flight.max(1)) };
        let (Some(idle), full) = (find(LevelKind::Synchronous), find(LevelKind::Throughput)) else {
            return NextLevel::Level(one);
        };
        let Some(full) = full else { return NextLevel::Level(many) };
        let rate =
            |level: &MeasuredLevel| level.completed_rate.filter(|r| r.is_finite() && *r > 0.0);
        // Nothing completed, so there is no rate to start from.
        let Some(top) = rate(full) else { return NextLevel::Done(()) };
        let low = rate(idle).filter(|low| *low < 0.9 * top).unwrap_or(LOWEST * top);
        let rates: Vec<&MeasuredLevel> =
            so_far.iter().filter(|level| level.kind == LevelKind::Rate).collect();
        let count = self.levels.saturating_sub(2);
        if rates.len() >= count {
            return NextLevel::Done(());
        }
        let is_new = |load: &f64| rates.iter().all(|level| level.load != *load);
        let placed = match self.spacing {
            SweepSpacing::Linear => {
                let step = (top - low) / count as f64;
                let grid = (1..=count).map(|i| rounded(low + step * i as f64, DIGITS));
                grid.into_iter().find(is_new)
            }
            SweepSpacing::Adaptive => {
                let first = FIRST.map(|share| low + (top - low) * share);
                let start = [top * ABOVE].into_iter().chain(first).take(count);
                let start = start.map(|load| rounded(load, DIGITS)).find(is_new);
                start.or_else(|| where_it_bends(idle, low, &rates, top).find(is_new))
            }
        };
        match placed {
            Some(load) => NextLevel::Level(LevelWish { kind: LevelKind::Rate, load }),
            None => NextLevel::Done(()),
        }
    }
}

/// The midpoints between neighbouring rates, those with the longest piece of curve first. The curve is
/// over the rate, the logarithm of latency, and how well the server kept up.
fn where_it_bends(
    idle: &MeasuredLevel,
    low: f64,
    rates: &[&MeasuredLevel],
    top: f64,
) -> impl Iterator<Item = f64> {
    let log =
        |level: &MeasuredLevel| level.latency.filter(|l| l.is_finite() && *l > 0.0).map(f64::ln);
    let mut points = vec![Point { rate: low, latency: log(idle), kept_up: Some(1.0) }];
    points.extend(rates.iter().map(|level| {
        let kept_up = level.completed_rate.map(|rate| (rate / level.load).min(1.0));
        let valid = level.valid;
        Point { rate: level.load, latency: log(level).filter(|_| valid), kept_up }
    }));
    points.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let logs = points.iter().filter_map(|point| point.latency);
    let range = logs.clone().fold(f64::NEG_INFINITY, f64::max) - logs.fold(f64::INFINITY, f64::min);
    let range = if range.is_finite() && range > 0.0 { range } else { 1.0 };
    let change = |a: Option<f64>, b: Option<f64>| a.zip(b).map_or(0.0, |(a, b)| b - a);
    let length = |a: &Point, b: &Point| {
        let steps = [
            (b.rate - a.rate) / top,
            change(a.latency, b.latency) / range,
            change(a.kept_up, b.kept_up),
        ];
        steps.iter().map(|step| step * step).sum::<f64>()
    };
    let mut middles: Vec<(f64, f64)> = points
        .windows(2)
        .filter(|two| two[1].rate - two[0].rate > 2.0 * NEAREST * top)
        .map(|two| (length(&two[0], &two[1]), f64::midpoint(two[0].rate, two[1].rate)))
        .collect();
    middles.sort_by(|a, b| b.0.total_cmp(&a.0));
    middles.into_iter().map(|(_, rate)| rounded(rate, DIGITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::measured;
    use proptest::prelude::*;

    /// A queue with `low` req/s for a single request at a time and `top` at most.
    fn run(sweep: Sweep, low: f64, top: f64) -> Vec<MeasuredLevel> {
        let mut so_far: Vec<MeasuredLevel> = Vec::new();
        while let NextLevel::Level(LevelWish { kind, load }) = sweep.next(&so_far) {
            let (rate, latency) = match kind {
                LevelKind::Synchronous => (low, 1.0 / low),
                LevelKind::Throughput => (top, load / top),
                _ => (load.min(top), 1.0 / low + (0.05 / (1.0 - load / top).max(0.002)) / low),
            };
            let level = measured(kind, load);
            so_far.push(MeasuredLevel {
                completed_rate: Some(rate),
                latency: Some(latency),
                ..level
            });
            assert!(so_far.len() < 100, "the sweep does not end");
        }
        so_far
    }

    fn rates(levels: &[MeasuredLevel]) -> Vec<f64> {
        levels
            .iter()
            .filter(|level| level.kind == LevelKind::Rate)
            .map(|level| level.load)
            .collect()
    }

    #[test]
    fn linear_is_an_even_grid_up_to_the_full_rate() {
        let levels = run(Sweep { spacing: SweepSpacing::Linear, ..Sweep::default() }, 1.0, 9.0);
        let kinds: Vec<_> = levels[..2].iter().map(|level| (level.kind, level.load)).collect();
        assert_eq!(kinds, [(LevelKind::Synchronous, 1.0), (LevelKind::Throughput, 512.0)]);
        assert_eq!(rates(&levels), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    }

    #[test]
    fn adaptive_puts_points_where_latency_rises_and_one_above_the_knee() {
        let mut rates = rates(&run(Sweep::default(), 1.0, 20.0));
        rates.sort_by(f64::total_cmp);
        assert_eq!(rates.len(), LEVELS - 2);
        assert!(rates[LEVELS - 3] > 20.0, "{rates:?}");
        let near = rates.iter().filter(|rate| (15.0..20.0).contains(*rate)).count();
        assert!(near >= 3, "{rates:?}");
        assert!(rates.iter().any(|rate| *rate < 8.0), "{rates:?}");
    }

    #[test]
    fn a_server_that_completes_nothing_ends_it() {
        let sweep = Sweep::default();
        let idle = measured(LevelKind::Synchronous, 1.0);
        let full = measured(LevelKind::Throughput, 512.0);
        assert_eq!(sweep.next(&[idle, full]), NextLevel::Done(()));
    }

    #[test]
    fn a_server_that_gains_nothing_from_more_is_swept_all_the_same() {
        let rates = rates(&run(Sweep::default(), 5.0, 5.0));
        assert_eq!(rates.len(), LEVELS - 2);
        assert!(rates.iter().any(|rate| *rate < 2.5) && rates.iter().any(|rate| *rate > 5.0));
    }

    proptest! {
        #[test]
        fn rates_are_short_numbers_and_none_comes_twice(
            low in 0.001_f64..100.0,
            more in 1.0_f64..1_000.0,
            levels in 0_usize..30,
            linear in any::<bool>(),
        ) {
            let spacing = if linear { SweepSpacing::Linear } else { SweepSpacing::Adaptive };
            let all = run(Sweep { levels, spacing, ..Sweep::default() }, low, low * more);
            prop_assert!(all.len() <= levels.max(2));
            let mut rates = rates(&all);
            prop_assert!(rates.iter().all(|rate| rounded(*rate, DIGITS) == *rate && *rate > 0.0));
            let count = rates.len();
            rates.sort_by(f64::total_cmp);
            rates.dedup();
            prop_assert_eq!(rates.len(), count);
        }
    }
}
