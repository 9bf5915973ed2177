//! How ended requests get from the run to the progress thread: a bounded mailbox that the run puts
//! copies into without ever waiting or allocating. What does not fit is lost, and counted.

use dyno_analysis::running_level::LevelSoFar;
use dyno_model::chunks::{ChunkTrack, Loose};
use dyno_model::frame::Ending;
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Requests between two looks. Pages that are never touched take no memory.
const REQUESTS: usize = 1 << 14;
const CHUNK_BYTES: usize = 4 << 20;
const ODD_CHUNKS: usize = 1 << 16;
const LOOSE_CHUNKS: usize = 1 << 17;

/// The mailbox. Nothing is put into it until the progress thread watches.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    watched: AtomicBool,
    lost: AtomicU64,
    letters: Mutex<Letters>,
}

/// The content of the mailbox: copies of records, with their chunk times stored separately.
#[derive(Debug, Default)]
pub(super) struct Letters {
    records: Vec<Letter>,
    chunk_bytes: Vec<u8>,
    odd_chunks: Vec<(u32, u32)>,
    loose_chunks: Vec<Loose>,
    /// Each with the number of records before it.
    boundaries: Vec<(usize, Boundary)>,
}

#[derive(Debug)]
struct Letter {
    record: RequestRecord,
    bytes: Range<usize>,
    odd: Range<usize>,
    loose: Range<usize>,
    chunks: u32,
}

/// A level begins or is over. Times are those of [`super::Live`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Boundary {
    Begun {
        level: usize,
        at: Duration,
    },
    Ended {
        level: usize,
        at: Duration,
        counted: Counted,
        ending: Ending,
        draining: Duration,
        /// What its requests amount to, where they did not go through the mailbox.
        found: Option<Box<LevelSoFar>>,
    },
}

/// Requests of a level, by the counters of the run, which lose none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counted {
    /// Measured requests.
    pub(super) issued: u64,
    /// Requests that failed.
    pub(super) failed: u64,
    /// Requests that are unconfirmed.
    pub(super) unconfirmed: u64,
    /// Requests that were shed.
    pub(super) shed: u64,
    /// Arrivals that were never sent.
    pub(super) unsent: u64,
}

/// What was in the mailbox, in order.
#[derive(Debug)]
pub(super) enum News {
    Request(Box<RequestRecord>),
    Boundary(Boundary),
}

impl Mailbox {
    /// From now on the progress thread takes what is put in.
    pub(super) fn watch(&self) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        *letters = Letters::with_room();
        self.watched.store(true, Relaxed);
    }

    /// Whether the progress thread takes anything.
    pub(super) fn is_watched(&self) -> bool {
        self.watched.load(Relaxed)
    }

    /// A request has ended.
    pub(super) fn put(&self, record: &RequestRecord) {
        if !self.watched.load(Relaxed) {
            return;
        }
        let put = self.letters.try_lock().is_ok_and(|mut letters| letters.put(record));
        self.lost.fetch_add(u64::from(!put), Relaxed);
    }

    /// A level begins or is over. This is rare, and nothing is measured meanwhile, so it may wait
    /// for the moment that a swap takes.
    pub(super) fn boundary(&self, boundary: Boundary) {
        if self.watched.load(Relaxed) {
            let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
            let before = letters.records.len();
            letters.boundaries.push((before, boundary));
        }
    }

    /// How many requests did not fit so far.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Takes what is in the mailbox and leaves `empty` in its place.
    pub(super) fn swap(&self, empty: &mut Letters) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *letters, empty);
    }
}

impl Letters {
    /// With its full capacity: it never grows.
    pub(super) fn with_room() -> Self {
        Self {
            records: Vec::with_capacity(REQUESTS),
            chunk_bytes: Vec::with_capacity(CHUNK_BYTES),
            odd_chunks: Vec::with_capacity(ODD_CHUNKS),
            loose_chunks: Vec::with_capacity(LOOSE_CHUNKS),
            boundaries: Vec::new(),
        }
    }

    /// Copies what metrics need; `false` if it does not fit.
    fn put(&mut self, record: &RequestRecord) -> bool {
        if self.records.len() == self.records.capacity() {
            return false;
        }
        let chunks = &record.chunks;
        let (bytes, odd, loose) = (chunks.bytes(), chunks.odd(), chunks.loose());
        let fits = room(&self.chunk_bytes) >= bytes.len()
            && room(&self.odd_chunks) >= odd.len()
            && room(&self.loose_chunks) >= loose.len();
        let chunks = if fits { record.chunks.len() as u32 } else { 0 };
        let copy = RequestRecord {
            outcome: match &record.outcome {
                outcome if outcome.is_overflow() => outcome.clone(),
                Outcome::Dropped(_) => Outcome::Dropped(String::new()),
                Outcome::Completed => Outcome::Completed,
                Outcome::Unconfirmed => Outcome::Unconfirmed,
                Outcome::Failed(class) => Outcome::Failed(*class),
                Outcome::Shed(class) => Outcome::Shed(*class),
                Outcome::Censored => Outcome::Censored,
            },
            chunks: ChunkTrack::default(),
            finish_reason: None,
            detail: None,
            text: None,
            tree: None,
            ..*record
        };
        let letter = Letter {
            record: copy,
            bytes: append(&mut self.chunk_bytes, if fits { bytes } else { &[] }),
            odd: append(&mut self.odd_chunks, if fits { odd } else { &[] }),
            loose: append(&mut self.loose_chunks, if fits { loose } else { &[] }),
            chunks,
        };
        self.records.push(letter);
        true
    }

    /// Passes everything on, in order, and is empty again.
    pub(super) fn open(&mut self, mut each: impl FnMut(News)) {
        let mut boundaries = self.boundaries.drain(..).peekable();
        for (at, letter) in self.records.drain(..).enumerate() {
            while let Some((_, passed)) = boundaries.next_if(|(before, _)| *before <= at) {
                each(News::Boundary(passed));
            }
            let Letter { mut record, bytes, odd, loose, chunks } = letter;
            let (bytes, odd) = (self.chunk_bytes[bytes].to_vec(), self.odd_chunks[odd].to_vec());
            let loose = self.loose_chunks[loose].to_vec();
            record.chunks = ChunkTrack::from_stored(bytes, chunks, odd, loose).unwrap_or_default();
            each(News::Request(Box::new(record)));
        }
        boundaries.for_each(|(_, passed)| each(News::Boundary(passed)));
        self.chunk_bytes.clear();
        self.odd_chunks.clear();
        self.loose_chunks.clear();
    }
}

fn room<T>(list: &Vec<T>) -> usize {
    list.capacity() - list.len()
}

fn append<T: Copy>(list: &mut Vec<T>, more: &[T]) -> Range<usize> {
    let start = list.len();
    list.extend_from_slice(more);
    start..list.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::Message;
    use dyno_model::record::Phase;

    fn record(index: u64) -> RequestRecord {
        let mut record = RequestRecord::new(0, index, 0, Phase::Measured, 5);
        record.outcome = Outcome::Completed;
        record.detail = Some(Message::quoted("detail"));
        (1..=3).for_each(|i| record.chunks.push(i * 20_000_000, false, i as u32));
        record.chunks.loosen(2, 0, 700);
        record
    }

    fn begun(level: usize) -> Boundary {
        Boundary::Begun { level, at: Duration::ZERO }
    }

    fn opened(mailbox: &Mailbox) -> Vec<News> {
        let (mut letters, mut news) = (Letters::with_room(), Vec::new());
        mailbox.swap(&mut letters);
        letters.open(|item| news.push(item));
        news
    }

    #[test]
    fn what_metrics_need_comes_out_in_order() {
        let mailbox = Mailbox::default();
        mailbox.put(&record(0));
        mailbox.watch();
        mailbox.boundary(begun(0));
        mailbox.put(&record(1));
        mailbox.put(&record(2));
        mailbox.boundary(begun(1));
        let news = opened(&mailbox);
        let shown: Vec<String> = news
            .iter()
            .map(|news| match news {
                News::Boundary(Boundary::Begun { level, .. }) => format!("begun {level}"),
                News::Boundary(other) => format!("{other:?}"),
                News::Request(record) => format!("request {}", record.index),
            })
            .collect();
        assert_eq!(shown, ["begun 0", "request 1", "request 2", "begun 1"]);
        let News::Request(copy) = &news[1] else { panic!("a request") };
        assert_eq!(**copy, RequestRecord { detail: None, ..record(1) });
        assert!(opened(&mailbox).is_empty());
        assert_eq!(mailbox.lost(), 0);
    }

    #[test]
    fn a_full_mailbox_loses_requests_and_never_grows() {
        let mailbox = Mailbox::default();
        mailbox.watch();
        (0..REQUESTS as u64 + 7).for_each(|index| mailbox.put(&record(index)));
        assert_eq!(mailbox.lost(), 7);
        assert_eq!(opened(&mailbox).len(), REQUESTS);
        mailbox.put(&record(0));
        assert_eq!((mailbox.lost(), opened(&mailbox).len()), (7, 1));
    }

    #[test]
    fn the_run_does_not_wait_for_a_mailbox_that_is_being_emptied() {
        let mailbox = Mailbox::default();
        mailbox.watch();
        let held = mailbox.letters.lock().unwrap();
        mailbox.put(&record(0));
        drop(held);
        assert_eq!((mailbox.lost(), opened(&mailbox).len()), (1, 0));
    }
}
