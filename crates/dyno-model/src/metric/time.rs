//! The times of requests, which are reported as distributions.

use super::Info;
use super::rows::TIMES;

/// A time of which a level has a distribution, in the order of `summary.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Time {
    /// From being sent to the first output.
    Ttft,
    /// From being due to the first output.
    TtftScheduled,
    /// From being sent to the last output.
    Latency,
    /// From being due to the last output.
    LatencyScheduled,
    /// Per output token after the first.
    Tpot,
    /// Between tokens.
    Itl,
    /// Between output events.
    ChunkGap,
    /// From being sent to the headers of a response with results for several texts.
    Headers,
}

impl Time {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Ttft,
        Self::TtftScheduled,
        Self::Latency,
        Self::LatencyScheduled,
        Self::Tpot,
        Self::Itl,
        Self::ChunkGap,
        Self::Headers,
    ];

    /// Its row.
    pub fn info(self) -> &'static Info {
        &TIMES[self as usize]
    }

    /// A request has it once; the others are between its events.
    pub fn is_own(self) -> bool {
        !matches!(self, Self::Itl | Self::ChunkGap)
    }

    /// It came after version 0.1, and is left out of files where it is absent.
    pub fn is_later(self) -> bool {
        self == Self::Headers
    }

    /// Whether it is a time between tokens or events.
    pub fn is_between_tokens(self) -> bool {
        matches!(self, Self::Tpot | Self::Itl | Self::ChunkGap)
    }

    /// Its key in `summary.json`.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// The time with that key.
    pub fn with_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|time| time.id() == id)
    }
}
