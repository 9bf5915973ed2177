//! Conversations: their number, their outcomes, and the metrics of first and later turns separately.

use super::distributions::{Part, TimeBlocks};
use super::request_times::request_times;
use super::tokens::TokenSum;
use dyno_model::metric::Time;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{Sessions, TurnMetrics, round6};
use dyno_stats::Counted;
use std::collections::BTreeMap;

/// One conversation, as far as it was measured.
#[derive(Debug, Clone, Copy)]
struct Conversation {
    from: u64,
    to: u64,
    broken: bool,
}

/// First or later turns in the first reading.
#[derive(Debug, Default)]
struct Turns {
    requests: u64,
    ttft: Vec<u64>,
    latency: Vec<u64>,
    input: TokenSum,
}

/// The conversations of a level, from the first reading.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    /// By tree, where they are sessions of one, and session.
    known: BTreeMap<(Option<u64>, u64), Conversation>,
    turns: u64,
    /// The last `sent` of a first turn or of a request that is not a turn.
    pub(crate) last_begun: Option<u64>,
    first: Turns,
    later: Turns,
}

fn is_first(number: u32) -> bool {
    number <= 1
}

impl Conversations {
    /// Counts a measured request; of one that is not a turn only the arrival counts.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        if record.turn.is_none_or(|turn| is_first(turn.number)) {
            self.last_begun = self.last_begun.max(record.sent);
        }
        let (Some(turn), Some(session)) = (record.turn, record.session()) else { return };
        self.turns += 1;
        let sent = record.sent.unwrap_or(record.intended);
        let new = Conversation { from: sent, to: record.end, broken: false };
        let known = self.known.entry(session).or_insert(new);
        known.from = known.from.min(sent);
        known.to = known.to.max(record.end);
        known.broken |= record.outcome.class().is_some();
        if record.is_completed() {
            let turns = if is_first(turn.number) { &mut self.first } else { &mut self.later };
            let f = request_times(record);
            turns.requests += 1;
            turns.ttft.extend(f[Time::Ttft]);
            turns.latency.extend(f[Time::Latency]);
            turns.input.add(record.input);
        }
    }

    pub(crate) fn any(&self) -> bool {
        self.turns > 0
    }

    /// Conversations with a measured turn.
    pub(crate) fn started(&self) -> u64 {
        self.known.len() as u64
    }

    /// Conversations in which a measured turn failed.
    pub(crate) fn broken(&self) -> u64 {
        self.known.values().filter(|conversation| conversation.broken).count() as u64
    }

    /// How long they took, from the first `sent` to the last end.
    pub(crate) fn lengths(&self) -> Counted {
        let length = |c: &Conversation| c.to.saturating_sub(c.from);
        Counted::from_samples(self.known.values().map(length).collect())
    }
}

/// Distributions of some turns between the two readings.
#[derive(Debug)]
struct TurnParts {
    ttft: Part,
    latency: Part,
}

impl TurnParts {
    fn new(turns: &mut Turns, blocks: Option<TimeBlocks>) -> Self {
        let part = |samples: &mut Vec<u64>| {
            Part::new(&Counted::from_samples(std::mem::take(samples)), blocks)
        };
        Self { ttft: part(&mut turns.ttft), latency: part(&mut turns.latency) }
    }

    fn finish(self, turns: &Turns) -> TurnMetrics {
        TurnMetrics {
            requests: turns.requests,
            ttft: self.ttft.finish(),
            latency: self.latency.finish(),
            input_tokens: turns.input.tokens(),
        }
    }
}

/// Distributions of first and later turns between the two readings.
#[derive(Debug)]
pub(crate) struct ByTurn {
    blocks: Option<TimeBlocks>,
    first: TurnParts,
    later: TurnParts,
}

impl ByTurn {
    /// Takes the samples of the first reading; nothing where there are no turns, or where these belong to `trees`,
    /// which have groups of their own.
    pub(crate) fn new(
        from: &mut Conversations,
        blocks: Option<TimeBlocks>,
        trees: bool,
    ) -> Option<Self> {
        (from.any() && !trees).then(|| Self {
            blocks,
            first: TurnParts::new(&mut from.first, blocks),
            later: TurnParts::new(&mut from.later, blocks),
        })
    }

    /// Sorts a measured turn's samples into the block in which it was sent.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        let (Some(blocks), Some(turn)) = (self.blocks, record.turn) else { return };
        let parts = if is_first(turn.number) { &mut self.first } else { &mut self.later };
        let f = request_times(record);
        let own = blocks.of(record.sent.unwrap_or(record.intended));
        for (part, value) in
            [(&mut parts.ttft, f[Time::Ttft]), (&mut parts.latency, f[Time::Latency])]
        {
            if let Some(value) = value {
                part.add(own, value, 1);
            }
        }
    }

    pub(crate) fn finish(self, of: &Conversations) -> Sessions {
        Sessions {
            started: of.started(),
            broken: of.broken(),
            turns: of.turns,
            turns_mean: round6(of.turns as f64 / of.started() as f64),
            first: self.first.finish(&of.first),
            later: self.later.finish(&of.later),
        }
    }
}
