//! A search on a twin, level by level.

use super::Lab;
use dyno_search::capacity::{Capacity, CapacityAnswer, SearchStart};
use dyno_search::{LevelKind, MeasuredLevel, NextLevel};
use dyno_stats::rng::SplitMix;

/// A search that is over.
pub(crate) struct Searched {
    pub(crate) answer: CapacityAnswer,
    pub(crate) levels: Vec<MeasuredLevel>,
}

/// Searches a twin's capacity; each seed is another day.
pub(crate) fn search(lab: &Lab, seed: u64) -> Searched {
    let start = match lab.kind {
        LevelKind::Concurrency => SearchStart::Between([1.0, 512.0]),
        _ => SearchStart::Probe(512),
    };
    let search = Capacity::new(lab.kind, start);
    let mut seeds = SplitMix::new(seed);
    let mut levels = Vec::new();
    loop {
        match search.next(&levels) {
            NextLevel::Level(wish) => {
                levels.push(lab.level(wish.kind, wish.load, seeds.next_u64()))
            }
            NextLevel::Done(answer) => return Searched { answer, levels },
        }
    }
}
