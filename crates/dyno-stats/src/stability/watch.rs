//! Watches samples as they arrive and decides when there are enough.

use super::{FEWEST_BEYOND, Precision, WatchedStatistic, is_steady, precision};

/// The first look is taken at this many samples.
pub const FIRST_LOOK: usize = 200;
/// The next look is taken when there are so many times as many samples.
const BETWEEN_LOOKS: f64 = 1.4;
/// So many looks in a row must find the metric precise enough.
const LOOKS_IN_A_ROW: u32 = 2;

/// The state at the last look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing {
    /// No metric yet.
    TooFew,
    /// The samples are not steady: still filling, or growing.
    Unsteady(Precision),
    /// The metric is not precise enough, or not yet twice in a row.
    Wide(Precision),
    /// The metric is as precise as wanted.
    Known(Precision),
}

/// Takes samples in the order of time and decides whether they are enough.
///
/// Testing after every sample would stop as soon as the samples look precise by chance. So a test is
/// made only when there are 1.4 times as many samples as at the last one, and two in a row must agree.
#[derive(Debug, Clone)]
pub struct StabilityWatch {
    statistic: WatchedStatistic,
    wanted: f64,
    samples: Vec<f64>,
    next: usize,
    in_a_row: u32,
    standing: Standing,
}

/// The fewest samples with which the mean, or the percentile with this share below it, can be found to
/// be stable, however little they vary.
pub fn samples_to_stop(share: Option<f64>) -> usize {
    let enough = |count: usize| {
        share.is_none_or(|share| count as f64 * share.min(1.0 - share) >= FEWEST_BEYOND)
    };
    let mut look = FIRST_LOOK;
    while !enough(look) {
        look = after(look);
    }
    (1..LOOKS_IN_A_ROW).fold(look, |look, _| after(look))
}

/// How many samples the look after one at `count` needs.
fn after(count: usize) -> usize {
    (count as f64 * BETWEEN_LOOKS).ceil() as usize
}

impl StabilityWatch {
    /// Waits until `statistic` is known to ± `wanted` of its value: 0.03 is 3 %.
    pub fn new(statistic: WatchedStatistic, wanted: f64) -> Self {
        Self {
            statistic,
            wanted,
            samples: Vec::new(),
            next: FIRST_LOOK,
            in_a_row: 0,
            standing: Standing::TooFew,
        }
    }

    /// Takes the next sample. One that is not a finite number is left out.
    pub fn add(&mut self, sample: f64) {
        if sample.is_finite() {
            self.samples.push(sample);
        }
    }

    /// How many samples there are.
    pub fn count(&self) -> usize {
        self.samples.len()
    }

    /// The current state; tests again if it is time to.
    pub fn ask(&mut self) -> Standing {
        if self.samples.len() >= self.next {
            self.next = after(self.samples.len());
            self.standing = self.look();
        }
        self.standing
    }

    fn look(&mut self) -> Standing {
        let before = std::mem::take(&mut self.in_a_row);
        let Some(found) = precision(&self.samples, self.statistic) else {
            return Standing::TooFew;
        };
        if is_steady(&self.samples, self.wanted) == Some(false) {
            return Standing::Unsteady(found);
        }
        if found.half_width > self.wanted * found.value.abs() {
            return Standing::Wide(found);
        }
        self.in_a_row = before + 1;
        if self.in_a_row < LOOKS_IN_A_ROW {
            return Standing::Wide(found);
        }
        Standing::Known(found)
    }
}
