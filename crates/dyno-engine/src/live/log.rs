//! A list of all that happened in a live engine, so that it can be played again.

use crate::core::Step;
use dyno_model::Nanos;
use std::sync::{Arc, Mutex, PoisonError};

/// Something that happened in a live engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveEvent {
    /// A request was taken.
    Arrived {
        /// When its last byte was read.
        at: Nanos,
        /// Its name.
        id: u64,
        /// Tokens of its prompt.
        input: u32,
        /// Tokens of its response.
        output: u32,
        /// Hashes of the full blocks of its prompt.
        hashes: Vec<u64>,
    },
    /// A request was taken out before its end.
    Left {
        /// When.
        at: Nanos,
        /// Its name.
        id: u64,
    },
    /// A step has ended.
    Stepped(Step),
}

/// A list of all that happened, in order. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct LiveLog(Arc<Mutex<Vec<LiveEvent>>>);

impl LiveLog {
    /// Takes what was listed so far.
    pub fn take(&self) -> Vec<LiveEvent> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn push(&self, event: LiveEvent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}
