//! One streamed response: which bytes come next, and when they are due.

use super::pace::{Granted, Next, WritePace};
use crate::live::Due;
use dyno_model::{MS, Nanos};
use dyno_respond::api::AnswerFinish;
use dyno_respond::api::response::{Chunks, ResponseToken};
use dyno_respond::fault::{Failure, Quirk, Quirks};
use dyno_respond::framing::{Burst, ServedFraming, StreamDamage};

const DRIP: Nanos = 100 * MS;
/// Events in one write to a client that was behind.
const MOST_AT_ONCE: u32 = 32;

/// What happens to the connection after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// More of this response is to come.
    Continue,
    /// The response is over.
    Done,
    /// The connection is closed.
    Close,
    /// The connection is reset.
    Reset,
    /// The connection stays open and silent.
    Hold,
}

/// A write has been rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stepped {
    /// What to do after it.
    pub(super) after: After,
    /// When it was due, if it carries tokens with a due time.
    pub(super) due: Option<Nanos>,
}

/// A streamed response under way.
#[derive(Debug)]
pub(super) struct ResponseStream {
    pace: WritePace,
    /// Events per write, if the end does not come before.
    batch: u32,
    chunks: Box<dyn Chunks>,
    framing: ServedFraming,
    quirks: Quirks,
    failure: Option<Failure>,
    finish: AnswerFinish,
    /// Tokens that a whole response has.
    tokens: u32,
    /// Tokens before a failure ends it; all of them without one.
    until: u32,
    sent: u32,
    /// Something goes out before the first token.
    opening: bool,
    next_drip: Option<Nanos>,
}

/// What a stream is made from.
pub(super) struct StreamParts {
    pub(super) pace: WritePace,
    pub(super) chunks: Box<dyn Chunks>,
    pub(super) framing: ServedFraming,
    pub(super) quirks: Quirks,
    pub(super) failure: Option<Failure>,
    pub(super) tokens: u32,
    pub(super) finish: AnswerFinish,
}

impl ResponseStream {
    /// A stream of which nothing has been sent but the response head.
    pub(super) fn new(parts: StreamParts) -> Self {
        let StreamParts { pace, quirks, failure, .. } = parts;
        let batch = match quirks.has(Quirk::Coalesce) {
            true => pace.batch().max(8),
            false => pace.batch(),
        };
        let (mut tokens, finish) = (parts.tokens, parts.finish);
        let until = match failure {
            None | Some(Failure::Empty | Failure::Short) => tokens,
            Some(Failure::NotJson | Failure::Oversize) => tokens,
            Some(Failure::Drip) => {
                tokens = tokens.max(2); // Something must come after the first.
                1
            }
            Some(_) => tokens / 2,
        };
        let opening = parts.chunks.opens_early() || quirks.has(Quirk::Comments);
        Self {
            pace,
            batch,
            chunks: parts.chunks,
            framing: parts.framing,
            quirks,
            failure,
            finish,
            tokens,
            until,
            sent: 0,
            opening,
            next_drip: None,
        }
    }

    /// Notes what the engine has produced, and how many prompt tokens were cached.
    pub(super) fn grant(&mut self, due: &Due) {
        if let WritePace::Engine(granted) = &mut self.pace {
            if granted.tokens == 0 {
                self.chunks.start(due.start());
            }
            let tokens = granted.tokens.max(due.tokens);
            *granted = Granted { tokens, at: due.at, came: due.came, ..*granted };
        }
    }

    /// When the next write is due; absent if the engine decides.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        match (self.next_drip, self.pace) {
            (Some(drip), _) => Some(drip),
            (None, WritePace::Script { start, .. }) if self.opening => Some(start),
            (None, WritePace::Script { start, script }) => {
                let last = match self.sent < self.until {
                    true => self.batch_end() - 1,
                    false => self.sent,
                };
                Some(start.saturating_add(script.due(last)))
            }
            (None, WritePace::Engine(granted)) => self.opening.then_some(granted.start),
        }
    }

    /// What is to be done about the next write.
    pub(super) fn next(&self, now: Nanos) -> Next {
        match self.next_due() {
            _ if self.granted() => Next::Now,
            Some(due) if due <= now && self.flat_out() => Next::Now,
            Some(due) => Next::At(due),
            None => Next::OnGrant,
        }
    }

    /// Whether the engine has produced what the next write needs.
    fn granted(&self) -> bool {
        let WritePace::Engine(granted) = self.pace else { return false };
        match self.sent < self.until {
            _ if self.opening || self.next_drip.is_some() => false,
            true => granted.tokens >= self.sent.saturating_add(self.batch).min(self.until),
            // A failure comes when the token in its place would have been due.
            false => granted.tokens > self.until || self.failure == Some(Failure::Drip),
        }
    }

    /// Whether it streams as fast as the socket accepts.
    pub(super) fn flat_out(&self) -> bool {
        matches!(self.pace, WritePace::Script { script, .. } if script.itl == 0)
            && self.next_drip.is_none()
    }

    /// When the current write was due, if this stream knows: at full speed only the first token has a
    /// due time, and the engine counts its own lateness.
    fn own_due(&self) -> Option<Nanos> {
        match self.pace {
            WritePace::Script { script, .. } if script.itl > 0 || self.sent == 0 => self.next_due(),
            _ => None,
        }
    }

    /// Tokens that have been rendered.
    pub(super) fn sent(&self) -> u32 {
        self.sent
    }

    /// Renders the next write.
    pub(super) fn step(&mut self, burst: &mut Burst) -> Stepped {
        if std::mem::take(&mut self.opening) {
            self.open(burst);
            return Stepped { after: After::Continue, due: None };
        }
        let due = self.own_due().filter(|_| self.next_drip.is_none());
        if self.sent >= self.until {
            return Stepped { after: self.end(burst), due };
        }
        for k in self.sent..self.batch_end() {
            self.token(burst, k);
        }
        self.sent = self.batch_end();
        if self.sent < self.tokens {
            return Stepped { after: After::Continue, due };
        }
        burst.flush();
        self.tail(burst);
        Stepped { after: After::Done, due }
    }

    /// Where the tokens of the next write end: the engine's may be more than a batch, if they
    /// were not written in time.
    fn batch_end(&self) -> u32 {
        match self.pace {
            WritePace::Script { .. } => self.sent.saturating_add(self.batch).min(self.until),
            WritePace::Engine(granted) => {
                let most = self.sent.saturating_add(self.batch.max(MOST_AT_ONCE));
                granted.tokens.min(self.until).min(most)
            }
        }
    }

    fn open(&mut self, burst: &mut Burst) {
        if self.quirks.has(Quirk::Comments) {
            self.framing.comment(burst);
        }
        if self.chunks.opens_early() {
            self.chunks.open(&mut self.framing.out(burst));
        }
    }

    /// When token `k` came, since the request was read.
    fn at(&self, k: u32) -> Nanos {
        match self.pace {
            WritePace::Script { script, .. } => script.due(k),
            WritePace::Engine(granted) => granted.came.saturating_sub(granted.start),
        }
    }

    fn token(&mut self, burst: &mut Burst, k: u32) {
        let damage = match self.failure {
            Some(Failure::NotJson) if k == self.tokens / 2 => Some(StreamDamage::NotJson),
            Some(Failure::Oversize) if k == self.tokens / 2 => Some(StreamDamage::Oversize),
            _ => None,
        };
        let end = (k + 1 == self.tokens).then_some(self.finish);
        let token = ResponseToken { k, at: self.at(k) };
        let mut out = match damage {
            Some(damage) => self.framing.damaged(burst, damage),
            None => self.framing.out(burst),
        };
        self.chunks.token(&mut out, token, end);
    }

    /// What follows the last token of a whole response.
    fn tail(&mut self, burst: &mut Burst) {
        let at = self.at(self.tokens.saturating_sub(1));
        self.chunks.close(&mut self.framing.out(burst), at);
        self.framing.end(burst);
    }

    /// What comes instead of the token that would be due now.
    fn end(&mut self, burst: &mut Burst) -> After {
        match self.failure {
            Some(Failure::Reset) => After::Reset,
            Some(Failure::Close) => After::Close,
            Some(Failure::Stall | Failure::StallHeaders) => After::Hold,
            Some(Failure::BadChunk) => {
                self.framing.bad_chunk(burst);
                After::Hold
            }
            Some(Failure::ErrorEvent) => {
                let message = "The engine died in the middle of this response.";
                self.chunks.fail(&mut self.framing.out(burst), message);
                self.framing.end(burst);
                After::Done
            }
            Some(Failure::Truncate) => {
                self.framing.end(burst);
                After::Done
            }
            Some(Failure::NoFinishReason) => {
                self.chunks.give_up(&mut self.framing.out(burst));
                self.framing.end(burst);
                After::Done
            }
            Some(Failure::TruncateEvent) => {
                let token = ResponseToken { k: self.sent, at: self.at(self.sent) };
                let mut out = self.framing.damaged(burst, StreamDamage::Half);
                self.chunks.token(&mut out, token, None);
                self.framing.end(burst);
                After::Done
            }
            Some(Failure::Drip) => {
                let due = match self.pace {
                    WritePace::Script { .. } => self.next_due(),
                    WritePace::Engine(granted) => self.next_drip.or(Some(granted.at)),
                };
                self.framing.comment(burst);
                self.next_drip = due.map(|due| due.saturating_add(DRIP));
                After::Continue
            }
            _ => {
                let at = self.at(0);
                self.chunks.end_without_tokens(&mut self.framing.out(burst), self.finish, at);
                self.tail(burst);
                After::Done
            }
        }
    }
}
