//! A search on a twin, level by level.

use super::Lab;
use dyno_search::capacity::{Answer, Capacity, Start};
use dyno_search::{Kind, Measured, Next};
use dyno_stats::rng::SplitMix;

/// A search that is over.
pub(crate) struct Searched {
    pub(crate) answer: Answer,
    pub(crate) levels: Vec<Measured>,
}

/// Searches a twin's capacity; each seed is another day.
pub(crate) fn search(lab: &Lab, seed: u64) -> Searched {
    let start = match lab.kind {
        Kind::Concurrency => Start::Between([1.0, 512.0]),
        _ => Start::Probe(512),
    };
    let search = Capacity::new(lab.kind, start);
    let mut seeds = SplitMix::new(seed);
    let mut levels = Vec::new();
    loop {
        match search.next(&levels) {
            Next::Level(wish) => levels.push(lab.level(wish.kind, wish.load, seeds.next_u64())),
            Next::Done(answer) => return Searched { answer, levels },
        }
    }
}
