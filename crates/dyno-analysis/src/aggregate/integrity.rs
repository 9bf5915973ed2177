//! Stream integrity: shared reads, several tokens in a chunk, responses that arrived all at once, streams
//! without a terminal event.

use super::timeline::{PerChunk, per_chunk};
use dyno_model::record::RequestRecord;
use dyno_model::summary::{Integrity, round6};

/// Responses with this many events within [`BURST_US`] arrived all at once, whatever the reads were.
const BURST_EVENTS: usize = 8;
const BURST_US: u64 = 1_000;

/// Counts over completed, streamed requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    pub(crate) streams: u64,
    events: u64,
    coalesced: u64,
    counted_events: u64,
    multi_token: u64,
    pub(crate) could_burst: u64,
    pub(crate) one_burst: u64,
    pub(crate) no_terminal: u64,
    pub(crate) first_chunk_several: u64,
    pub(crate) no_token_times: u64,
    /// Tokens, but no text.
    pub(crate) no_text: u64,
    /// Some tokens were not sent.
    pub(crate) unstreamed: u64,
    /// Events that never arrived, and streams that lack some.
    pub(crate) lost_frames: u64,
    pub(crate) with_lost: u64,
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| round6(part as f64 / whole as f64))
}

impl Streams {
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        if !record.streamed || !record.is_completed() {
            return;
        }
        self.streams += 1;
        self.no_terminal += u64::from(!record.terminal);
        let counted = record.output.is_some_and(|output| output.tokens > 0);
        self.no_text += u64::from(record.first.is_none() && counted);
        self.unstreamed += u64::from(record.unstreamed.is_some());
        self.lost_frames += u64::from(record.lost_frames);
        self.with_lost += u64::from(record.lost_frames > 0);
        let known = per_chunk(record);
        self.no_token_times += u64::from(known == PerChunk::Unknown && !record.chunks.is_empty());
        let (mut coalesced, mut first, mut last) = (0, None, 0);
        for chunk in record.chunks.iter() {
            coalesced += u64::from(chunk.coalesced);
            if known == PerChunk::Told {
                self.multi_token += u64::from(chunk.tokens > 1);
                self.first_chunk_several += u64::from(first.is_none() && chunk.tokens > 1);
            }
            first = first.or(Some(chunk.at_us));
            last = chunk.at_us;
        }
        let events = record.chunks.len();
        self.events += events as u64;
        self.coalesced += coalesced;
        if known != PerChunk::Unknown {
            self.counted_events += events as u64;
        }
        // Other tools' requests may have a first and a last time, and no events between.
        if events > 0 && (events >= 2 || record.output.is_some_and(|output| output.tokens >= 3)) {
            self.could_burst += 1;
            let spread = last.saturating_sub(first.unwrap_or(last));
            let at_once = coalesced + 1 >= events as u64;
            self.one_burst += u64::from(at_once || (events >= BURST_EVENTS && spread < BURST_US));
        }
    }

    pub(crate) fn shares(&self) -> Integrity {
        Integrity {
            coalesced_share: share(self.coalesced, self.events),
            multi_token_share: share(self.multi_token, self.counted_events),
            one_burst_share: share(self.one_burst, self.could_burst),
            no_terminal_share: share(self.no_terminal, self.streams),
        }
    }
}
