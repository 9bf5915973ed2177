//! Distributions with their percentiles and intervals. The first reading gives the exact
//! samples, the second sorts them into blocks of time.

use super::figures::figures;
use super::gather::Samples;
use super::timeline::for_each_gap;
use dyno_model::Diagnostic;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{Distribution, Intervals95, round6};
use dyno_stats::{BlockTable, Counted, MIN_BLOCKS, PERCENTILES, Presence};
use dyno_words::Finding;

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
    /// Blocks of at least two median latencies, at most 40 of them.
    pub(crate) fn new(from: u64, duration: u64, median: f64) -> Result<Self, Box<Diagnostic>> {
        let length = (duration.div_ceil(MOST_BLOCKS)).max((2.0 * median).ceil() as u64).max(1);
        let count = duration.div_ceil(length);
        if (count as usize) < MIN_BLOCKS {
            return Err(Finding::NoIntervalBlocks.with([count]).into());
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
fn describe(counted: &Counted) -> Option<Distribution> {
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
        marked,
    })
}

/// All distributions of a level between the two readings.
#[derive(Debug)]
pub(crate) struct Distributions {
    blocks: Option<TimeBlocks>,
    ttft: Part,
    ttft_scheduled: Part,
    latency: Part,
    latency_scheduled: Part,
    tpot: Part,
    itl: Part,
    chunk_gap: Part,
}

/// Medians in nanoseconds, however few the samples.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Medians {
    pub(crate) ttft: Option<f64>,
    pub(crate) latency: Option<f64>,
    pub(crate) itl: Option<f64>,
    pub(crate) chunk_gap: Option<f64>,
    pub(crate) tpot: Option<f64>,
}

/// The distributions in the summary's order.
pub(crate) struct Finished {
    pub(crate) ttft: Option<Distribution>,
    pub(crate) ttft_scheduled: Option<Distribution>,
    pub(crate) latency: Option<Distribution>,
    pub(crate) latency_scheduled: Option<Distribution>,
    pub(crate) tpot: Option<Distribution>,
    pub(crate) itl: Option<Distribution>,
    pub(crate) chunk_gap: Option<Distribution>,
}

impl Distributions {
    /// From the samples of the first reading (`latency` is given apart, for it is needed
    /// before).
    pub(crate) fn new(samples: Samples, latency: &Counted, blocks: Option<TimeBlocks>) -> Self {
        let plain = |samples: Vec<u64>| Part::new(&Counted::from_samples(samples), blocks);
        Self {
            blocks,
            ttft: plain(samples.ttft),
            ttft_scheduled: plain(samples.ttft_scheduled),
            latency: Part::new(latency, blocks),
            latency_scheduled: plain(samples.latency_scheduled),
            tpot: plain(samples.tpot),
            itl: Part::new(&samples.itl.freeze(), blocks),
            chunk_gap: Part::new(&samples.chunk_gap.freeze(), blocks),
        }
    }

    pub(crate) fn medians(&self) -> Medians {
        Medians {
            ttft: self.ttft.median,
            latency: self.latency.median,
            itl: self.itl.median,
            chunk_gap: self.chunk_gap.median,
            tpot: self.tpot.median,
        }
    }

    /// Sorts a measured request's samples into their blocks: its own by when it was sent, its
    /// gaps by when they ended.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        let (Some(blocks), true) = (self.blocks, record.is_completed()) else {
            return;
        };
        let f = figures(record);
        let own = blocks.of(record.sent.unwrap_or(record.intended));
        for (part, value) in [
            (&mut self.ttft, f.ttft),
            (&mut self.ttft_scheduled, f.ttft_scheduled),
            (&mut self.latency, f.latency),
            (&mut self.latency_scheduled, f.latency_scheduled),
            (&mut self.tpot, f.tpot),
        ] {
            if let Some(value) = value {
                part.add(own, value, 1);
            }
        }
        for_each_gap(record, |gap| {
            let block = blocks.of(gap.at_us.saturating_mul(1_000));
            self.chunk_gap.add(block, gap.gap_ns, 1);
            if let Some((time, tokens)) = gap.per_token() {
                self.itl.add(block, time, tokens);
            }
        });
    }

    pub(crate) fn finish(self) -> Finished {
        Finished {
            ttft: self.ttft.finish(),
            ttft_scheduled: self.ttft_scheduled.finish(),
            latency: self.latency.finish(),
            latency_scheduled: self.latency_scheduled.finish(),
            tpot: self.tpot.finish(),
            itl: self.itl.finish(),
            chunk_gap: self.chunk_gap.finish(),
        }
    }
}
