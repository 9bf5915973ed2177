//! What the chance in prompts depends on. Lengths and words have streams of their own, so that the same
//! lengths can be sent again in other words, which no prefix cache knows.

use crate::random::draws::{Beginning, stream};
use rand_chacha::ChaCha8Rng;

/// What the chance in a level's prompts depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Key {
    /// Seed of the run.
    pub seed: u64,
    /// The level whose words they are.
    pub level: u32,
    /// The level whose lengths they have: rounds of the same level share theirs.
    pub lengths: u32,
    /// Sets apart the words of what is sent by the same plan: the other side of a comparison, and
    /// another attempt of a run that is resumed.
    pub edition: u32,
    /// Sets apart beginnings that no other run may have, whatever its seed.
    pub run: u64,
}

impl Key {
    /// The prompts of a level.
    pub fn new(seed: u64, level: u32) -> Self {
        Self { seed, level, lengths: level, ..Self::default() }
    }

    /// Of another series within the same level.
    #[must_use]
    pub(crate) fn apart(self, bit: u32) -> Self {
        Self { level: self.level ^ bit, lengths: self.lengths ^ bit, ..self }
    }

    /// Decides lengths, numbers and times.
    pub(crate) fn of_lengths(&self, purpose: &[u8; 8], number: u64) -> ChaCha8Rng {
        stream((self.seed, self.lengths, 0), purpose, number)
    }

    /// Decides words.
    pub(crate) fn of_words(&self, purpose: &[u8; 8], number: u64) -> ChaCha8Rng {
        stream((self.seed, self.level, self.edition), purpose, number)
    }

    /// Decides words that all levels of a run share.
    pub(crate) fn of_run(&self, purpose: &[u8; 8], number: u64) -> ChaCha8Rng {
        stream((self.seed, 0, 0), purpose, number)
    }

    /// A beginning that no other number has, nor any of another run.
    pub(crate) fn beginning(&self, number: u64) -> Beginning {
        Beginning::new(self.of_words(b"unique  ", self.run), number)
    }
}
