//! The front end of the reference implementation: one server, whose work is done one after another.

use crate::reference::parts;
use dyno_engine::core::Front;
use dyno_model::Nanos;

#[derive(Debug, Clone)]
pub(crate) struct PlainFront {
    request: u128,
    chunk: u128,
    merges: bool,
    latency: Nanos,
    /// When its work is done, in parts of a nanosecond.
    free_at: u128,
    /// When the last token is seen.
    last_seen: u128,
}

/// When the tokens of a step are seen.
pub(crate) struct PlainSeen {
    from: Nanos,
    to: Nanos,
}

impl PlainSeen {
    pub(crate) fn first(&self) -> Nanos {
        self.to
    }

    /// The golden ratio spreads requests over the time that the tokens of a step take.
    pub(crate) fn of(&self, admission: u64) -> Nanos {
        let golden = 0x9E37_79B9_7F4A_7C15_u128;
        let share = (u128::from(admission) + 1) * golden % (1 << 64) + 1;
        self.from + (u128::from(self.to - self.from) * share / (1 << 64)) as Nanos
    }
}

impl PlainFront {
    pub(crate) fn new(front: Front, latency: f64) -> Self {
        let processes = f64::from(front.processes);
        Self {
            request: parts(front.request / processes),
            chunk: parts(front.chunk / processes),
            merges: front.merges,
            latency: (latency * 1e9).round() as Nanos,
            free_at: 0,
            last_seen: 0,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.request == 0 && self.chunk == 0
    }

    pub(crate) fn take_in(&mut self, at: Nanos) -> Nanos {
        if self.is_idle() {
            return at + self.latency;
        }
        self.free_at = self.free_at.max(u128::from(at) << 32) + self.request;
        (self.free_at >> 32) as Nanos + self.latency
    }

    pub(crate) fn hand_out(&mut self, end: u128, tokens: u64) -> PlainSeen {
        if self.is_idle() {
            let at = (end >> 32) as Nanos;
            return PlainSeen { from: at, to: at };
        }
        let begins = end.max(self.free_at);
        let work = self.chunk * u128::from(tokens);
        let backlog = begins - end;
        let added = match self.merges {
            true if backlog >= work => 0,
            true => work - backlog,
            false => work,
        };
        self.free_at = begins + added;
        self.last_seen = self.last_seen.max(begins + work);
        PlainSeen { from: (begins >> 32) as Nanos, to: (self.last_seen >> 32) as Nanos }
    }
}
