//! Streams of random numbers by purpose, and what is drawn from them for the positions of a text.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Pieces at the beginning of a text that tell its number where texts are to be unique.
pub(crate) const UNIQUE: u32 = 16;

/// A stream of random numbers for one purpose and number.
pub(crate) fn stream(
    (seed, level, edition): (u64, u32, u32),
    purpose: &[u8; 8],
    number: u64,
) -> ChaCha8Rng {
    let mut key = [0_u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..12].copy_from_slice(&level.to_le_bytes());
    key[12..16].copy_from_slice(&edition.to_le_bytes());
    key[16..24].copy_from_slice(purpose);
    key[24..].copy_from_slice(&number.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// One of so many.
pub(crate) fn draw(rng: &mut ChaCha8Rng, among: usize) -> usize {
    ((u64::from(rng.next_u32()) * among as u64) >> 32) as usize
}

/// A beginning that no other number has: the number in digits, lowest first, so that neighbours
/// differ from the first piece on. What is drawn is the same for all and only shifts the digits.
pub(crate) struct Beginning {
    digits: u64,
    shifts: ChaCha8Rng,
}

impl Beginning {
    /// The beginning of the text with this number.
    pub(crate) fn new(shifts: ChaCha8Rng, number: u64) -> Self {
        Self { digits: number, shifts }
    }

    /// The next piece.
    pub(crate) fn choose(&mut self, among: usize) -> usize {
        let shift = draw(&mut self.shifts, among);
        let digit = (self.digits % among as u64) as usize;
        self.digits /= among as u64;
        (digit + shift) % among
    }
}
