//! The ladder of closed loops: doubles the concurrency until throughput no longer rises, then fills
//! in around the knee.

use crate::level::{LevelKind, LevelWish, MeasuredLevel, NextLevel};

/// Default limit of a ladder.
pub const MOST: u32 = 1_024;

/// A smaller relative gain of throughput does not count.
const GAIN: f64 = 0.05;
/// This many steps in a row without a gain end the doubling.
const WITHOUT_GAIN: usize = 2;
/// A larger share of failures ends it, too.
const FAILURES: f64 = 0.05;
/// Levels that fill in around the last doubling that gained.
const FILL: usize = 3;
/// The knee has at least this share of the highest throughput.
const NEARLY_ALL: f64 = 0.95;

/// A ladder of closed loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    /// The highest number in flight.
    pub most: u32,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { most: MOST }
    }
}

/// The lowest number in flight with nearly all of the throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KneeSearch {
    /// In flight.
    pub load: f64,
    /// Completed per second there.
    pub completed_rate: f64,
    /// The highest rate of the ladder.
    pub most: f64,
}

impl Ladder {
    /// The next step after these levels. There is no knee where nothing was completed.
    pub fn next(&self, so_far: &[MeasuredLevel]) -> NextLevel<Option<KneeSearch>> {
        let most = f64::from(self.most.max(1));
        let rungs: Vec<Rung> = so_far
            .iter()
            .filter(|level| level.kind == LevelKind::Concurrency)
            .map(Rung::of)
            .collect();
        let mut best: Option<Rung> = None;
        let (mut without, mut load) = (0, 1.0_f64);
        // Doublings come in the same order each time, so this retraces what was measured.
        loop {
            let Some(rung) = rungs.iter().find(|rung| same(rung.load, load)) else {
                return wish(load);
            };
            if rung.rate > best.map_or(0.0, |best| best.rate) * (1.0 + GAIN) {
                (best, without) = (Some(*rung), 0);
            } else {
                without += 1;
            }
            if without >= WITHOUT_GAIN || rung.failing || same(load, most) {
                break;
            }
            load = (load * 2.0).min(most);
        }
        match best.and_then(|best| fill(&rungs, best, most)) {
            Some(load) => wish(load),
            None => NextLevel::Done(knee(&rungs)),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Rung {
    load: f64,
    rate: f64,
    failing: bool,
}

impl Rung {
    fn of(level: &MeasuredLevel) -> Self {
        let rate = level.completed_rate.filter(|rate| rate.is_finite()).unwrap_or(0.0);
        Self { load: level.load, rate, failing: level.failed_share > FAILURES }
    }
}

/// The next number in flight around the last doubling that gained: below it, above it, and then
/// on the side where the knee is.
fn fill(rungs: &[Rung], best: Rung, most: f64) -> Option<f64> {
    let at = |octaves: f64| (best.load * octaves.exp2()).round().clamp(1.0, most);
    let rate = |octaves: f64| {
        rungs.iter().find(|rung| same(rung.load, at(octaves))).map_or(0.0, |rung| rung.rate)
    };
    let closer = if rate(-0.5) > best.rate * (1.0 - GAIN / 2.0) {
        -0.75
    } else if rate(0.5) > best.rate * (1.0 + GAIN / 2.0) {
        0.75
    } else {
        -0.25
    };
    let wanted: [f64; FILL] = [at(-0.5), at(0.5), at(closer)];
    wanted.into_iter().find(|load| rungs.iter().all(|rung| !same(rung.load, *load)))
}

fn knee(rungs: &[Rung]) -> Option<KneeSearch> {
    let sound = rungs.iter().filter(|rung| !rung.failing && rung.rate > 0.0);
    let most = sound.clone().map(|rung| rung.rate).max_by(f64::total_cmp)?;
    let enough = sound.filter(|rung| rung.rate >= most * NEARLY_ALL);
    let lowest = enough.min_by(|a, b| a.load.total_cmp(&b.load))?;
    Some(KneeSearch { load: lowest.load, completed_rate: lowest.rate, most })
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.5
}

fn wish(load: f64) -> NextLevel<Option<KneeSearch>> {
    NextLevel::Level(LevelWish { kind: LevelKind::Concurrency, load })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::measured;
    use proptest::prelude::*;

    /// Climbs a ladder on a server with this throughput and share of failures.
    fn climb(most: u32, server: impl Fn(f64) -> (f64, f64)) -> (Vec<f64>, Option<KneeSearch>) {
        let mut so_far = Vec::new();
        loop {
            match (Ladder { most }).next(&so_far) {
                NextLevel::Level(LevelWish { kind, load }) => {
                    let (rate, failed_share) = server(load);
                    let level = measured(kind, load);
                    so_far.push(MeasuredLevel {
                        completed_rate: Some(rate),
                        failed_share,
                        ..level
                    });
                }
                NextLevel::Done(knee) => return (so_far.iter().map(|l| l.load).collect(), knee),
            }
        }
    }

    #[test]
    fn doubles_until_two_steps_gain_nothing_then_fills_in() {
        let (loads, knee) = climb(MOST, |load| (load.min(28.0), 0.0));
        assert_eq!(loads, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 23.0, 45.0, 27.0]);
        assert_eq!(knee.map(|knee| (knee.load, knee.most)), Some((27.0, 28.0)));
    }

    #[test]
    fn looks_closer_where_the_knee_is() {
        let (loads, knee) = climb(MOST, |load| (load.min(18.0), 0.0));
        assert_eq!(loads[8..], [23.0, 45.0, 19.0]);
        assert_eq!(knee.map(|knee| knee.load), Some(19.0));
        // The last doubling gains little, but half a step above gains more.
        let (loads, _) = climb(MOST, |load| (if load > 20.0 { 16.7 } else { load.min(16.0) }, 0.0));
        assert_eq!(loads[7..], [11.0, 23.0, 27.0]);
    }

    #[test]
    fn stops_at_its_limit_and_at_failures() {
        let (loads, _) = climb(100, |load| (load, 0.0));
        assert_eq!(loads[..8], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0]);
        assert!(loads.iter().all(|load| *load <= 100.0));
        let (loads, knee) = climb(MOST, |load| (load, if load > 8.0 { 0.2 } else { 0.0 }));
        assert!(!loads.contains(&32.0), "{loads:?}");
        assert_eq!(knee.map(|knee| knee.load), Some(8.0));
    }

    #[test]
    fn a_server_that_completes_nothing_has_no_knee() {
        let (loads, knee) = climb(MOST, |_| (0.0, 1.0));
        assert_eq!((loads, knee), (vec![1.0], None));
    }

    proptest! {
        #[test]
        fn always_ends_and_never_repeats(
            rates in proptest::collection::vec(0.0_f64..100.0, 1..30),
            most in 0_u32..3_000,
        ) {
            let (mut loads, _) = climb(most, |load| (rates[load as usize % rates.len()], 0.0));
            let most = f64::from(most.max(1));
            let whole = |load: &f64| (1.0..=most).contains(load) && load.fract() == 0.0;
            prop_assert!(loads.iter().all(whole));
            let count = loads.len();
            loads.sort_by(f64::total_cmp);
            loads.dedup();
            prop_assert_eq!(loads.len(), count);
            prop_assert!(count <= 16);
        }
    }
}
