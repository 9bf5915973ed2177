//! The order in which listed levels are measured and repeated.

use dyno_stats::rng::SplitMix;

/// The order of levels within a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GridOrder {
    /// As they were given.
    #[default]
    Given,
    /// Shuffled by a seed, differently in each round.
    Shuffled(u64),
}

/// Each of `levels` levels, `repeats` times, as its place among them and its repetition, from 0. Repeats are interleaved: all levels once, then all
/// again, so that drift over time does not look like a difference between levels.
pub fn turns(levels: usize, repeats: usize, order: GridOrder) -> Vec<(usize, usize)> {
    let mut turns = Vec::with_capacity(levels.saturating_mul(repeats));
    let mut random = SplitMix::new(match order {
        GridOrder::Given => 0,
        GridOrder::Shuffled(seed) => seed,
    });
    for round in 0..repeats {
        let from = turns.len();
        turns.extend((0..levels).map(|level| (level, round)));
        if order != GridOrder::Given {
            for left in (2..=levels).rev() {
                turns.swap(from + left - 1, from + random.below(left));
            }
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn levels(turns: &[(usize, usize)]) -> Vec<usize> {
        turns.iter().map(|(level, _)| *level).collect()
    }

    #[test]
    fn as_given_and_interleaved() {
        assert_eq!(levels(&turns(3, 2, GridOrder::Given)), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_seed_gives_one_order_and_rounds_differ() {
        let shuffled = |seed| levels(&turns(12, 2, GridOrder::Shuffled(seed)));
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
        assert_ne!(shuffled(7)[..12], shuffled(7)[12..]);
    }

    proptest! {
        #[test]
        fn each_round_has_each_level_once(
            count in 0_usize..20,
            repeats in 0_usize..5,
            seed in proptest::option::of(any::<u64>()),
        ) {
            let order = seed.map_or(GridOrder::Given, GridOrder::Shuffled);
            let all = turns(count, repeats, order);
            prop_assert_eq!(all.len(), count * repeats);
            for (round, chunk) in all.chunks(count.max(1)).enumerate() {
                prop_assert!(chunk.iter().all(|(_, at)| *at == round));
                let mut levels = levels(chunk);
                levels.sort_unstable();
                prop_assert_eq!(levels, (0..count).collect::<Vec<_>>());
            }
        }
    }
}
