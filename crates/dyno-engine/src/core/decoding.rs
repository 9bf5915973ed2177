//! The decoding sequences as a whole: a decode step advances all of them at once, so it is enough
//! to know their number, their tokens, when the next one finishes and how many need a block next.
//!
//! Time is counted in *rounds*: decode steps since the beginning. A sequence that joined in some
//! round has as many more tokens as rounds have passed since.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The sequences that decode.
#[derive(Debug, Clone)]
pub(crate) struct Decoding {
    count: u32,
    tokens: u64,
    round: u64,
    /// How many sequences begin a block in the same rounds.
    phases: Vec<u32>,
    /// Those among them that begin one in the next round.
    next_phase: usize,
    /// Round, admission and slot of each future finish, including sequences that have left since.
    finishing: BinaryHeap<Reverse<(u64, u64, u32)>>,
}

impl Decoding {
    /// No sequences, with blocks of this many tokens.
    pub(crate) fn new(block: u32) -> Self {
        Self {
            count: 0,
            tokens: 0,
            round: 0,
            phases: vec![0; block as usize],
            next_phase: 0,
            finishing: BinaryHeap::new(),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Their tokens, prompts and responses.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Decode steps so far.
    pub(crate) fn round(&self) -> u64 {
        self.round
    }

    /// Blocks that the next round takes: one for each sequence whose newest token begins one.
    pub(crate) fn blocks_needed(&self) -> u64 {
        u64::from(self.phases[self.next_phase])
    }

    /// A sequence with this many tokens joins and finishes in this many rounds.
    pub(crate) fn join(&mut self, tokens: u64, rounds: u32, admission: u64, slot: u32) {
        self.count += 1;
        self.tokens += tokens;
        let phase = self.phase(tokens);
        self.phases[phase] += 1;
        self.finishing.push(Reverse((self.round + u64::from(rounds), admission, slot)));
    }

    /// A sequence that now has this many tokens leaves. Its entry in the finishes stays until its
    /// round.
    pub(crate) fn leave(&mut self, tokens: u64) {
        self.count -= 1;
        self.tokens -= tokens;
        let phase = self.phase(tokens);
        self.phases[phase] -= 1;
    }

    /// One round: every sequence gets a token.
    pub(crate) fn pass(&mut self) {
        self.pass_many(1);
    }

    /// So many rounds.
    pub(crate) fn pass_many(&mut self, rounds: u64) {
        self.round += rounds;
        self.tokens += u64::from(self.count) * rounds;
        self.next_phase = self.phase_after(rounds);
    }

    /// Blocks that so many rounds take.
    pub(crate) fn blocks_of_many(&self, rounds: u64) -> u64 {
        let block = self.phases.len() as u64;
        let rest = (0..rounds % block).map(|round| u64::from(self.phases[self.phase_after(round)]));
        rounds / block * u64::from(self.count) + rest.sum::<u64>()
    }

    /// The sequences that begin a block after so many rounds.
    fn phase_after(&self, rounds: u64) -> usize {
        let block = self.phases.len();
        let back =
            if rounds < block as u64 { rounds as usize } else { (rounds % block as u64) as usize };
        if back <= self.next_phase {
            self.next_phase - back
        } else {
            self.next_phase + block - back
        }
    }

    /// The next to finish: its round, admission and slot. It may have left already.
    pub(crate) fn next_to_finish(&self) -> Option<(u64, u64, u32)> {
        self.finishing.peek().map(|Reverse(next)| *next)
    }

    /// Drops the next to finish.
    pub(crate) fn drop_next(&mut self) {
        self.finishing.pop();
    }

    /// Where a sequence with this many tokens is counted: the same in all rounds, while it stays.
    fn phase(&self, tokens: u64) -> usize {
        let block = self.phases.len();
        let phase = self.next_phase + ((tokens - 1) % block as u64) as usize;
        if phase < block { phase } else { phase - block }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_needed_when_one_is_full() {
        // With three tokens, the fourth fills the block of four and the fifth begins another.
        let mut decoding = Decoding::new(4);
        decoding.join(3, 10, 0, 0);
        decoding.join(5, 10, 1, 1);
        let mut needed = Vec::new();
        for _ in 0..8 {
            needed.push(decoding.blocks_needed());
            decoding.pass();
        }
        // The second has five tokens: its newest begins a block now.
        assert_eq!(needed, [1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!((decoding.count(), decoding.tokens(), decoding.round()), (2, 24, 8));
        assert_eq!(decoding.blocks_of_many(11), 6);
        decoding.leave(11);
        decoding.leave(13);
        assert!(decoding.phases.iter().all(|count| *count == 0));
        assert_eq!(decoding.tokens(), 0);
    }

    #[test]
    fn who_finishes_first_comes_first() {
        let mut decoding = Decoding::new(1);
        decoding.join(3, 5, 0, 7);
        decoding.pass();
        decoding.join(3, 2, 1, 8);
        assert_eq!(decoding.next_to_finish(), Some((3, 1, 8)));
        decoding.drop_next();
        assert_eq!(decoding.next_to_finish(), Some((5, 0, 7)));
        assert_eq!(decoding.blocks_needed(), 2);
    }
}
