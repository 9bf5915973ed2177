//! A fast hash map for keys that are already numbers: ids and block hashes. Nothing depends on its
//! order.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by number.
pub(crate) type NumberMap<V> = HashMap<u64, V, BuildHasherDefault<Scatter>>;

/// Spreads numbers over the map.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scatter(u64);

impl Hasher for Scatter {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        let product = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
