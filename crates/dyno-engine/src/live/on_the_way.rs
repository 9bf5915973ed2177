//! Tokens that the engine has handed out and the front end has not sent yet, in the order in which
//! it will.

use crate::core::{Core, Token};
use dyno_model::Nanos;
use std::collections::VecDeque;

/// A token, and what is reported with the first one of a response: by the time it is sent, the
/// engine may have forgotten it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) token: Token,
    /// Cached prompt tokens; absent without a prefix cache.
    pub(super) cached: Option<u32>,
    /// When its request was admitted.
    pub(super) entered: Option<Nanos>,
}

impl Sent {
    /// A token of the step just committed.
    pub(super) fn new(token: Token, core: &Core) -> Self {
        let first = token.number == 1;
        let entry = first.then(|| core.entered(token.id)).flatten();
        let cached = first.then(|| core.cached(token.id)).flatten();
        Self { token, cached, entered: entry.map(|entry| entry.at) }
    }
}

/// Tokens by time; those at the same time in the order in which they were handed out.
#[derive(Debug, Default)]
pub(super) struct OnTheWay(VecDeque<Sent>);

impl OnTheWay {
    /// Adds the tokens of a step.
    pub(super) fn extend(&mut self, sent: impl Iterator<Item = Sent>) {
        self.0.extend(sent);
        self.0.make_contiguous().sort_by_key(|sent| sent.token.at);
    }

    /// When the next is sent.
    pub(super) fn next_at(&self) -> Option<Nanos> {
        self.0.front().map(|sent| sent.token.at)
    }

    /// Takes out those that are sent by `now`.
    pub(super) fn take_until(&mut self, now: Nanos) -> Vec<Sent> {
        let due = self.0.partition_point(|sent| sent.token.at <= now);
        self.0.drain(..due).collect()
    }
}
