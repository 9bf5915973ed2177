//! A load with a changing rate: its rate at each moment, the number of arrivals due by then, and when
//! a given number is due. Uses only sums and square roots, so results are identical everywhere.

use crate::Nanos;
use crate::plan::Load;

/// A rate that goes from one value to another, evenly or in equal steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// Arrivals per second at the start.
    pub from: f64,
    /// Arrivals per second at the end.
    pub to: f64,
    /// How long it takes.
    pub over_ns: Nanos,
    /// Number of steps of equal length, the first at `from` and the last at `to`; absent: linear.
    pub steps: Option<u32>,
}

impl Load {
    /// The ramp that this load is, if it is one.
    pub fn ramp(&self) -> Option<Ramp> {
        match *self {
            Self::Ramp { from, to, over_ns, steps, .. } => Some(Ramp { from, to, over_ns, steps }),
            _ => None,
        }
    }
}

impl Ramp {
    /// The higher of its two ends.
    pub fn top(&self) -> f64 {
        self.from.max(self.to)
    }

    /// The expected number of arrivals in total.
    pub fn expected(&self) -> f64 {
        self.seconds() * (self.from + self.to) / 2.0
    }

    /// The rate at an offset from the start; after the end, the last rate.
    pub fn rate_at(&self, offset: Nanos) -> f64 {
        let part = (offset as f64 / self.over_ns.max(1) as f64).min(1.0);
        match self.step_count() {
            None => self.from + (self.to - self.from) * part,
            Some(steps) => self.step_rate(((part * f64::from(steps)) as u32).min(steps - 1), steps),
        }
    }

    /// The expected number of arrivals before an offset from the start.
    pub fn due_by(&self, offset: Nanos) -> f64 {
        let time = offset.min(self.over_ns) as f64 / 1e9;
        match self.step_count() {
            None => time * (self.from + (self.to - self.from) * time / (2.0 * self.seconds())),
            Some(steps) => {
                let width = self.seconds() / f64::from(steps);
                let within = |step: u32| (time - width * f64::from(step)).clamp(0.0, width);
                (0..steps).map(|step| self.step_rate(step, steps) * within(step)).sum()
            }
        }
    }

    /// The offset by which this many arrivals are expected; absent if that is never reached.
    pub fn offset_of(&self, due: f64) -> Option<Nanos> {
        let seconds = match self.step_count() {
            None => self.even_offset_of(due)?,
            Some(steps) => self.stepped_offset_of(due, steps)?,
        };
        Some((seconds * 1e9).round() as Nanos).filter(|offset| *offset < self.over_ns)
    }

    fn even_offset_of(&self, due: f64) -> Option<f64> {
        if due >= self.expected() {
            return None;
        }
        let bend = 2.0 * (self.to - self.from) / self.seconds();
        let root = (self.from * self.from + bend * due).max(0.0).sqrt();
        // This form of the solution loses no digits where the ramp is nearly flat.
        if due > 0.0 { Some(2.0 * due / (self.from + root)) } else { Some(0.0) }
    }

    fn stepped_offset_of(&self, due: f64, steps: u32) -> Option<f64> {
        let width = self.seconds() / f64::from(steps);
        let mut left = due;
        for step in 0..steps {
            let rate = self.step_rate(step, steps);
            if left < rate * width {
                return Some(width * f64::from(step) + left / rate);
            }
            left -= rate * width;
        }
        None
    }

    /// One step would be a constant rate, and counts as linear.
    fn step_count(&self) -> Option<u32> {
        self.steps.filter(|steps| *steps > 1)
    }

    fn step_rate(&self, step: u32, steps: u32) -> f64 {
        self.from + (self.to - self.from) * f64::from(step) / f64::from(steps - 1)
    }

    fn seconds(&self) -> f64 {
        self.over_ns as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SEC;

    fn ramp(from: f64, to: f64, steps: Option<u32>) -> Ramp {
        Ramp { from, to, over_ns: 100 * SEC, steps }
    }

    #[test]
    fn an_even_ramp_has_the_area_of_a_trapezium() {
        let up = ramp(1.0, 5.0, None);
        assert_eq!(up.expected(), 300.0);
        assert_eq!((up.due_by(0), up.due_by(50 * SEC), up.due_by(100 * SEC)), (0.0, 100.0, 300.0));
        assert_eq!((up.rate_at(0), up.rate_at(25 * SEC), up.rate_at(200 * SEC)), (1.0, 2.0, 5.0));
        assert_eq!(up.offset_of(100.0), Some(50 * SEC));
        assert_eq!((up.offset_of(0.0), up.offset_of(300.0)), (Some(0), None));
    }

    #[test]
    fn steps_begin_and_end_at_the_two_rates() {
        let up = ramp(1.0, 5.0, Some(5));
        assert_eq!(up.expected(), 300.0);
        let rates: Vec<f64> = (0..5).map(|step| up.rate_at(step * 20 * SEC + SEC)).collect();
        assert_eq!(rates, [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(up.due_by(30 * SEC), 40.0);
        assert_eq!(up.offset_of(40.0), Some(30 * SEC));
        assert_eq!(up.offset_of(300.0), None);
    }

    #[test]
    fn what_is_due_and_when_are_each_others_inverse() {
        for (from, to) in [(1.0, 50.0), (50.0, 1.0), (0.0, 10.0), (10.0, 0.0), (3.0, 3.0001)] {
            for steps in [None, Some(2), Some(7)] {
                let ramp = ramp(from, to, steps);
                for i in 0..200 {
                    let due = ramp.expected() * f64::from(i) / 200.0;
                    let offset = ramp.offset_of(due).unwrap();
                    let back = ramp.due_by(offset);
                    assert!((back - due).abs() < 1e-6, "{ramp:?}: {due} → {offset} → {back}");
                }
            }
        }
    }
}
