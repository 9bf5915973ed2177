//! On which side of a bound a quantile lies, judged by how many of a few samples lie beyond the bound.
//!
//! If the quantile were above the bound, each sample would be beyond it with a probability of more than
//! one less the quantile's share. How unlikely that makes what was counted is the binomial
//! distribution, exactly and whatever the distribution of the samples. It is the same as asking
//! whether the bound is outside the 95 % interval that order statistics give for the quantile.

/// The probability of each of the two errors: half of what a 95 % interval leaves out.
const MISTAKE: f64 = 0.025;

/// On which side of a bound a quantile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailSide {
    /// Surely within the bound.
    Within,
    /// Surely beyond it.
    Beyond,
    /// Inconclusive.
    Open,
}

/// On which side of a bound the quantile at `share` lies, when between `beyond[0]` and `beyond[1]`
/// of `count` independent samples are beyond the bound.
pub fn side(share: f64, count: u64, beyond: [u64; 2]) -> TailSide {
    let chance = 1.0 - share;
    if count == 0 || !(0.0..1.0).contains(&share) {
        TailSide::Open
    } else if at_most(beyond[1], count, chance) <= MISTAKE {
        TailSide::Within
    } else if at_least(beyond[0], count, chance) <= MISTAKE {
        TailSide::Beyond
    } else {
        TailSide::Open
    }
}

/// How many times the largest of `count` samples the quantile at `share` may be, in a distribution
/// whose tail is exponential. From 368 samples on (p99) it is 1: there the largest sample is above
/// the quantile whatever the distribution.
pub fn reach(share: f64, count: u64) -> f64 {
    let surely_seen = 1.0 - MISTAKE.powf(1.0 / count as f64);
    match count {
        0 => f64::INFINITY,
        _ => ((1.0 - share).ln() / surely_seen.ln()).max(1.0),
    }
}

/// How many more samples would be conclusive if the same share of them is beyond the bound; at most
/// as many as are missing to `enough`.
pub fn more(share: f64, count: u64, beyond: [u64; 2], enough: u64) -> u64 {
    let missing = enough.saturating_sub(count);
    let scaled = |number: u64, of: u64| {
        (u128::from(number) * u128::from(of) / u128::from(count.max(1))) as u64
    };
    let tells = |more: u64| {
        let all = count + more;
        // Of samples to come, as many as can be are beyond the bound, and as few.
        let [fewest, most] = beyond.map(|number| scaled(number, all));
        side(share, all, [fewest, most + u64::from(most > 0)]) != TailSide::Open
    };
    let (mut low, mut high) = (0, missing);
    while low < high {
        let middle = low + (high - low) / 2;
        if tells(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// The probability of `number` or fewer of `count`, each with a probability of its own.
fn at_most(number: u64, count: u64, chance: f64) -> f64 {
    if number >= count {
        return 1.0;
    }
    let odds = (chance / (1.0 - chance)).ln();
    let mut log = count as f64 * (-chance).ln_1p();
    let mut sum = log.exp();
    for i in 0..number {
        log += ((count - i) as f64 / (i + 1) as f64).ln() + odds;
        sum += log.exp();
    }
    sum.min(1.0)
}

/// The probability of `number` or more.
fn at_least(number: u64, count: u64, chance: f64) -> f64 {
    match number.checked_sub(1) {
        Some(fewer) => (1.0 - at_most(fewer, count, chance)).max(0.0),
        None => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_binomial_distribution_is_that_of_the_books() {
        assert!((at_most(0, 10, 0.1) - 0.348_678).abs() < 1e-6);
        assert!((at_most(2, 10, 0.1) - 0.929_809).abs() < 1e-6);
        assert!((at_least(3, 10, 0.1) - 0.070_191).abs() < 1e-6);
        assert!((at_most(5, 1_000, 0.01) - 0.066_14).abs() < 1e-5);
        assert_eq!((at_most(10, 10, 0.5), at_least(0, 10, 0.5)), (1.0, 1.0));
    }

    #[test]
    fn a_p99_within_its_bound_takes_368_samples_without_any_beyond() {
        assert_eq!(side(0.99, 367, [0, 0]), TailSide::Open);
        assert_eq!(side(0.99, 368, [0, 0]), TailSide::Within);
        assert_eq!(side(0.5, 5, [0, 0]), TailSide::Open);
        assert_eq!(side(0.5, 6, [0, 0]), TailSide::Within);
        assert_eq!(side(0.99, 0, [0, 0]), TailSide::Open);
    }

    #[test]
    fn more_beyond_than_the_percentile_allows_is_beyond() {
        assert_eq!(side(0.99, 100, [1, 1]), TailSide::Open);
        assert_eq!(side(0.99, 100, [3, 3]), TailSide::Open);
        assert_eq!(side(0.99, 100, [4, 4]), TailSide::Beyond);
        assert_eq!(side(0.9, 20, [20, 20]), TailSide::Beyond);
        assert_eq!(
            side(0.99, 500, [0, 9]),
            TailSide::Open,
            "the counts must tell it whichever it is"
        );
    }

    #[test]
    fn a_tail_reaches_less_far_beyond_many_samples() {
        assert!((reach(0.99, 20) - 2.585).abs() < 0.01, "{}", reach(0.99, 20));
        assert!((reach(0.99, 100) - 1.388).abs() < 0.01, "{}", reach(0.99, 100));
        assert_eq!(reach(0.99, 368), 1.0);
        assert_eq!(reach(0.99, 0), f64::INFINITY);
        assert!(reach(0.5, 20) == 1.0 && reach(0.999, 1_000) > 1.0);
    }

    #[test]
    fn what_is_missing_is_enough_and_no_more() {
        assert_eq!(more(0.99, 100, [0, 0], 1_000), 268);
        assert_eq!(
            more(0.99, 999, [10, 10], 1_000),
            1,
            "with enough samples the value itself decides"
        );
        assert_eq!(more(0.99, 100, [5, 5], 1_000), 0);
    }

    proptest! {
        #[test]
        fn samples_to_come_never_exceed_what_is_enough(
            count in 1_u64..2_000, beyond in 0_u64..50, enough in 1_u64..3_000,
        ) {
            let beyond = [beyond.min(count); 2];
            let more = more(0.99, count, beyond, enough);
            prop_assert!(more <= enough.saturating_sub(count));
        }

        #[test]
        fn a_side_is_never_both(share in 0.5_f64..0.999, count in 1_u64..3_000, k in 0_u64..3_000) {
            let k = k.min(count);
            let chance = 1.0 - share;
            let both = at_most(k, count, chance) <= MISTAKE && at_least(k, count, chance) <= MISTAKE;
            prop_assert!(!both);
        }
    }
}
