//! The samples that are kept of a run, which may last days: those that may still matter, each in the time
//! from one jump of a clock to the next.

use super::{ClockStamps, FASTEST, STAMP_ERROR};
use dyno_model::Nanos;

/// Samples within so short a time are one slot.
const SLOT: Nanos = 100_000_000;
/// Slots that are kept at most, and how many of the newest are never thinned out.
const MOST: usize = 2_048;
const NEWEST: usize = 1_024;
/// Older ones become slots of this share of their time.
const OLD: u64 = 256;

/// An offset that the clocks cannot be below, or above, at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    /// On the agent's clock.
    pub(super) at: Nanos,
    /// Coordinator's clock less the agent's.
    pub(super) offset: i64,
}

/// The tightest limits of a short time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    from: Nanos,
    /// How often the clock had jumped.
    steps: u32,
    pub(super) low: Sample,
    pub(super) high: Sample,
}

impl Slot {
    fn tighten(&mut self, other: &Self, drift: f64) {
        let later = |sample: Sample, than: Sample| {
            let apart = i128::from(sample.at) - i128::from(than.at);
            let higher = i128::from(sample.offset) - i128::from(than.offset);
            higher as f64 - drift * apart as f64
        };
        if later(other.low, self.low) > 0.0 {
            self.low = other.low;
        }
        if later(other.high, self.high) < 0.0 {
            self.high = other.high;
        }
    }
}

/// The samples of a run in the order of time.
#[derive(Debug, Clone, Default)]
pub(super) struct KeptSamples {
    slots: Vec<Slot>,
    /// The tightest limits at the last sample if rates differ by no more than they can.
    limits: Option<(Limit, Limit)>,
    steps: u32,
    /// The last times on the agent's clock.
    last: (Nanos, Nanos),
}

/// A limit of the offset now, and when it was seen.
#[derive(Debug, Clone, Copy)]
struct Limit {
    offset: f64,
    seen: Nanos,
}

impl KeptSamples {
    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Takes a sample; whether its times can be right: an agent's clock does not go back.
    pub(super) fn add(&mut self, stamps: &ClockStamps) -> bool {
        let offset =
            |theirs: Nanos, ours: Nanos| i64::try_from(i128::from(ours) - i128::from(theirs)).ok();
        let (low, high) =
            (offset(stamps.received, stamps.sent), offset(stamps.answered, stamps.back));
        let (Some(low), Some(high)) = (low, high) else { return false };
        if stamps.received < self.last.0 || stamps.answered < self.last.1 {
            return false;
        }
        let low = Sample { at: stamps.received, offset: low };
        let high = Sample { at: stamps.answered, offset: high };
        self.find_step(low, high);
        self.last = (low.at, high.at);
        let slot = Slot { from: low.at, steps: self.steps, low, high };
        match self.slots.last_mut() {
            Some(last) if last.steps == self.steps && low.at - last.from < SLOT => {
                last.tighten(&slot, 0.0);
            }
            _ => self.slots.push(slot),
        }
        true
    }

    /// Starts over where a clock must have jumped: no rate that a clock can have explains both the samples
    /// before and this one. Samples between the one that contradicts and this one may be of either side,
    /// and are given up.
    fn find_step(&mut self, low: Sample, high: Sample) {
        let since = |from: Nanos| FASTEST * (high.at - from) as f64;
        let passed = FASTEST * (high.at - self.last.1.min(high.at)) as f64;
        let new = (
            Limit { offset: low.offset as f64 - since(low.at), seen: low.at },
            Limit { offset: high.offset as f64, seen: high.at },
        );
        let Some((mut least, mut most)) = self.limits else {
            self.limits = Some(new);
            return;
        };
        least.offset -= passed;
        most.offset += passed;
        let contradicted = if new.0.offset > most.offset + 2.0 * STAMP_ERROR {
            Some(most.seen)
        } else if new.1.offset < least.offset - 2.0 * STAMP_ERROR {
            Some(least.seen)
        } else {
            None
        };
        if let Some(seen) = contradicted {
            self.steps = self.steps.saturating_add(1);
            self.slots.retain(|slot| slot.from <= seen);
            self.limits = Some(new);
            return;
        }
        let tighter = |old: Limit, new: Limit, is: bool| if is { new } else { old };
        self.limits = Some((
            tighter(least, new.0, new.0.offset > least.offset),
            tighter(most, new.1, new.1.offset < most.offset),
        ));
    }

    pub(super) fn is_full(&self) -> bool {
        self.slots.len() > MOST
    }

    /// Merges old slots into longer ones. `drift` says which of two limits is the tighter one.
    pub(super) fn thin_out(&mut self, drift: f64) {
        let newest = self.slots.split_off(self.slots.len().saturating_sub(NEWEST));
        let old = std::mem::take(&mut self.slots);
        let (first, last) = (old.first().map_or(0, |slot| slot.from), newest.first());
        let long = last.map_or(0, |slot| slot.from.saturating_sub(first)) / OLD;
        for slot in old {
            match self.slots.last_mut() {
                Some(last) if last.steps == slot.steps && slot.high.at - last.from <= long => {
                    last.tighten(&slot, drift);
                }
                _ => self.slots.push(slot),
            }
        }
        // A clock that jumps all the time: what is oldest is given up.
        let surplus = self.slots.len().saturating_sub(MOST - NEWEST - MOST / 8);
        self.slots.drain(..surplus);
        self.slots.extend(newest);
    }

    /// The slot at a time, or the two on both sides of a jump; `None` without samples.
    pub(super) fn sides(&self, at: Nanos) -> Option<(usize, usize)> {
        let newest = self.slots.len().checked_sub(1)?;
        let after = self.slots.partition_point(|slot| slot.from <= at);
        let before = after.saturating_sub(1);
        let after = after.min(newest);
        let same = self.slots[before].steps == self.slots[after].steps;
        Some((before, if same { before } else { after }))
    }

    /// The slots within a window around a time, and the nearest two on each side, from the same time
    /// between jumps as this one.
    pub(super) fn around(&self, number: usize, at: Nanos, window: Nanos) -> &[Slot] {
        let steps = self.slots[number].steps;
        let first = self.slots.partition_point(|slot| slot.steps < steps);
        let end = self.slots.partition_point(|slot| slot.steps <= steps);
        let from = self.slots.partition_point(|slot| slot.from < at.saturating_sub(window));
        let to = self.slots.partition_point(|slot| slot.from <= at.saturating_add(window));
        let from = from.min(number.saturating_sub(1)).max(first);
        let to = to.max(number + 3).min(end);
        &self.slots[from..to]
    }

    /// The first and the last moment at which a clock may have jumped, for each jump between two times.
    pub(super) fn beside_steps(&self, from: Nanos, to: Nanos) -> Vec<Nanos> {
        let jumps = self.slots.windows(2).filter(|pair| pair[0].steps != pair[1].steps);
        let moments = jumps.flat_map(|pair| [pair[0].from, pair[1].from.saturating_sub(1)]);
        moments.filter(|moment| (from..=to).contains(moment)).collect()
    }

    /// How often the clock jumped between two times.
    pub(super) fn steps_between(&self, from: Nanos, to: Nanos) -> u32 {
        let Some(((first, _), (_, last))) = self.sides(from).zip(self.sides(to)) else { return 0 };
        self.slots[last].steps - self.slots[first].steps
    }
}
