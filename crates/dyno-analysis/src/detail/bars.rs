//! A sample of a level's requests, each as a bar over time. The choice depends only on their indices,
//! not on the order of the records; failures are preferred.

use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;

/// Requests, or a sample of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// Number of requests in the level.
    pub of: u64,
    /// The sample, in the order in which they were due.
    pub kept: Vec<Bar>,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Became {
    /// A complete, well-formed response.
    Completed,
    /// A failure of this class.
    Failed(String),
    /// Refused by an overloaded server, with this class.
    Shed(String),
    /// It could not be sent.
    Dropped,
    /// It was still running when the run had to stop.
    Censored,
}

/// One request. Times are seconds from the start of its level.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Index of the arrival in its level.
    pub index: u64,
    /// Part of the warm-up.
    pub warmup: bool,
    /// When it was due.
    pub due_s: f64,
    /// When it was sent.
    pub sent_s: Option<f64>,
    /// When its first output arrived; absent where nothing was streamed.
    pub first_s: Option<f64>,
    /// When it was over.
    pub end_s: f64,
    /// Output tokens.
    pub output: Option<u64>,
    /// How often it was sent again after a refusal.
    pub retries: u32,
    /// How it ended.
    pub became: Became,
}

impl Bar {
    pub(super) fn of(record: &RequestRecord, started: u64) -> Self {
        // To the tenth of a millisecond: finer than any picture.
        let since = |time: u64| ((time as f64 - started as f64) / 1e5).round() / 1e4;
        Self {
            index: record.index,
            warmup: !record.phase.is_measured(),
            due_s: since(record.intended),
            sent_s: record.sent.map(since),
            first_s: record.first.filter(|_| record.streamed).map(since),
            end_s: since(record.end),
            output: record.output.map(|output| output.tokens),
            retries: record.retries,
            became: match &record.outcome {
                Outcome::Completed => Became::Completed,
                Outcome::Failed(class) => Became::Failed(class.to_string()),
                Outcome::Unconfirmed => Became::Failed(Outcome::UNCONFIRMED.to_owned()),
                Outcome::Shed(class) => Became::Shed(class.to_string()),
                Outcome::Dropped(_) => Became::Dropped,
                Outcome::Censored => Became::Censored,
            },
        }
    }
}

/// The largest sample (one in so many) for which there is room.
#[derive(Debug)]
struct Thinned {
    room: usize,
    every: u64,
    kept: Vec<Bar>,
}

/// Whether a request is among one in `every`, a power of two. Indices are hashed first, because
/// failures may be periodic.
fn drawn(index: u64, every: u64) -> bool {
    (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).is_multiple_of(every)
}

impl Thinned {
    fn new(room: usize) -> Self {
        Self { room, every: 1, kept: Vec::new() }
    }

    fn add(&mut self, record: &RequestRecord, started: u64) {
        if drawn(record.index, self.every) {
            self.kept.push(Bar::of(record, started));
            self.thin(self.room);
        }
    }

    fn thin(&mut self, room: usize) {
        while self.kept.len() > room && self.every < 1 << 31 {
            self.every *= 2;
            let every = self.every;
            self.kept.retain(|bar| drawn(bar.index, every));
        }
        self.kept.truncate(room.max(1));
    }
}

/// The sample while records are read.
#[derive(Debug)]
pub(super) struct Sample {
    of: u64,
    good: Thinned,
    bad: Thinned,
}

impl Sample {
    pub(super) fn new(room: usize) -> Self {
        Self { of: 0, good: Thinned::new(room), bad: Thinned::new(room) }
    }

    pub(super) fn add(&mut self, record: &RequestRecord, started: u64) {
        self.of += 1;
        let part = if record.is_completed() { &mut self.good } else { &mut self.bad };
        part.add(record, started);
    }

    pub(super) fn finish(mut self, room: usize) -> Bars {
        // At most half of the room is for failures, unless it would stay empty.
        let bad = (room / 2).max(room.saturating_sub(self.good.kept.len()));
        self.bad.thin(bad);
        self.good.thin(room.saturating_sub(self.bad.kept.len()));
        let mut kept = self.good.kept;
        kept.extend(self.bad.kept);
        kept.sort_by(|a, b| a.due_s.total_cmp(&b.due_s).then(a.index.cmp(&b.index)));
        Bars { of: self.of, kept }
    }
}
