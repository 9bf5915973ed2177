//! The order in which items are taken: as the file has them, or shuffled by seed within a window
//! of bounded memory.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::dataset::DataReading;
use super::edit::weight;
use super::error::DataError;
use dyno_model::prompt::Item;

/// Items that a shuffle keeps in memory at most.
pub const MAX_WINDOW_ITEMS: usize = 100_000;
/// About how many bytes a shuffle keeps in memory; one more item than fits may be kept.
pub const MAX_WINDOW_BYTES: usize = 64 * 1024 * 1024;

/// The order of the items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DataOrder {
    /// As the file has them.
    #[default]
    File,
    /// Shuffled by the seed. Data that fit into the window ([`MAX_WINDOW_ITEMS`] items and
    /// [`MAX_WINDOW_BYTES`] bytes) come in uniformly random order. For larger data, a window is kept
    /// full and each next item is drawn from it: an item can come any time later than its place in the
    /// file, and at most one window earlier.
    Shuffle,
}

/// A window of items, in random order.
pub(super) struct Shuffled {
    reading: DataReading,
    window: Vec<Item>,
    weight: usize,
    limits: (usize, usize),
    rng: ChaCha8Rng,
    ended: bool,
}

impl Shuffled {
    pub(super) fn new(reading: DataReading, seed: u64) -> Self {
        Self::within(reading, seed, (MAX_WINDOW_ITEMS, MAX_WINDOW_BYTES))
    }

    /// With a window of another size.
    pub(super) fn within(reading: DataReading, seed: u64, limits: (usize, usize)) -> Self {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[16..24].copy_from_slice(b"shuffle ");
        let rng = ChaCha8Rng::from_seed(key);
        Self { reading, window: Vec::new(), weight: 0, limits, rng, ended: false }
    }

    pub(super) fn reading(&self) -> &DataReading {
        &self.reading
    }

    /// The next item; all errors come before the first item they would affect.
    pub(super) fn next(&mut self) -> Option<Result<Item, DataError>> {
        let (items, bytes) = self.limits;
        while !self.ended && self.window.len() < items && self.weight < bytes {
            match self.reading.next() {
                Some(Ok(item)) => {
                    self.weight += weight(&item);
                    self.window.push(item);
                }
                Some(Err(error)) => {
                    self.ended = true;
                    self.window.clear();
                    return Some(Err(error));
                }
                None => self.ended = true,
            }
        }
        if self.window.is_empty() {
            return None;
        }
        let chosen = (u128::from(self.rng.next_u64()) * self.window.len() as u128) >> 64;
        let item = self.window.swap_remove(chosen as usize);
        self.weight -= weight(&item);
        Some(Ok(item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DataSet;
    use dyno_model::prompt::Content;

    fn shuffled(limits: (usize, usize)) -> Vec<usize> {
        let lines: String = (0..1_000).map(|n| format!("{n}\n")).collect();
        let data = DataSet::from_bytes("n", lines.as_bytes(), &"n".parse().expect("good"));
        let reading = data.expect("opens").open().expect("opens");
        let mut shuffled = Shuffled::within(reading, 7, limits);
        let mut numbers = Vec::new();
        while let Some(item) = shuffled.next() {
            assert!(shuffled.window.len() < limits.0.max(1));
            match item.expect("good").content {
                Content::Text(text) => numbers.push(text.parse().expect("a number")),
                other => panic!("not text: {other:?}"),
            }
        }
        numbers
    }

    #[test]
    fn a_window_keeps_its_size_and_loses_nothing() {
        let one_item = size_of::<Item>();
        for limits in [(10, usize::MAX), (1_000_000, 10 * one_item), (1, 1)] {
            let numbers = shuffled(limits);
            let most_early = numbers.iter().enumerate().map(|(at, n)| n.saturating_sub(at)).max();
            assert!(most_early < Some(10), "{limits:?}: {most_early:?}");
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..1_000).collect::<Vec<_>>());
            assert_eq!(numbers == sorted, limits == (1, 1));
        }
    }
}
