//! Keys of texts and of prefixes: 64 bits, the same on every machine and in every run.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;

/// The key of nothing, with which every prefix begins.
pub(super) const NOTHING: u64 = 0x243f_6a88_85a3_08d3;

/// The key of what has `before` as its beginning and then `next`.
pub(super) fn after(before: u64, next: u64) -> u64 {
    let mixed = (before.rotate_left(23) ^ next).wrapping_mul(PRIME);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 32)
}

/// The key of a text.
pub(super) fn of_text(text: &str) -> u64 {
    let words = text.as_bytes().chunks(8).map(|chunk| {
        let mut word = [0_u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    words.fold(after(NOTHING, text.len() as u64), after)
}

/// A hasher for keys, which are mixed already.
#[derive(Debug, Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = after(self.0, u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A set of keys.
pub(super) type Keys = HashSet<u64, BuildHasherDefault<Mixed>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_depend_on_every_part_and_on_their_order() {
        let of = |ids: &[u64]| ids.iter().copied().fold(NOTHING, after);
        let all =
            [vec![], vec![1], vec![2], vec![1, 2], vec![2, 1], vec![1, 1], vec![0], vec![0, 0]];
        let keys: HashSet<u64> = all.iter().map(|ids| of(ids)).collect();
        assert_eq!(keys.len(), all.len());
        assert_ne!(of_text("ab"), of_text("ab\0"));
        assert_ne!(of_text("12345678"), of_text("123456781"));
    }
}
