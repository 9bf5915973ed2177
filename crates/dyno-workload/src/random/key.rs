//! The keys of the random generators of prompts. Lengths and words have separate streams, so that the
//! same lengths can be sent again with other words, which miss any prefix cache.

use super::draws::{Beginning, stream};
use rand_chacha::ChaCha8Rng;

/// What the random prompts of a level depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Key {
    /// Seed of the run.
    pub seed: u64,
    /// The level whose words they are.
    pub level: u32,
    /// The level whose lengths they have: rounds of the same level share theirs.
    pub lengths: u32,
    /// Makes words differ within the same plan: on the other side of a comparison, and in another
    /// attempt of a resumed run.
    pub edition: u32,
    /// Makes unique prefixes differ from those of other runs, even with the same seed.
    pub run: u64,
}

impl Key {
    /// The prompts of a level.
    pub fn new(seed: u64, level: u32) -> Self {
        Self { seed, level, lengths: level, ..Self::default() }
    }

    /// Of another series within the same level.
    #[must_use]
    pub fn apart(self, bit: u32) -> Self {
        Self { level: self.level ^ bit, lengths: self.lengths ^ bit, ..self }
    }

    /// Decides lengths, numbers and times.
    pub fn of_lengths(&self, purpose: &[u8; 8], number: u64) -> ChaCha8Rng {
        stream((self.seed, self.lengths, 0), purpose, number)
    }

    /// Decides words.
    pub fn of_words(&self, purpose: &[u8; 8], number: u64) -> ChaCha8Rng {
        stream((self.seed, self.level, self.edition), purpose, number)
    }

    /// Decides words that all levels of a run share.
    pub fn of_run(&self, purpose: &[u8; 8], number: u64) -> ChaCha8Rng {
        stream((self.seed, 0, 0), purpose, number)
    }

    /// A prefix that no other number has, nor any prompt of another run.
    pub(crate) fn beginning(&self, number: u64) -> Beginning {
        Beginning::new(self.of_words(b"unique  ", self.run), number)
    }
}
