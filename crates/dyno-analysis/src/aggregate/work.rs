//! The work done in a steady window.
//!
//! A request counts with the share of its latency that lies inside, and so do its tokens of every kind, its
//! texts and bytes: where all requests have the same lengths, tokens/s is requests/s times tokens, and
//! requests/s times latency is what was in flight. Input tokens counted where a request begins contradicted
//! the first by a fifth. Shares of output tokens, as they arrive, contradicted the second by up to a fifth in
//! short levels: a window has the prompts of a batch from its beginning on, but lacks the tokens that they
//! were read for if it ends in the middle of it. Counted by their ends, a batch would be inside or outside as
//! a whole.

use super::steady::Window;
use dyno_model::record::{RequestRecord, TokenCount};
use dyno_model::summary::{Steady, Throughput, round6, tidy};
use dyno_model::units::to_s;

const MICRO: u128 = 1_000_000;

/// Work inside a window: as printed, and the least and the most that may have been inside.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    window: Window,
    sums: [Sums; 3],
    output_unknown: bool,
    input_unknown: bool,
}

/// Sums in millionths, so that the order of addition does not matter.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    requests_micro: u128,
    output_micro: u128,
    input_micro: u128,
    /// Texts and bytes of the responses to them.
    inputs_micro: u128,
    bytes_micro: u128,
}

impl Sums {
    /// Adds a share of everything that one request is worth.
    fn add(&mut self, whole: Sums, share: impl Fn(u128) -> u128) {
        self.requests_micro += share(whole.requests_micro);
        self.output_micro += share(whole.output_micro);
        self.input_micro += share(whole.input_micro);
        self.inputs_micro += share(whole.inputs_micro);
        self.bytes_micro += share(whole.bytes_micro);
    }
}

/// Millionths of some work inside the window: as printed, at least, at most.
type Shares = [u128; 3];

/// A time, and how much earlier it may have been.
#[derive(Debug, Clone, Copy)]
struct Moment {
    at: u64,
    width: u64,
}

impl Moment {
    fn earliest(self) -> u64 {
        self.at.saturating_sub(self.width)
    }
}

impl Window {
    /// Which part of what was done from one time to another was done inside.
    fn share(&self, from: u64, to: u64) -> u128 {
        if to <= from {
            return u128::from((self.from..=self.to).contains(&to)) * MICRO;
        }
        let inside = to.min(self.to).saturating_sub(from.max(self.from));
        u128::from(inside) * MICRO / u128::from(to - from)
    }

    /// The same where the times are not known exactly. Between two edges the share rises or falls
    /// throughout, so that the least and the most are those of the extreme times.
    fn shares(&self, from: Moment, to: Moment) -> Shares {
        if from.earliest() >= self.from && to.at <= self.to {
            return [MICRO; 3];
        }
        if to.at < self.from || from.earliest() > self.to {
            return [0; 3];
        }
        let printed = self.share(from.at, to.at);
        let (mut least, mut most) = (printed, printed);
        for from in [from.at, from.earliest()] {
            for to in [to.at, to.earliest()] {
                let share = self.share(from, to);
                (least, most) = (least.min(share), most.max(share));
            }
        }
        [printed, least, most]
    }
}

impl Work {
    pub(crate) fn new(window: Window) -> Self {
        let sums = [Sums::default(); 3];
        Self { window, sums, output_unknown: false, input_unknown: false }
    }

    /// Counts what a completed request did inside the window; warm-up counts, too, because the server did
    /// the work.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        if !record.is_completed() {
            return;
        }
        let widths = record.widths.unwrap_or_default();
        let ended = Moment { at: record.end, width: widths.end };
        let sent = record.sent.map_or(ended, |at| Moment { at, width: widths.sent });
        let inside = self.window.shares(sent, ended);
        self.output_unknown |= record.output.is_none() && inside[0] > 0;
        self.input_unknown |= record.input.is_none() && inside[0] > 0;
        let tokens = |count: Option<TokenCount>| count.map_or(0, |count| u128::from(count.tokens));
        let whole = Sums {
            requests_micro: 1,
            output_micro: tokens(record.output),
            input_micro: tokens(record.input),
            inputs_micro: record.inputs.map_or(0, u128::from),
            bytes_micro: record.inputs.and(record.body_bytes).map_or(0, u128::from),
        };
        for (sums, inside) in self.sums.iter_mut().zip(inside) {
            sums.add(whole, |n| n * inside);
        }
    }

    pub(crate) fn steady(&self) -> Steady {
        let [printed, ..] = &self.sums;
        Steady { window_s: round6(to_s(self.window.length())), throughput: self.per_s(printed) }
    }

    /// The least and the most that the work may have been.
    pub(crate) fn bounds(&self) -> [Throughput; 2] {
        let [_, least, most] = &self.sums;
        [self.per_s(least), self.per_s(most)]
    }

    fn per_s(&self, sums: &Sums) -> Throughput {
        let seconds = to_s(self.window.length());
        let whole = |micro: u128| micro as f64 / MICRO as f64;
        let per_s = |n: f64| tidy(n / seconds);
        let texts = sums.inputs_micro > 0;
        let output = Some(whole(sums.output_micro)).filter(|_| !self.output_unknown && !texts);
        let generated = if texts { Some(0.0) } else { output };
        let input = Some(whole(sums.input_micro)).filter(|_| !self.input_unknown);
        let total = generated.zip(input).map(|(output, input)| output + input);
        let of_texts = |micro: u128| texts.then(|| whole(micro));
        Throughput {
            requests_per_s: per_s(whole(sums.requests_micro)),
            output_tokens_per_s: output.and_then(per_s),
            total_tokens_per_s: total.and_then(per_s),
            inputs_per_s: of_texts(sums.inputs_micro).and_then(per_s),
            input_tokens_per_s: input.filter(|_| texts).and_then(per_s),
            body_bytes_per_s: of_texts(sums.bytes_micro).and_then(per_s),
        }
    }
}
