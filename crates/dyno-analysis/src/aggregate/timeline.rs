//! When a request's tokens arrived, as far as its stream shows, and the gaps between them.

use dyno_model::record::RequestRecord;

/// One output event: some tokens at a time in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) at_us: u64,
    /// How much earlier it may have been.
    pub(crate) loose_us: u64,
    /// Tokens, or 1 where tokens per chunk are unknown.
    pub(crate) tokens: u64,
}

/// How tokens per chunk are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PerChunk {
    /// The dialect states them.
    Told,
    /// As many chunks as tokens: one each.
    One,
    /// One token each, and the empty finish event brought one more.
    OneAndFinish,
    /// Unknown.
    Unknown,
}

/// How the record gives tokens per chunk.
pub(crate) fn per_chunk(record: &RequestRecord) -> PerChunk {
    let chunks = record.chunks.len() as u64;
    if record.chunk_tokens_known {
        return PerChunk::Told;
    }
    match record.streamed_tokens() {
        Some(tokens) if tokens == chunks => PerChunk::One,
        Some(tokens) if chunks > 0 && tokens == chunks + 1 => PerChunk::OneAndFinish,
        _ => PerChunk::Unknown,
    }
}

/// The output events in order, with the finish event where it brought tokens.
pub(crate) fn events(
    record: &RequestRecord,
    per_chunk: PerChunk,
) -> impl Iterator<Item = Event> + '_ {
    let finish_tokens = match per_chunk {
        PerChunk::Told => record.finish_tokens.unwrap_or(0),
        PerChunk::OneAndFinish => 1,
        _ => 0,
    };
    let finish = record.last.filter(|_| finish_tokens > 0 && !record.chunks.is_empty());
    let told = per_chunk == PerChunk::Told;
    record
        .chunks
        .iter()
        .map(move |c| {
            let tokens = if told { c.tokens.into() } else { 1 };
            Event { at_us: c.at_us, loose_us: c.loose_us, tokens }
        })
        .chain(finish.map(move |at| {
            let loose_us = record.widths.map_or(0, |widths| widths.last / 1_000);
            Event { at_us: at / 1_000, loose_us, tokens: finish_tokens.into() }
        }))
}

/// A gap between two output events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// Time of the later event.
    pub(crate) at_us: u64,
    pub(crate) gap_ns: u64,
    /// Tokens that the later event carried; absent where unknown.
    pub(crate) tokens: Option<u64>,
}

impl Gap {
    /// Time per token, and how many tokens it stands for.
    pub(crate) fn per_token(&self) -> Option<(u64, u64)> {
        let tokens = self.tokens.filter(|n| *n > 0)?;
        Some(((self.gap_ns + tokens / 2) / tokens, tokens))
    }
}

/// Calls `each` with every gap of a streamed request.
pub(crate) fn for_each_gap(record: &RequestRecord, mut each: impl FnMut(Gap)) {
    if !record.streamed {
        return;
    }
    let per_chunk = per_chunk(record);
    let known = per_chunk != PerChunk::Unknown;
    let mut before = None;
    for event in events(record, per_chunk) {
        if let Some(before) = before {
            let gap_ns = event.at_us.saturating_sub(before).saturating_mul(1_000);
            each(Gap { at_us: event.at_us, gap_ns, tokens: known.then_some(event.tokens) });
        }
        before = Some(event.at_us);
    }
}
