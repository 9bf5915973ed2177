//! A level of a run, request by request: what was sent when, and when each token came back. It can be
//! sent again to a simulated engine, whatever kind of load it was.

mod caches;
mod figures;
mod rerun;
mod sent;

pub(crate) use caches::{BLOCK, unknown_hits};
pub use caches::{TrialCaches, caches};
pub use figures::{Figures, Quantity};
pub use rerun::rerun;
pub use sent::{Unfit, trial};

use dyno_model::Nanos;

/// A level as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// What it is called in messages.
    pub label: String,
    /// How it was loaded.
    pub kind: TrialKind,
    /// Its requests, in the order in which they were sent, warm-up included.
    pub requests: Vec<SentRequest>,
    /// When a closed loop stopped sending, where time ended it and not the number of requests.
    pub until: Option<Nanos>,
}

/// When each request of a trial was sent.
pub fn sent_times(trial: &Trial) -> Vec<Nanos> {
    let mut sent: Vec<Nanos> = Vec::with_capacity(trial.requests.len());
    for request in &trial.requests {
        sent.push(match request.when {
            TrialTime::At(at) => at,
            TrialTime::After { request, pause } => {
                let before = &trial.requests[request];
                sent[request] + before.seen.last().map_or(0, |chunk| chunk.after) + pause
            }
        });
    }
    sent
}

/// The most requests that were in flight at once.
pub(crate) fn most_in_flight(trial: &Trial) -> u32 {
    let sent = sent_times(trial);
    let lasted = trial.requests.iter().map(|of| of.seen.last().map_or(0, |chunk| chunk.after));
    let mut changes: Vec<(Nanos, i32)> =
        sent.iter().zip(lasted).flat_map(|(at, lasted)| [(*at, 1), (at + lasted, -1)]).collect();
    changes.sort_unstable();
    let running = changes.iter().scan(0, |now, (_, change)| {
        *now += change;
        Some(*now)
    });
    running.max().unwrap_or(0).unsigned_abs()
}

/// A kind of load. What holds for one need not hold for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrialKind {
    /// Each response is followed by the next request.
    Closed,
    /// Requests come at their own times.
    Open,
    /// Conversations, whose turns wait for each other.
    Sessions,
    /// Everything at once.
    Burst,
}

impl TrialKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Closed, Self::Open, Self::Sessions, Self::Burst];

    /// Its name in a twin file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::Sessions => "sessions",
            Self::Burst => "burst",
        }
    }
}

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct SentRequest {
    /// When it was sent.
    pub when: TrialTime,
    /// Tokens of its prompt.
    pub input: u32,
    /// Tokens of its response.
    pub output: u32,
    /// The prompt's blocks that others have, too.
    pub shared: Shared,
    /// Whether it counts; others only load the engine.
    pub measured: bool,
    /// When its tokens came.
    pub seen: Vec<TrialChunk>,
}

/// When a request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialTime {
    /// So long after the start of the level, whatever the server did.
    At(Nanos),
    /// After the response to another one.
    After {
        /// Its place in [`Trial::requests`].
        request: usize,
        /// How long after it.
        pause: Nanos,
    },
}

/// What a prompt has in common with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// Nothing.
    Nothing,
    /// The first so many tokens, with all that share any.
    Prefix(u32),
    /// All that was said before, with the other turns of this conversation.
    Conversation(u64),
    /// The same without the responses: for an engine that keeps prompts alone.
    Prompts(u64),
}

/// Tokens that came together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrialChunk {
    /// How long after the request was sent.
    pub after: Nanos,
    /// How many.
    pub tokens: u32,
}
