//! How an agent's clock relates to the coordinator's, from calls and their answers.
//!
//! A call is sent before it is received, and its answer before it is back. So each gives the least and the
//! greatest offset that the clocks can have at two moments, however long the way took and however unlike
//! the two directions are ([`kept`]). Clocks that keep their rates have an offset that is a straight line
//! in time, and it lies within all of these limits: what such lines leave open at some moment is the bound
//! there ([`band`]).

mod band;
mod kept;

use band::{Band, Point, is_possible, narrowest};
use dyno_model::Nanos;
use dyno_model::fleet::ClockFit;
use kept::{KeptSamples, Slot};

/// The most by which the rates of two clocks differ: NTP slews each by up to 500 ppm.
const FASTEST: f64 = 1e-3;
/// How far from the time in question samples are taken into account. Those farther away would say less
/// than nearer ones, as rates are not constant.
const WINDOW: Nanos = 120_000_000_000;
/// By how much the difference of two rates may change within the window. Where the samples contradict
/// the first number of a row, the next row is used; the bound is computed with the second, which is larger,
/// because a change can be too small to be contradicted. Quartz changes by some ppm as it gets warm. The last row
/// assumes nothing but [`FASTEST`], and nothing contradicts it.
const STEADINESS: [(f64, f64); 3] = [(5e-6, 20e-6), (25e-6, 100e-6), (FASTEST, FASTEST)];
/// Crystals differ by less. Where samples leave the drift open, it is taken to be within this.
const USUAL_DRIFT: f64 = 200e-6;
/// What a reading of a clock may be off by: clocks of a machine's CPUs differ by less.
const STAMP_ERROR: f64 = 1_000.0;
/// Round trips that differ by less are the same.
const ALIKE: f64 = 20_000.0;
/// Times of a level at which its line is compared with the band: one a second, and at most so many.
const CHECKED: u64 = 256;
const CHECK_EVERY: Nanos = 1_000_000_000;

/// A call and its answer: two times on the coordinator's clock and, between them, two on the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStamps {
    /// The call was sent; coordinator's clock.
    pub sent: Nanos,
    /// It arrived; agent's clock.
    pub received: Nanos,
    /// The answer was sent; agent's clock.
    pub answered: Nanos,
    /// It arrived; coordinator's clock.
    pub back: Nanos,
}

/// Compares the clock of one agent with the coordinator's. Its size does not depend on the length of a run.
#[derive(Debug, Clone, Default)]
pub struct ClockSync {
    kept: KeptSamples,
    round_trip_ns: Option<u64>,
}

/// The offsets that are possible at a time, less the offset `base`.
struct Open {
    band: Band,
    base: i64,
    /// By how much the rates may change.
    wander: f64,
}

impl ClockSync {
    /// Takes a call and its answer into account. Times that contradict each other are left out.
    pub fn add(&mut self, stamps: ClockStamps) {
        let apart = stamps.back.checked_sub(stamps.sent);
        let there = stamps.answered.checked_sub(stamps.received);
        let round_trip = apart.zip(there).and_then(|(apart, there)| apart.checked_sub(there));
        let Some(round_trip) = round_trip else { return };
        if self.kept.add(&stamps) {
            let least = self.round_trip_ns.map_or(round_trip, |least| least.min(round_trip));
            self.round_trip_ns = Some(least);
        }
        if self.kept.is_full() {
            let drift = self.fit().map_or(0.0, |fit| fit.drift_ppb as f64 / 1e9);
            self.kept.thin_out(drift);
        }
    }

    /// How the clocks relate now: at the newest sample.
    pub fn fit(&self) -> Option<ClockFit> {
        self.fit_here(self.kept.slots().last()?.low.at)
    }

    /// How the clocks relate at a time on the coordinator's clock, which may be ahead.
    pub fn fit_at(&self, at: Nanos) -> Option<ClockFit> {
        self.fit_here(self.fit()?.to_agent(at))
    }

    /// The line that is nearest to the relation of the clocks from one time to another, both on the
    /// coordinator's clock. The bound holds for all of that time.
    pub fn fit_between(&self, from: Nanos, to: Nanos) -> Option<ClockFit> {
        let newest = self.fit()?;
        let (from, to) = (newest.to_agent(from), newest.to_agent(to.max(from)));
        let at = from + (to - from) / 2;
        let apart = ((to - from) / CHECKED).max(CHECK_EVERY);
        let mut checked: Vec<Nanos> = (from..to).step_by(apart as usize).chain([to]).collect();
        checked.extend(self.kept.beside_steps(from, to));
        checked.sort_unstable();
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for here in checked {
            let open = self.open_at(here)?;
            let base = (i128::from(open.base) - i128::from(newest.offset_ns)) as f64;
            let spare = open.wander * apart as f64 / 2.0;
            let x = here as f64 - at as f64;
            lows.push(Point { x, y: base + open.band.low - spare });
            highs.push(Point { x, y: base + open.band.high + spare });
        }
        let line = narrowest(&lows, &highs, FASTEST);
        let middle = (line.low + line.high) / 2.0;
        Some(ClockFit {
            offset_ns: newest.offset_ns.saturating_add(middle.round() as i64),
            bound_ns: ((line.high - line.low) / 2.0 + STAMP_ERROR).ceil() as u64,
            drift_ppb: (line.slope * 1e9).round() as i64,
            at,
            round_trip_ns: self.round_trip_ns?,
            steps: self.kept.steps_between(from, to),
        })
    }

    /// How the clocks relate at a time on the agent's clock.
    fn fit_here(&self, at: Nanos) -> Option<ClockFit> {
        let Open { band, base, .. } = self.open_at(at)?;
        let drift = match (band.slopes.0.max(-USUAL_DRIFT), band.slopes.1.min(USUAL_DRIFT)) {
            (low, high) if low <= high => (low + high) / 2.0,
            _ if band.slopes.0 > 0.0 => band.slopes.0,
            _ => band.slopes.1,
        };
        Some(ClockFit {
            offset_ns: base.saturating_add(((band.low + band.high) / 2.0).round() as i64),
            bound_ns: ((band.high - band.low) / 2.0 + STAMP_ERROR).ceil() as u64,
            drift_ppb: (drift * 1e9).round() as i64,
            at,
            round_trip_ns: self.round_trip_ns?,
            steps: self.kept.steps_between(at, at),
        })
    }

    /// What the samples around a time on the agent's clock leave open. Between the last sample before a
    /// jump and the first one after it, that is what both sides leave open.
    fn open_at(&self, at: Nanos) -> Option<Open> {
        let (before, after) = self.kept.sides(at)?;
        let base = self.kept.slots()[before].low.offset;
        let open = |number| {
            let slots = self.kept.around(number, at, WINDOW);
            possible(slots, at, base)
        };
        let mut here = open(before);
        if before != after {
            let other = open(after);
            here.band.low = here.band.low.min(other.band.low);
            here.band.high = here.band.high.max(other.band.high);
            here.wander = here.wander.max(other.wander);
        }
        Some(here)
    }
}

/// A part of the round trip that all samples have in common. If it is taken off, a change of rates shows
/// that the whole round trip would hide: the more alike the short round trips are, the smaller a change.
/// A route that changes may look the same; then the bound is larger than it need be.
fn base_delay(lows: &[Point], highs: &[Point]) -> f64 {
    // The two limits of a slot may be of different moments.
    let width = |(low, high): (&Point, &Point)| high.y - low.y - FASTEST * (high.x - low.x).abs();
    let mut widths: Vec<f64> = lows.iter().zip(highs).map(width).collect();
    widths.sort_by(f64::total_cmp);
    let Some(least) = widths.first() else { return 0.0 };
    let usual = widths[widths.len() / 4];
    (least - (usual - least).max(ALIKE)).max(0.0)
}

/// What samples leave open at a time, by the least change of rates that they do not contradict.
fn possible(slots: &[Slot], at: Nanos, base: i64) -> Open {
    let point = |sample: &kept::Sample| Point {
        x: (i128::from(sample.at) - i128::from(at)) as f64,
        y: (i128::from(sample.offset) - i128::from(base)) as f64,
    };
    let lows: Vec<Point> = slots.iter().map(|slot| point(&slot.low)).collect();
    let highs: Vec<Point> = slots.iter().map(|slot| point(&slot.high)).collect();
    let base_delay = base_delay(&lows, &highs);
    let moved = |points: &[Point], by: f64| -> Vec<Point> {
        points.iter().map(|point| Point { x: point.x, y: point.y + by }).collect()
    };
    let inner = (moved(&lows, base_delay / 2.0), moved(&highs, -base_delay / 2.0));
    for (strict, wander) in STEADINESS {
        let fastest = if wander < FASTEST { FASTEST } else { 0.0 };
        let assumes_nothing = fastest == 0.0;
        if (assumes_nothing || is_possible(&inner.0, &inner.1, strict, fastest))
            && let Some(band) = Band::of(&lows, &highs, wander, fastest)
        {
            return Open { band, base, wander };
        }
    }
    // Samples that contradict the last row, too, are kept apart.
    let nearest = lows.iter().zip(&highs).min_by(|a, b| a.0.x.abs().total_cmp(&b.0.x.abs()));
    let (low, high) = nearest.map_or((0.0, 0.0), |(low, high)| {
        (low.y - FASTEST * low.x.abs(), high.y + FASTEST * high.x.abs())
    });
    let band = Band { low: low.min(high), high: high.max(low), slopes: (-FASTEST, FASTEST) };
    Open { band, base, wander: FASTEST }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;
    const AHEAD: Nanos = 7_000 * SECOND;

    /// A call at a time on the agent's clock, 0.1 ms each way; the coordinator's is ahead, and drifts.
    fn call(at: Nanos, ppm: u64) -> ClockStamps {
        let ours =
            |theirs: Nanos| theirs + AHEAD + (theirs as u128 * ppm as u128 / 1_000_000) as u64;
        ClockStamps {
            sent: ours(at) - 100_000,
            received: at,
            answered: at + 10_000,
            back: ours(at + 10_000) + 100_000,
        }
    }

    #[test]
    fn three_days_are_kept_in_little_room_and_still_known() {
        let (days, ppm) = (3 * 24 * 3_600, 40);
        let mut sync = ClockSync::default();
        for second in 1..=days {
            sync.add(call(second * SECOND, ppm));
        }
        assert!(sync.kept.slots().len() <= 2_048);
        let (from, to) = (call(SECOND, ppm).sent, call(days * SECOND, ppm).sent);
        let fit = sync.fit_between(from, to).unwrap();
        assert!((fit.drift_ppb - 40_000).abs() < 100, "{fit:?}");
        for second in [1, days / 3, days] {
            let call = call(second * SECOND, ppm);
            let error = (call.sent + 100_000).abs_diff(fit.to_coordinator(call.received));
            assert!(error <= fit.bound_ns && fit.bound_ns < 30_000_000, "{error} {fit:?}");
        }
        // Lately, every call was kept.
        let late = sync.fit_between(to - 60 * SECOND, to).unwrap();
        assert!(late.bound_ns < 150_000, "{late:?}");
    }

    #[test]
    fn without_a_sample_nothing_is_known() {
        let sync = ClockSync::default();
        assert_eq!(sync.fit(), None);
        assert_eq!(sync.fit_at(SECOND), None);
        assert_eq!(sync.fit_between(0, SECOND), None);
    }

    #[test]
    fn times_that_contradict_each_other_are_left_out() {
        let mut sync = ClockSync::default();
        let fine = call(10 * SECOND, 0);
        sync.add(fine);
        let known = sync.fit();
        sync.add(ClockStamps { back: fine.sent - 1, ..fine });
        sync.add(ClockStamps { answered: fine.received - 1, ..fine });
        sync.add(ClockStamps { answered: fine.answered + SECOND, ..fine });
        sync.add(call(9 * SECOND, 0));
        sync.add(ClockStamps { sent: 0, received: u64::MAX, answered: u64::MAX, back: 1 });
        assert_eq!(sync.fit(), known);
    }

    #[test]
    fn any_times_are_borne() {
        let odd = [0, 1, SECOND, u64::MAX / 2, i64::MAX as u64, u64::MAX - 1, u64::MAX];
        let mut sync = ClockSync::default();
        for received in odd {
            for sent in odd {
                sync.add(ClockStamps { sent, received, answered: received, back: sent });
                for at in odd {
                    let _ = (sync.fit_at(at), sync.fit_between(SECOND, at));
                }
            }
        }
    }

    #[test]
    fn jump_is_counted_and_both_sides_are_known() {
        let mut sync = ClockSync::default();
        let jumped = |second: u64| {
            let mut call = call(second * SECOND, 0);
            if second > 50 {
                (call.sent, call.back) = (call.sent + 80_000_000, call.back + 80_000_000);
            }
            call
        };
        for second in 1..=100 {
            sync.add(jumped(second));
        }
        let at = |second: u64| jumped(second).sent + 100_000;
        for second in [20, 80] {
            let fit = sync.fit_at(at(second)).unwrap();
            assert!(fit.bound_ns < 150_000 && fit.steps == 0, "{fit:?}");
        }
        let whole = sync.fit_between(at(1), at(100)).unwrap();
        assert_eq!(whole.steps, 1);
        assert!(whole.bound_ns > 30_000_000, "{whole:?}");
        assert_eq!(sync.fit_between(at(60), at(100)).unwrap().steps, 0);
    }
}
