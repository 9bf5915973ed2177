//! A log of all events in a live engine, so that they can be replayed.

use crate::core::Step;
use dyno_model::Nanos;
use std::sync::{Arc, Mutex, PoisonError};

/// An event in a live engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveEvent {
    /// A request was accepted.
    Arrived {
        /// When its last byte was read.
        at: Nanos,
        /// Its id.
        id: u64,
        /// Tokens of its prompt.
        input: u32,
        /// Tokens of its response.
        output: u32,
        /// Hashes of the blocks that its prompt and its response fill.
        hashes: Vec<u64>,
    },
    /// A request was cancelled.
    Left {
        /// When.
        at: Nanos,
        /// Its id.
        id: u64,
    },
    /// A step has ended.
    Stepped(Step),
}

/// A log of all events, in order. Clones share the log.
#[derive(Debug, Clone, Default)]
pub struct LiveLog(Arc<Mutex<Vec<LiveEvent>>>);

impl LiveLog {
    /// Takes the events logged so far.
    pub fn take(&self) -> Vec<LiveEvent> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn push(&self, event: LiveEvent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}
