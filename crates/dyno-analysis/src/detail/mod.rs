//! What charts of single requests need beyond a summary: distributions of times, a sample of the
//! requests, and work over time. It is gathered in one pass over the records, and its size does not
//! grow with the run.

mod bars;
mod buckets;
mod curve;
mod trees;

pub use bars::{Bar, Bars, Became};
pub use buckets::{Bucket, CourseOverTime};
pub use curve::Curve;
pub use trees::{TreeBar, TreeBars, TurnBar};

use crate::aggregate::{for_each_gap, for_each_record_since, request_times};
use crate::source::FrameSource;
use bars::Sample;
use buckets::Buckets;
use dyno_model::metric::Time;
use dyno_model::record::RequestRecord;
use dyno_stats::{Counted, Tally};
use std::collections::BTreeMap;

/// The most requests that are kept of a whole run.
const BARS: usize = 10_000;
/// The most and the fewest of one level.
const BARS_OF_LEVEL: (usize, usize) = (1_000, 40);

/// The details of a run, by the index of each level.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Detail(pub BTreeMap<u32, LevelDetail>);

/// The details of one level.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LevelDetail {
    /// When the level began, in seconds from the start of the run. All other times of a level are
    /// from there.
    pub started_s: f64,
    /// `first − sent` of completed requests.
    pub ttft: Option<Curve>,
    /// `last − sent` of completed requests.
    pub latency: Option<Curve>,
    /// `(last − first) / (output tokens − 1)`.
    pub tpot: Option<Curve>,
    /// Chunk gap per token.
    pub itl: Option<Curve>,
    /// Requests, or a sample of them, in the order in which they were due.
    pub bars: Bars,
    /// The first trees, where requests belong to trees.
    pub trees: TreeBars,
    /// Work over time.
    pub course: CourseOverTime,
}

impl Detail {
    /// Gathers it from the records of a run.
    pub fn gather(source: &dyn FrameSource) -> Self {
        let mut levels: BTreeMap<u32, Gathering> = BTreeMap::new();
        for_each_record_since(source, |record, started| {
            levels.entry(record.level).or_insert_with(|| Gathering::new(started)).add(record);
        });
        let (most, fewest) = BARS_OF_LEVEL;
        let bars = (BARS / levels.len().max(1)).clamp(fewest, most);
        Self(levels.into_iter().map(|(level, found)| (level, found.finish(bars))).collect())
    }

    /// The details of one level.
    pub fn of(&self, level: u32) -> Option<&LevelDetail> {
        self.0.get(&level)
    }
}

/// One level while records are read.
#[derive(Debug)]
struct Gathering {
    started: u64,
    ttft: Vec<u64>,
    latency: Vec<u64>,
    tpot: Vec<u64>,
    itl: Tally,
    sample: Sample,
    trees: trees::Trees,
    buckets: Buckets,
}

impl Gathering {
    fn new(started: u64) -> Self {
        Self {
            started,
            ttft: Vec::new(),
            latency: Vec::new(),
            tpot: Vec::new(),
            itl: Tally::default(),
            sample: Sample::new(BARS_OF_LEVEL.0),
            trees: trees::Trees::default(),
            buckets: Buckets::default(),
        }
    }

    fn add(&mut self, record: &RequestRecord) {
        self.sample.add(record, self.started);
        self.trees.add(record, self.started);
        self.buckets.add(record, self.started);
        if !record.phase.is_measured() {
            return;
        }
        let f = request_times(record);
        self.ttft.extend(f[Time::Ttft]);
        self.latency.extend(f[Time::Latency]);
        self.tpot.extend(f[Time::Tpot]);
        if record.is_completed() {
            for_each_gap(record, |gap| {
                if let Some((time, tokens)) = gap.per_token() {
                    self.itl.add(time, tokens);
                }
            });
        }
    }

    fn finish(self, bars: usize) -> LevelDetail {
        let curve = |samples: Vec<u64>| Curve::of(&Counted::from_samples(samples));
        LevelDetail {
            started_s: self.started as f64 / 1e9,
            ttft: curve(self.ttft),
            latency: curve(self.latency),
            tpot: curve(self.tpot),
            itl: Curve::of(&self.itl.freeze()),
            bars: self.sample.finish(bars),
            trees: self.trees.finish(),
            course: self.buckets.finish(),
        }
    }
}
