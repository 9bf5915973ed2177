//! Distributions with their percentiles and intervals. The first reading gives the exact
//! samples, the second sorts them into blocks of time.

use super::gather::{Samples, Taken};
use super::overload::late;
use super::request_times::{for_each_gap_sample, request_times};
use dyno_model::metric::{PerTime, Time};
use dyno_model::record::RequestRecord;
use dyno_model::summary::{
    Distribution, Intervals95, LatePercentiles, Times, WithFailures, round6,
};
use dyno_stats::{BlockTable, Counted, MIN_BLOCKS, PERCENTILES, Presence};

const MOST_BLOCKS: u64 = 40;
const NS_PER_MS: f64 = 1e6;

/// Equal blocks of time over a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeBlocks {
    from: u64,
    length: u64,
    count: usize,
}

impl TimeBlocks {
    /// Blocks of at least two median latencies, at most 40 of them; the nanoseconds that a level needs
    /// where they are too few.
    pub(crate) fn new(from: u64, duration: u64, median: f64) -> Result<Self, f64> {
        let length = (duration.div_ceil(MOST_BLOCKS)).max((2.0 * median).ceil() as u64).max(1);
        let count = duration.div_ceil(length);
        if (count as usize) < MIN_BLOCKS {
            return Err(2.0 * median * MIN_BLOCKS as f64);
        }
        Ok(Self { from, length, count: count as usize })
    }

    pub(crate) fn of(&self, time: u64) -> usize {
        (time.saturating_sub(self.from) / self.length) as usize
    }
}

/// One distribution between the two readings.
#[derive(Debug)]
pub(crate) struct Part {
    described: Option<Distribution>,
    median: Option<f64>,
    table: Option<BlockTable>,
}

impl Part {
    pub(crate) fn new(counted: &Counted, blocks: Option<TimeBlocks>) -> Self {
        Self {
            described: describe(counted),
            median: counted.quantile(0.5),
            table: blocks.and_then(|b| BlockTable::new(counted, b.count)),
        }
    }

    pub(crate) fn add(&mut self, block: usize, value: u64, times: u64) {
        if let Some(table) = &mut self.table {
            table.add(block, value, times);
        }
    }

    pub(crate) fn finish(self) -> Option<Distribution> {
        let mut described = self.described?;
        if let Some(found) = self.table.and_then(BlockTable::intervals) {
            let in_ms = |interval: Option<[f64; 2]>| {
                interval.map(|ends| ends.map(|end| round6(end / NS_PER_MS)))
            };
            described.ci95 = Intervals95 {
                mean: in_ms(found.mean),
                p50: in_ms(found.p50),
                p90: in_ms(found.p90),
                p99: in_ms(found.p99),
            };
        }
        Some(described)
    }
}

/// Percentiles and moments of nanosecond samples, in milliseconds.
pub(crate) fn describe(counted: &Counted) -> Option<Distribution> {
    let ms = |ns: f64| round6(ns / NS_PER_MS);
    let mut marked = Vec::new();
    let [p50, p66, p75, p80, p90, p95, p98, p99, p99_9] = PERCENTILES.map(|p| {
        match p.presence(counted.count()) {
            Presence::Absent => return None,
            Presence::Marked => marked.push(p.name.to_owned()),
            Presence::Shown => {}
        }
        counted.quantile(p.share()).map(ms)
    });
    Some(Distribution {
        count: Some(counted.count()),
        mean: Some(ms(counted.mean()?)),
        std: counted.std().map(ms),
        min: Some(ms(counted.min()? as f64)),
        p50,
        p66,
        p75,
        p80,
        p90,
        p95,
        p98,
        p99,
        p99_9,
        max: Some(ms(counted.max()? as f64)),
        ci95: Intervals95::default(),
        instrument: None,
        marked,
        uncertain: Vec::new(),
    })
}

/// All distributions of a level between the two readings.
#[derive(Debug)]
pub(crate) struct Distributions {
    blocks: Option<TimeBlocks>,
    parts: PerTime<Part>,
    /// Percentiles in which failures count as never answered.
    late: PerTime<Option<LatePercentiles>>,
}

impl Distributions {
    /// From the samples of the first reading (`latency` is passed separately because it is needed
    /// earlier); `failed` more requests have none.
    pub(crate) fn new(
        mut samples: Samples,
        latency: &Taken,
        blocks: Option<TimeBlocks>,
        failed: u64,
    ) -> Self {
        let mut lates = PerTime::default();
        let mut part = |time: Time, taken: &Taken| {
            if WithFailures::TIMES.contains(&time) {
                lates[time] = late(&taken.counted, failed);
            }
            let mut part = Part::new(&taken.counted, blocks);
            if let Some(described) = &mut part.described {
                described.instrument = taken.ranges;
            }
            part
        };
        let parts = PerTime::new(|time| match time {
            Time::Latency => part(time, latency),
            _ => part(time, &samples.take(time)),
        });
        Self { blocks, parts, late: lates }
    }

    /// Medians in nanoseconds, however few the samples.
    pub(crate) fn medians(&self) -> PerTime<Option<f64>> {
        PerTime::new(|time| self.parts[time].median)
    }

    /// Sorts a measured request's samples into their blocks: its own by when it was sent, its
    /// gaps by when they ended.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        let (Some(blocks), true) = (self.blocks, record.is_completed()) else {
            return;
        };
        let own = blocks.of(record.sent.unwrap_or(record.intended));
        for (time, value) in request_times(record).iter() {
            if let Some(value) = value {
                self.parts[time].add(own, *value, 1);
            }
        }
        for_each_gap_sample(record, |gap| {
            self.parts[gap.time].add(blocks.of(gap.at), gap.value, gap.times);
        });
    }

    /// Takes the percentiles in which failures count as never answered.
    pub(crate) fn take_late(&mut self) -> PerTime<Option<LatePercentiles>> {
        std::mem::take(&mut self.late)
    }

    pub(crate) fn finish(self) -> Times {
        self.parts.map(|_, part| part.finish())
    }
}
