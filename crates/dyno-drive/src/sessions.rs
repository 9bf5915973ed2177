//! Conversations in progress: which of them wait for a response, and when each user's next turn is
//! due. A turn is built from the response to the previous one, which keeps turns in order.

use crate::transport::{Ended, Payload};
use crate::work::{Dialogue, NextTurn};
use dyno_model::Nanos;
use dyno_model::record::TurnOfSession;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

/// A conversation, with the turn that was sent last.
struct Talk<B> {
    dialogue: Box<dyn Dialogue<B>>,
    turn: TurnOfSession,
}

/// A turn that is not due yet, or waits for a slot.
pub(crate) struct Thinking<B> {
    /// When it is to be sent.
    pub(crate) due: Nanos,
    /// How much earlier that may have been.
    pub(crate) slack: Nanos,
    pub(crate) slot: u32,
    pub(crate) payload: Payload<B>,
    talk: Talk<B>,
}

impl<B> Thinking<B> {
    /// Its place in the conversation.
    pub(crate) fn next_turn(&self) -> TurnOfSession {
        TurnOfSession { number: self.talk.turn.number + 1, ..self.talk.turn }
    }

    /// Turns due at the same time go in the order of their conversations.
    fn key(&self) -> (Nanos, u64) {
        (self.due, self.talk.turn.session)
    }
}

impl<B> PartialEq for Thinking<B> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<B> Eq for Thinking<B> {}

impl<B> PartialOrd for Thinking<B> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<B> Ord for Thinking<B> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// The conversations of a level; empty where requests are independent.
pub(crate) struct OpenSessions<B> {
    /// By the index of the request that is in flight.
    answering: HashMap<u64, Talk<B>>,
    thinking: BinaryHeap<Reverse<Thinking<B>>>,
}

impl<B> Default for OpenSessions<B> {
    fn default() -> Self {
        Self { answering: HashMap::new(), thinking: BinaryHeap::new() }
    }
}

impl<B> OpenSessions<B> {
    /// The first turn of the conversation number `session` goes out as the request of this index.
    pub(crate) fn begin(
        &mut self,
        index: u64,
        session: u64,
        dialogue: Box<dyn Dialogue<B>>,
    ) -> TurnOfSession {
        let turn = TurnOfSession { session, number: 1 };
        self.answering.insert(index, Talk { dialogue, turn });
        turn
    }

    /// The next turn goes out as the request of this index.
    pub(crate) fn go_on(
        &mut self,
        index: u64,
        thinking: Thinking<B>,
    ) -> (TurnOfSession, Payload<B>) {
        let turn = thinking.next_turn();
        let Thinking { mut talk, payload, .. } = thinking;
        talk.turn = turn;
        self.answering.insert(index, talk);
        (turn, payload)
    }

    /// A request has ended; returns whether its conversation continues. After a failure it does not:
    /// there is no response to continue from.
    pub(crate) fn ended(&mut self, ended: &Ended) -> bool {
        if self.answering.is_empty() {
            return false;
        }
        let record = &ended.record;
        let Some(mut talk) = self.answering.remove(&record.index) else { return false };
        if !record.is_completed() {
            return false;
        }
        let answer = ended.answer.as_deref().unwrap_or_default();
        let Some(NextTurn { think, payload }) = talk.dialogue.next(answer) else { return false };
        let due = record.end.saturating_add(think);
        let (slot, slack) = (record.slot, record.widths.map_or(0, |widths| widths.end));
        self.thinking.push(Reverse(Thinking { due, slack, slot, payload, talk }));
        true
    }

    /// When the next turn is to be sent.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.thinking.peek().map(|Reverse(first)| first.due)
    }

    /// A turn that is due.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<Thinking<B>> {
        if self.next_due()? > now {
            return None;
        }
        self.thinking.pop().map(|Reverse(first)| first)
    }

    /// Sending has stopped: no conversation continues.
    pub(crate) fn break_off(&mut self) {
        self.answering.clear();
        self.thinking.clear();
    }

    /// No turn is waiting.
    pub(crate) fn nobody_thinks(&self) -> bool {
        self.thinking.is_empty()
    }
}
