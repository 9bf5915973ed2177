//! Work over time, in slices of equal length that grow with the level.

use crate::aggregate::{PerChunk, events, per_chunk};
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::summary::round6;

/// The most slices of a level.
const MOST: usize = 240;
/// The length of the shortest slice, in microseconds.
const SHORTEST_US: u64 = 10_000;

/// Work over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CourseOverTime {
    /// Length of each slice.
    pub every_s: f64,
    /// The slices, from the start of the level.
    pub buckets: Vec<Bucket>,
}

/// One slice.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bucket {
    /// Requests that completed in it.
    pub completed: u64,
    /// Requests that failed in it.
    pub failed: u64,
    /// Requests that were shed in it.
    pub shed: u64,
    /// Output tokens that arrived in it, of requests that completed later; absent where the tokens of one
    /// of them were not counted.
    pub output_tokens: Option<f64>,
    /// Requests in flight at its end.
    pub in_flight: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    completed: u64,
    failed: u64,
    shed: u64,
    /// In millionths, so that the order of addition does not change the sum.
    output_micro: u128,
    uncounted: bool,
    change: i64,
}

impl Sums {
    fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.failed += other.failed;
        self.shed += other.shed;
        self.output_micro += other.output_micro;
        self.uncounted |= other.uncounted;
        self.change += other.change;
    }
}

/// The sums while records are read.
#[derive(Debug)]
pub(super) struct Buckets {
    every_us: u64,
    sums: Vec<Sums>,
}

impl Default for Buckets {
    fn default() -> Self {
        Self { every_us: SHORTEST_US, sums: Vec::new() }
    }
}

const MICRO: u128 = 1_000_000;

impl Buckets {
    pub(super) fn add(&mut self, record: &RequestRecord, started: u64) {
        let started_us = started / 1_000;
        let end_us = (record.end / 1_000).saturating_sub(started_us);
        self.reach(end_us);
        if let Some(sent) = record.sent {
            self.at((sent / 1_000).saturating_sub(started_us)).change += 1;
            self.at(end_us).change -= 1;
        }
        match &record.outcome {
            Outcome::Completed => self.at(end_us).completed += 1,
            Outcome::Failed(_) | Outcome::Unconfirmed => self.at(end_us).failed += 1,
            Outcome::Shed(_) => self.at(end_us).shed += 1,
            Outcome::Dropped(_) | Outcome::Censored => {}
        }
        if record.is_completed() {
            self.output(record, started_us, end_us);
        }
    }

    fn output(&mut self, record: &RequestRecord, started_us: u64, end_us: u64) {
        let told = per_chunk(record);
        let all: u128 = match record.streamed {
            true => events(record, told).map(|event| u128::from(event.tokens)).sum(),
            false => 0,
        };
        let each = match record.output {
            _ if told == PerChunk::Told && record.streamed && all > 0 => MICRO,
            Some(output) => u128::from(output.tokens) * MICRO / all.max(1),
            None => {
                self.at(end_us).uncounted = true;
                return;
            }
        };
        if all == 0 {
            self.at(end_us).output_micro += each;
            return;
        }
        for event in events(record, told) {
            let at = event.at_us.saturating_sub(started_us).min(end_us);
            self.at(at).output_micro += u128::from(event.tokens) * each;
        }
    }

    /// Extends the slices to cover a time.
    fn reach(&mut self, at_us: u64) {
        while at_us / self.every_us >= MOST as u64 {
            let halves = self.sums.chunks(2).map(|pair| {
                let mut sum = Sums::default();
                pair.iter().for_each(|part| sum.merge(part));
                sum
            });
            self.sums = halves.collect();
            self.every_us = self.every_us.saturating_mul(2);
        }
    }

    fn at(&mut self, at_us: u64) -> &mut Sums {
        let place = (at_us / self.every_us).min(MOST as u64 - 1) as usize;
        if place >= self.sums.len() {
            self.sums.resize(place + 1, Sums::default());
        }
        &mut self.sums[place]
    }

    pub(super) fn finish(self) -> CourseOverTime {
        let mut in_flight = 0_i64;
        let bucket = |sums: &Sums| {
            in_flight += sums.change;
            let output = round6(sums.output_micro as f64 / MICRO as f64);
            Bucket {
                completed: sums.completed,
                failed: sums.failed,
                shed: sums.shed,
                output_tokens: (!sums.uncounted).then_some(output),
                in_flight: in_flight.max(0) as u64,
            }
        };
        let buckets = self.sums.iter().map(bucket).collect();
        CourseOverTime { every_s: self.every_us as f64 / 1e6, buckets }
    }
}
