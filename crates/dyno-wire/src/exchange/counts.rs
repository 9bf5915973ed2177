//! How many output tokens a response has: the sources, which of them is believed, and how many of the
//! tokens came with each event.

use crate::dialect::{Delta, MOST_TOKENS};
use dyno_model::record::{RequestRecord, TokenCount, TokenSource};

/// So many tokens beyond the limit are no contradiction: some servers count the one that ends the response.
const OVERSHOOT: u64 = 2;
/// Shorter prompts may have a token for each character.
const LONG_ENOUGH: u64 = 40;

/// Whether the server counts the characters of the prompt, or nearly: it has much fewer tokens by our own count.
fn counts_characters(record: &RequestRecord, characters: Option<u64>) -> bool {
    let (Some(input), Some(own), Some(characters)) =
        (record.input, record.requested_input, characters)
    else {
        return false;
    };
    let near = input.tokens.abs_diff(characters) <= 2 + characters / 100;
    near && characters >= LONG_ENOUGH && 3 * u64::from(own) < 2 * characters
}

/// More tokens than `max_tokens` allows, although no more came. A server that ignores the limit sends more, and
/// some do not count reasoning against it.
fn is_beyond_limit(record: &RequestRecord, total: u64, came: u64) -> bool {
    let limit = record.requested_output.map(|n| u64::from(n) + OVERSHOOT);
    let counted = total.saturating_sub(record.reasoning.unwrap_or(0));
    limit.is_some_and(|limit| counted > limit && came <= limit)
}

/// Whether a record has counts that reading a response never gives: it is not from this client.
pub fn is_impossible(record: &RequestRecord) -> bool {
    let counts = [record.input, record.output].into_iter().flatten().map(|count| count.tokens);
    let others = [record.cached, record.reasoning, record.unstreamed].into_iter().flatten();
    let events = record.chunks.len() as u64;
    let came = || match record.chunk_tokens_known {
        true => events.max(record.chunks.iter().map(|chunk| u64::from(chunk.tokens)).sum()),
        false => events,
    };
    counts.chain(others).any(|count| count > MOST_TOKENS)
        || record.output.is_some_and(|output| match output.source {
            TokenSource::Usage => is_beyond_limit(record, output.tokens, came()),
            TokenSource::Events => output.tokens > events,
            TokenSource::Chunks | TokenSource::Tokenizer => false,
        })
}

/// What is known of a response's output tokens so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The server's usage, the last and the largest.
    usage: Option<u64>,
    most: u64,
    /// By token ids, or by another count of the dialect's.
    listed: Option<u64>,
    /// The tokens that belong to an output event so far.
    placed: u64,
    /// Events without text since the last that has some.
    blanks: u32,
    /// Output tokens, if every event is one, with or without text.
    by_events: u64,
    /// Some event without text was one of them.
    had_blanks: bool,
    /// Reasoning was among the output.
    reasoned: bool,
}

impl Counts {
    /// Takes over the counts of a frame or a body.
    pub(super) fn note(&mut self, delta: &Delta) {
        if let Some(total) = delta.output_tokens {
            self.usage = Some(total);
            self.most = self.most.max(total);
        }
        self.listed = delta.listed_tokens.max(self.listed);
        self.reasoned |= delta.reasoning;
        // Before the first output an empty text is that of the role.
        self.blanks += u32::from(delta.blank && self.by_events > 0);
    }

    /// Tokens so far, if anything counts them.
    pub(super) fn so_far(&self) -> Option<u64> {
        self.usage.filter(|total| *total > 0).or(self.listed)
    }

    /// The tokens that came with this event, which has output or a finish reason, if it says so. A
    /// token without text, such as half a character, comes in an event without output and is counted
    /// with the next event that has some.
    pub(super) fn placed_with(&mut self, delta: &Delta) -> Option<u32> {
        // A total of nothing, beside text, is no count.
        let is_count = |total: &u64| *total > 0 || !delta.output;
        let total = delta.output_tokens.or(delta.listed_tokens).filter(is_count)?;
        let before = std::mem::replace(&mut self.placed, total);
        Some(total.saturating_sub(before).min(u64::from(u32::MAX)) as u32)
    }

    /// The tokens of an output event that does not count them: its own, and those of the events without
    /// text before it.
    pub(super) fn assumed(&mut self) -> u32 {
        let blanks = std::mem::take(&mut self.blanks);
        self.had_blanks |= blanks > 0;
        self.by_events += u64::from(blanks) + 1;
        blanks.saturating_add(1)
    }

    /// Whether usage contradicts the response: no token although there is text, fewer at the end than
    /// before, or more than were asked for.
    fn contradicts(&self, record: &RequestRecord, has_text: bool) -> bool {
        self.usage.is_some_and(|total| {
            let came = self.listed.unwrap_or(record.chunks.len() as u64);
            has_text && total == 0 || total < self.most || is_beyond_limit(record, total, came)
        })
    }

    /// Writes the counts into the record of a response that has ended.
    pub(super) fn settle(
        &self,
        record: &mut RequestRecord,
        has_text: bool,
        characters: Option<u64>,
    ) {
        let events = record.chunks.len() as u64;
        record.usage_ignored =
            self.contradicts(record, has_text) || counts_characters(record, characters);
        let usage = self.usage.filter(|_| !record.usage_ignored);
        let count = |source| move |tokens| TokenCount { tokens, source };
        record.output = (usage.map(count(TokenSource::Usage)))
            .or_else(|| self.listed.map(count(TokenSource::Chunks)))
            .or_else(|| (events > 0).then_some(events).map(count(TokenSource::Events)));
        if record.usage_ignored {
            // What the same server says of the input is worth no more.
            record.input = record.input.filter(|count| count.source != TokenSource::Usage);
            record.cached = None;
            if self.listed.is_none() {
                (record.chunk_tokens_known, record.finish_tokens) = (false, None);
            }
        }
        record.unstreamed = usage.and_then(|total| self.unstreamed(record, total));
        self.settle_events(record);
    }

    /// Reasoning tokens that usage counts and that never came: no event had reasoning, and the rest of
    /// the output is no longer than the other tokens. Servers without a parser for it stream reasoning
    /// as content.
    fn unstreamed(&self, record: &RequestRecord, total: u64) -> Option<u64> {
        let reasoning = record.reasoning.filter(|n| *n > 0 && record.streamed)?;
        let rest = total.checked_sub(reasoning)?;
        let came = match record.chunk_tokens_known {
            true => {
                // The count jumps at the first event.
                let first = record.chunks.iter().next().map_or(0, |chunk| u64::from(chunk.tokens));
                first < reasoning && first > 0
            }
            false => record.chunks.len() as u64 > rest,
        };
        (!self.reasoned && !came).then_some(reasoning)
    }

    /// Where events without text make up for the tokens that are missing among those with text, the
    /// tokens of each are known.
    fn settle_events(&self, record: &mut RequestRecord) {
        let Some(total) = record.streamed_tokens() else { return };
        if record.chunk_tokens_known || !self.had_blanks {
            return;
        }
        let more = total.checked_sub(self.by_events);
        let at_finish = record.finish_reason.is_some() && more == Some(1);
        record.chunk_tokens_known = more == Some(0) || at_finish;
        if at_finish {
            record.finish_tokens = Some(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::record::Phase;

    /// The record of a response of so many events, with the usage of its end.
    fn settled(change: impl Fn(&mut RequestRecord), events: u64, usage: u64) -> RequestRecord {
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        (record.streamed, record.requested_output) = (true, Some(16));
        (1..=events).for_each(|i| record.chunks.push(i * 1_000_000, false, 1));
        change(&mut record);
        let mut counts = Counts::default();
        counts.note(&Delta { output_tokens: Some(usage), ..Delta::default() });
        counts.settle(&mut record, true, Some(500));
        record
    }

    #[test]
    fn usage_beyond_the_limit_is_not_believed() {
        for usage in [19, 160, 1 << 39] {
            let record = settled(|_| {}, 16, usage);
            assert!(record.usage_ignored, "{usage}");
            let count = TokenCount { tokens: 16, source: TokenSource::Events };
            assert_eq!(record.output, Some(count));
        }
        let believed = |change: fn(&mut RequestRecord), events, usage| {
            let record = settled(change, events, usage);
            assert!(!record.usage_ignored);
            assert_eq!(record.output.map(|count| count.tokens), Some(usage));
        };
        believed(|_| {}, 16, 16);
        believed(|_| {}, 4, 18);
        // It ignored the limit, or does not count reasoning against it; without a limit anything goes.
        believed(|_| {}, 200, 200);
        believed(|record| record.reasoning = Some(50), 16, 66);
        believed(|record| record.requested_output = None, 16, 160);
    }

    /// L8: what another client may have written, and this one never.
    #[test]
    fn counts_that_were_never_believed_are_impossible() {
        for (events, usage) in [(16, 16), (4, 18), (200, 200), (16, 19), (16, 1 << 39)] {
            let mut record = settled(|_| {}, events, usage);
            assert!(!is_impossible(&record), "{events} {usage}: {:?}", record.output);
            // As if it had been believed.
            record.output = Some(TokenCount { tokens: usage, source: TokenSource::Usage });
            assert_eq!(is_impossible(&record), record.usage_ignored, "{events} {usage}");
        }
        let count = |tokens, source| Some(TokenCount { tokens, source });
        let too_many = count(MOST_TOKENS + 1, TokenSource::Usage);
        let plain = || settled(|_| {}, 16, 16);
        assert!(!is_impossible(&plain()));
        assert!(is_impossible(&RequestRecord { input: too_many, ..plain() }));
        assert!(is_impossible(&RequestRecord { cached: Some(u64::MAX), ..plain() }));
        let events = count(17, TokenSource::Events);
        assert!(is_impossible(&RequestRecord { output: events, ..plain() }));
        // The limit was ignored, with few events that count their many tokens.
        let mut listed = settled(|_| {}, 0, 16);
        (1..=10).for_each(|i| listed.chunks.push(i * 1_000_000, false, 20));
        (listed.chunk_tokens_known, listed.output) = (true, count(200, TokenSource::Usage));
        assert!(!is_impossible(&listed));
    }

    #[test]
    fn a_prompt_that_is_counted_in_characters_is_not_believed() {
        let with = |own: Option<u32>, tokens: u64| {
            let change = move |record: &mut RequestRecord| {
                record.requested_input = own;
                record.input = Some(TokenCount { tokens, source: TokenSource::Usage });
            };
            settled(change, 16, 16)
        };
        let record = with(Some(120), 500);
        assert_eq!((record.usage_ignored, record.input), (true, None));
        assert!(with(Some(120), 505).usage_ignored);
        // A long system prompt of the server's, one character in each token, or no count of our own.
        for (own, tokens) in [(Some(120), 700), (Some(120), 120), (Some(480), 500), (None, 500)] {
            assert!(!with(own, tokens).usage_ignored, "{own:?} {tokens}");
        }
    }
}
