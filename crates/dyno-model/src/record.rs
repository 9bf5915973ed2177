//! One record per arrival: everything needed to recompute every metric.

use crate::Nanos;
use crate::chunks::ChunkTrack;
use crate::message::Message;
use crate::outcome::{FailureClass, Outcome};
use crate::tree::TurnOfTree;
use serde::{Deserialize, Serialize};

/// Which part of a level a request belongs to. Every request is kept; this only labels it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Sent as warm-up; not part of the metrics.
    Warmup,
    /// Part of the metrics.
    Measured,
    /// Part of the metrics, and still in flight when sending stopped.
    Drain,
}

impl Phase {
    /// Whether the request counts in the metrics of its level.
    pub fn is_measured(self) -> bool {
        !matches!(self, Self::Warmup)
    }
}

/// Where a token count came from, the most trusted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The server's own usage.
    Usage,
    /// Per-chunk counts or ids of the dialect.
    Chunks,
    /// A local tokenizer over the whole text.
    Tokenizer,
    /// The number of output events.
    Events,
}

/// A token count with its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCount {
    /// How many.
    pub tokens: u64,
    /// Where it came from.
    pub source: TokenSource,
}

/// The place of a request in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnOfSession {
    /// Index of the conversation in its level, or its place in its tree.
    pub session: u64,
    /// Its conversation turn, from 1.
    pub number: u32,
}

/// How much earlier than its recorded time each event may have happened: a time `t` of width `w`
/// means that it lies between `t − w` and `t`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Widths {
    /// Of [`RequestRecord::intended`], which in a closed loop is when the slot's last response ended.
    pub intended: Nanos,
    /// Of [`RequestRecord::sent`]: the duration of the write of the last byte.
    pub sent: Nanos,
    /// Of [`RequestRecord::first`].
    pub first: Nanos,
    /// Of [`RequestRecord::last`].
    pub last: Nanos,
    /// Of [`RequestRecord::end`].
    pub end: Nanos,
}

/// What the server says about the times of a request, in nanoseconds; each is absent where the server
/// does not report it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerTimes {
    /// From its arrival at the server until it was scheduled.
    pub queue: Option<Nanos>,
    /// The processing of its prompt, up to the first token.
    pub prefill: Option<Nanos>,
    /// From the first token to the last.
    pub decode: Option<Nanos>,
    /// Loading the model for it.
    pub load: Option<Nanos>,
    /// All of it, as the server sees it.
    pub total: Option<Nanos>,
}

impl ServerTimes {
    /// These times, and those of `earlier` where these are absent.
    pub fn or(self, earlier: Self) -> Self {
        Self {
            queue: self.queue.or(earlier.queue),
            prefill: self.prefill.or(earlier.prefill),
            decode: self.decode.or(earlier.decode),
            load: self.load.or(earlier.load),
            total: self.total.or(earlier.total),
        }
    }
}

/// What happened to one arrival. All times are nanoseconds from the start of the run; a time
/// that was never reached is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestRecord {
    /// Index of the level in the plan.
    pub level: u32,
    /// Index of the arrival in its level, warm-up included.
    pub index: u64,
    /// The closed loop's slot; 0 elsewhere.
    pub slot: u32,
    /// Its place in a conversation, where it is part of one.
    pub turn: Option<TurnOfSession>,
    /// Its place in a tree of sessions, where it is part of one.
    pub tree: Option<Box<TurnOfTree>>,
    /// Label.
    pub phase: Phase,
    /// How it ended.
    pub outcome: Outcome,
    /// When it was scheduled to be sent.
    pub intended: Nanos,
    /// When a slot became free for it, where it had to wait for one: no more than
    /// [`max_concurrency`](crate::plan::LevelPlan::max_concurrency) requests may be in flight.
    pub admitted: Option<Nanos>,
    /// When the driver picked it up.
    pub dispatched: Option<Nanos>,
    /// When its connection was ready.
    pub connected: Option<Nanos>,
    /// When the last byte of the request was handed to the socket.
    pub sent: Option<Nanos>,
    /// When the response head was complete.
    pub headers: Option<Nanos>,
    /// First event with output.
    pub first: Option<Nanos>,
    /// Last event with output or a finish reason (not streamed: the end of the body).
    pub last: Option<Nanos>,
    /// When the response was complete, or when the request failed, was dropped or censored.
    pub end: Nanos,
    /// How exactly these times are known; absent in records of older versions.
    pub widths: Option<Widths>,
    /// Output events.
    pub chunks: ChunkTrack,
    /// The dialect reports tokens per chunk, so the counts of [`ChunkTrack`] are exact.
    pub chunk_tokens_known: bool,
    /// Tokens of an empty finish event, where the dialect reports them.
    pub finish_tokens: Option<u32>,
    /// A stream was requested and received.
    pub streamed: bool,
    /// The dialect's terminal event was seen.
    pub terminal: bool,
    /// Input tokens.
    pub input: Option<TokenCount>,
    /// Output tokens.
    pub output: Option<TokenCount>,
    /// Input tokens found in the server's prefix cache, from its usage. Absent, not 0, where the
    /// server does not report them.
    pub cached: Option<u64>,
    /// Output tokens that were reasoning, from the server's usage.
    pub reasoning: Option<u64>,
    /// Output tokens that usage counts and that were never sent: hidden reasoning. They are not between
    /// the first event and the last.
    pub unstreamed: Option<u64>,
    /// Usage contradicted the response, so it was not used.
    pub usage_ignored: bool,
    /// The server's own times.
    pub server: Option<ServerTimes>,
    /// Texts in the request, where nothing is generated: inputs to embed, documents to rank.
    pub inputs: Option<u32>,
    /// Bytes of the response body, where responses are not streamed.
    pub body_bytes: Option<u64>,
    /// Input tokens as counted by Dyno, including the chat template.
    pub requested_input: Option<u32>,
    /// Requested output tokens.
    pub requested_output: Option<u32>,
    /// HTTP status.
    pub status: Option<u16>,
    /// The server's finish reason.
    pub finish_reason: Option<String>,
    /// Events without any content, such as a gateway's heartbeats.
    pub heartbeats: u32,
    /// Events that never arrived, by the numbers of those that did.
    pub lost_frames: u32,
    /// When the server asked to be tried again, as a delay after its refusal; the last one that did.
    pub retry_after: Option<Nanos>,
    /// How often it was sent again because the server had refused it.
    pub retries: u32,
    /// When the first of these refusals came.
    pub first_refused: Option<Nanos>,
    /// Why it was refused then.
    pub refused_as: Option<FailureClass>,
    /// Sent a second time, on a fresh connection, because a reused one turned out closed.
    pub resent: bool,
    /// Sent on a connection that had been used or opened before.
    pub reused: bool,
    /// Which of the target's addresses it was sent to, as an index into
    /// [`Server::addresses`](crate::environment::Server::addresses); absent where the target has one.
    pub address: Option<u8>,
    /// The agent that sent it, where there are several.
    pub agent: Option<u32>,
    /// For a failure: what was wrong, with the first 4 KiB of the server's message.
    pub detail: Option<Message>,
    /// The text of the response, with `--save-text`.
    pub text: Option<String>,
}

impl RequestRecord {
    /// Output tokens that arrived: as they were counted, or one for each event.
    pub fn tokens_received(&self) -> u64 {
        self.output.map_or(self.chunks.len() as u64, |count| count.tokens)
    }

    /// A record of an arrival that has not been picked up yet.
    pub fn new(level: u32, index: u64, slot: u32, phase: Phase, intended: Nanos) -> Self {
        Self {
            level,
            index,
            slot,
            turn: None,
            tree: None,
            phase,
            outcome: Outcome::Censored,
            intended,
            admitted: None,
            dispatched: None,
            connected: None,
            sent: None,
            headers: None,
            first: None,
            last: None,
            end: intended,
            widths: None,
            chunks: ChunkTrack::default(),
            chunk_tokens_known: false,
            finish_tokens: None,
            streamed: false,
            terminal: false,
            input: None,
            output: None,
            cached: None,
            reasoning: None,
            unstreamed: None,
            usage_ignored: false,
            server: None,
            inputs: None,
            body_bytes: None,
            requested_input: None,
            requested_output: None,
            status: None,
            finish_reason: None,
            heartbeats: 0,
            lost_frames: 0,
            retry_after: None,
            retries: 0,
            first_refused: None,
            refused_as: None,
            resent: false,
            reused: false,
            address: None,
            agent: None,
            detail: None,
            text: None,
        }
    }

    /// What names its session in the level: a tree, where it has one, and a session.
    pub fn session(&self) -> Option<(Option<u64>, u64)> {
        Some((self.tree.as_ref().map(|tree| tree.tree), self.turn?.session))
    }

    /// When it was to be sent: when it was due, or as soon as a slot was free. A later dispatch is
    /// the client's own delay.
    pub fn sendable(&self) -> Nanos {
        self.admitted.map_or(self.intended, |admitted| admitted.max(self.intended))
    }

    /// Output tokens that were sent to the client.
    pub fn streamed_tokens(&self) -> Option<u64> {
        let hidden = self.unstreamed.unwrap_or(0);
        self.output.map(|output| output.tokens.saturating_sub(hidden))
    }

    /// Moves all times by the same amount, so that no difference changes: by whole microseconds, because
    /// those of output events are.
    pub fn shift(&mut self, by: i64) {
        let by_us = by.div_euclid(1_000);
        let by = by_us * 1_000;
        let to = |at: Nanos| at.saturating_add_signed(by);
        self.intended = to(self.intended);
        self.end = to(self.end);
        for time in [
            &mut self.admitted,
            &mut self.dispatched,
            &mut self.connected,
            &mut self.sent,
            &mut self.headers,
            &mut self.first,
            &mut self.last,
            &mut self.first_refused,
        ] {
            *time = time.map(to);
        }
        self.chunks.shift(by_us);
    }

    /// Whether it ended with a complete, valid response.
    pub fn is_completed(&self) -> bool {
        self.outcome == Outcome::Completed
    }

    /// Whether it is an arrival that was never sent: it could not be, or still waited when sending stopped.
    pub fn was_never_sent(&self) -> bool {
        match self.outcome {
            Outcome::Dropped(_) => true,
            Outcome::Censored => self.dispatched.is_none(),
            _ => false,
        }
    }
}
