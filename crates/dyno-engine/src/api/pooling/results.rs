//! Scores of texts, ordered as rerankers order them.

use super::Input;
use super::vector::put_number;

/// The score of a text, and where it stood in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scored {
    pub(super) index: usize,
    /// In millionths, from 0 to 1.
    pub(super) score: i32,
}

impl Scored {
    pub(super) fn put(self, out: &mut Vec<u8>) {
        put_number(out, self.score);
    }
}

/// The score of each input, in their order.
pub(super) fn scores(inputs: &[Input], seed: u64) -> Vec<Scored> {
    let score = |input: &Input| (input.key(seed) % 1_000_000) as i32;
    inputs.iter().enumerate().map(|(index, i)| Scored { index, score: score(i) }).collect()
}

/// The best first.
pub(super) fn ranked(inputs: &[Input], seed: u64) -> Vec<Scored> {
    let mut all = scores(inputs, seed);
    all.sort_by_key(|scored| (-scored.score, scored.index));
    all
}
