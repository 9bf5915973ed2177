//! The front end of the reference implementation: one server, whose work is done one after another.

use super::reference::parts;
use dyno_engine::core::Front;
use dyno_model::Nanos;

#[derive(Debug, Clone)]
pub(crate) struct PlainFront {
    request: u128,
    input: u128,
    pub(crate) turns: u32,
    chunk: u128,
    merges: u32,
    latency: Nanos,
    /// When its work is done, in parts of a nanosecond.
    free_at: u128,
    /// From when to when the tokens of the last step are seen that did not join others.
    last: (u128, u128),
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
        Self {
            request: parts(front.request / f64::from(front.turns)),
            input: parts(front.input / f64::from(front.turns)),
            turns: front.turns,
            chunk: parts(front.chunk),
            merges: front.merges,
            latency: (latency * 1e9).round() as Nanos,
            free_at: 0,
            last: (0, 0),
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.request == 0 && self.input == 0 && self.chunk == 0
    }

    /// One turn of a request.
    pub(crate) fn turn(&mut self, at: Nanos, input: u64) -> Nanos {
        if self.is_idle() {
            return at;
        }
        let work = self.request + self.input * u128::from(input);
        self.free_at = self.free_at.max(u128::from(at) << 32) + work;
        (self.free_at >> 32) as Nanos
    }

    pub(crate) fn latency(&self) -> Nanos {
        self.latency
    }

    pub(crate) fn hand_out(&mut self, end: u128, tokens: u64) -> PlainSeen {
        if self.is_idle() {
            let at = (end >> 32) as Nanos;
            return PlainSeen { from: at, to: at };
        }
        let nobody_has_any = self.last.0 >> 32 > end >> 32;
        if !(nobody_has_any && tokens <= u64::from(self.merges)) {
            let begins = end.max(self.free_at);
            self.free_at = begins + self.chunk * u128::from(tokens);
            self.last = (begins, self.free_at);
        }
        PlainSeen { from: (self.last.0 >> 32) as Nanos, to: (self.last.1 >> 32) as Nanos }
    }
}
