//! Server metrics, level by level. Gauges use the samples between the first measured send and the last
//! end; counters also use the samples next to these, as long as no other level was running.

use dyno_model::Nanos;
use dyno_model::frame::Frame;
use dyno_model::server::ServerSample;
use dyno_model::summary::{Gauge, Resident, ServerSummary, round6};
use std::collections::BTreeMap;

/// Above this share the KV cache counts as full.
const KV_FULL: f64 = 0.95;
/// The batch is at its limit where it is this nearly as full as it ever was in the run, in so much of the time in
/// which a request waited: at a limit, a slot that becomes free is taken at the next step.
const NEARLY_FULLEST: f64 = 0.95;
const MOST_OF_WAITING: f64 = 0.8;

/// Every sample of a run, and when its levels began and ended.
#[derive(Debug, Default)]
pub(super) struct ServerWatch {
    samples: Vec<ServerSample>,
    started: BTreeMap<u32, Nanos>,
    ended: BTreeMap<u32, Nanos>,
    /// The samples are not of one server process, so that counters and memory say nothing.
    mixed: bool,
}

impl ServerWatch {
    /// First reading.
    pub(super) fn see(&mut self, frame: &Frame) {
        match frame {
            Frame::Server(sample) => self.samples.push(*sample),
            Frame::LevelStart(start) => {
                self.started.insert(start.level, start.started);
            }
            Frame::LevelEnd(end) => {
                self.ended.insert(end.level, end.ended);
            }
            Frame::LevelChosen(_) | Frame::Request(_) | Frame::RunEnd(_) => {}
        }
    }

    /// The first reading is over.
    pub(super) fn sort(&mut self) {
        self.samples.sort_by_key(|sample| sample.at);
        let levels: Vec<u32> = self.started.keys().chain(self.ended.keys()).copied().collect();
        self.mixed = goes_back(&self.samples, |sample| sample.process_started) > 0
            || levels.into_iter().any(|level| decreases(self.around(level)) > 1);
    }

    /// Whether several processes answered in turn, as behind a load balancer.
    pub(super) fn is_mixed(&self) -> bool {
        self.mixed
    }

    /// The samples from the end of the level before to the start of the one after.
    fn around(&self, level: u32) -> &[ServerSample] {
        let before = self.ended.range(..level).map(|(_, at)| *at).max().unwrap_or(0);
        let after = self.started.range(level + 1..).map(|(_, at)| *at).min().unwrap_or(u64::MAX);
        let from = self.samples.partition_point(|sample| sample.at < before);
        let to = self.samples.partition_point(|sample| sample.at < after).max(from);
        &self.samples[from..to]
    }

    /// When, in a level, the server held how many bytes.
    pub(super) fn memory(&self, level: u32, from: Nanos, to: Nanos) -> Vec<(Nanos, u64)> {
        let around = self.around(level).iter().filter(|_| !self.mixed);
        let inside = around.filter(|sample| (from..=to).contains(&sample.at));
        inside.filter_map(|sample| Some((sample.at, sample.resident_bytes?))).collect()
    }

    /// The samples within these times, and with those next to them.
    fn within(&self, level: u32, from: Nanos, to: Nanos) -> (&[ServerSample], &[ServerSample]) {
        let around = self.around(level);
        let first = around.partition_point(|sample| sample.at <= from);
        let last = around.partition_point(|sample| sample.at < to).max(first);
        let counted = &around[first.saturating_sub(1)..around.len().min(last + 1)];
        (&around[first..last], counted)
    }

    /// Hit rate of the prefix cache, by counters alone: a rate that the server reports may cover its
    /// whole lifetime.
    pub(super) fn counted_hits(&self, level: u32, from: Nanos, to: Nanos) -> Option<f64> {
        counted_hits(self.within(level, from, to).1).filter(|_| !self.mixed)
    }

    /// Whether the batch was at its limit while requests waited; absent where it is not known. A batch with fewer
    /// requests than at other times has room: they wait for something else.
    pub(super) fn batch_was_full(&self, level: u32, from: Nanos, to: Nanos) -> Option<bool> {
        let fullest = self.samples.iter().filter_map(|sample| sample.running).max()? as f64;
        let waiting =
            self.within(level, from, to).0.iter().filter(|sample| sample.waiting > Some(0));
        let full =
            waiting.filter_map(|sample| Some(sample.running? as f64 >= NEARLY_FULLEST * fullest));
        share(full).map(|share| share > MOST_OF_WAITING)
    }

    /// The metrics of a level whose measured requests were in flight `from..to`.
    pub(super) fn over(&self, level: u32, from: Nanos, to: Nanos) -> Option<ServerSummary> {
        let (inside, counted) = self.within(level, from, to);
        if counted.is_empty() {
            return None;
        }
        let mut summary = summary(inside, counted);
        if self.mixed {
            (summary.preemptions, summary.prefix_hit_share, summary.resident) = (None, None, None);
        }
        let nothing = ServerSummary { samples: summary.samples, ..ServerSummary::default() };
        (summary != nothing).then_some(summary)
    }
}

fn summary(inside: &[ServerSample], counted: &[ServerSample]) -> ServerSummary {
    let values = |of: fn(&ServerSample) -> Option<u64>| inside.iter().filter_map(of);
    let kv = || inside.iter().filter_map(|sample| sample.kv_use);
    ServerSummary {
        samples: inside.len() as u64,
        running: gauge(values(|sample| sample.running)),
        waiting: gauge(values(|sample| sample.waiting)),
        waiting_share: share(values(|sample| sample.waiting).map(|waiting| waiting > 0)),
        kv_use_max: kv().reduce(f64::max).map(round6),
        kv_full_share: share(kv().map(|kv| kv > KV_FULL)),
        preemptions: increase(counted, |sample| sample.preemptions),
        prefix_hit_share: hit_share(inside, counted),
        resident: resident(counted),
    }
}

fn gauge(values: impl Iterator<Item = u64> + Clone) -> Option<Gauge> {
    let max = values.clone().max()?;
    let (count, sum) = values.fold((0_u64, 0_u128), |(n, sum), v| (n + 1, sum + u128::from(v)));
    Some(Gauge { mean: round6(sum as f64 / count as f64), max })
}

fn share(values: impl Iterator<Item = bool>) -> Option<f64> {
    let (mut count, mut yes) = (0_u64, 0_u64);
    for value in values {
        count += 1;
        yes += u64::from(value);
    }
    (count > 0).then(|| round6(yes as f64 / count as f64))
}

/// How often a value is smaller than the one before it. A process that takes the place of another started later, and
/// a restarted server counts from 0 once; more than that is a second process.
fn goes_back(samples: &[ServerSample], of: fn(&ServerSample) -> Option<u64>) -> usize {
    let values: Vec<u64> = samples.iter().filter_map(of).collect();
    values.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

/// The same of the counter that does so most often.
fn decreases(samples: &[ServerSample]) -> usize {
    let counters: [fn(&ServerSample) -> Option<u64>; 3] =
        [|sample| sample.preemptions, |sample| sample.prefix_queries, |sample| sample.prefix_hits];
    counters.into_iter().map(|of| goes_back(samples, of)).max().unwrap_or_default()
}

/// By how much a counter grew. One that is smaller than before belongs to a restarted server, and counts
/// from 0.
fn increase(samples: &[ServerSample], of: fn(&ServerSample) -> Option<u64>) -> Option<u64> {
    let mut values = samples.iter().filter_map(of);
    let mut before = values.next()?;
    let mut grown = None;
    for value in values {
        let more = value.checked_sub(before).unwrap_or(value);
        grown = Some(grown.unwrap_or(0_u64).saturating_add(more));
        before = value;
    }
    grown
}

fn hit_share(inside: &[ServerSample], counted: &[ServerSample]) -> Option<f64> {
    let counts =
        |sample: &ServerSample| sample.prefix_queries.is_some() && sample.prefix_hits.is_some();
    if counted.iter().filter(|sample| counts(sample)).count() > 1 {
        return counted_hits(counted);
    }
    let shares: Vec<f64> = inside.iter().filter_map(|sample| sample.prefix_share).collect();
    let sum: f64 = shares.iter().sum();
    (!shares.is_empty()).then(|| round6(sum / shares.len() as f64))
}

fn counted_hits(counted: &[ServerSample]) -> Option<f64> {
    let queries = increase(counted, |sample| sample.prefix_queries)?;
    let hits = increase(counted, |sample| sample.prefix_hits)?;
    (queries > 0).then(|| round6((hits as f64 / queries as f64).min(1.0)))
}

fn resident(counted: &[ServerSample]) -> Option<Resident> {
    let mut values = counted.iter().filter_map(|sample| sample.resident_bytes);
    let start_bytes = values.next()?;
    Some(Resident { start_bytes, end_bytes: values.next_back().unwrap_or(start_bytes) })
}
