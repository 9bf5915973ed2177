//! Correction for multiple comparisons: the more metrics are compared, the likelier one differs by
//! chance.

/// One of several tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tested {
    /// Its corrected p-value.
    pub(super) corrected: f64,
    /// The probability by which it was decided: its interval that misses the truth so often
    /// contains no change exactly where the corrected p-value is at least `chance`.
    pub(super) chance: f64,
}

/// Corrects the p-values of several tests by Holm's method, in their order. If those below `chance`
/// are called different, the probability of any false call is at most `chance`, however they depend
/// on each other.
pub(super) fn holm(chances: &[f64], chance: f64) -> Vec<Tested> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut tested = vec![Tested { corrected: 1.0, chance }; chances.len()];
    let mut least = 0.0_f64;
    let mut of_first_uncalled = None;
    for (rank, at) in order.into_iter().enumerate() {
        let left = (chances.len() - rank) as f64;
        least = least.max((chances[at] * left).min(1.0));
        // The first test that calls nothing decides for all after it.
        let mut own = chance / left;
        if least >= chance {
            own = *of_first_uncalled.get_or_insert(own);
        }
        tested[at] = Tested { corrected: least, chance: own };
    }
    tested
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn corrected(chances: &[f64]) -> Vec<f64> {
        holm(chances, 0.05).into_iter().map(|tested| tested.corrected).collect()
    }

    #[test]
    fn a_worked_example() {
        let got = corrected(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{got} and {expected}");
        }
        assert_eq!(corrected(&[]), Vec::<f64>::new());
        assert_eq!(corrected(&[0.2]), [0.2]);
    }

    proptest! {
        #[test]
        fn never_below_what_it_was_and_in_the_same_order(
            chances in proptest::collection::vec(0.0_f64..=1.0, 1..20),
        ) {
            let corrected = corrected(&chances);
            for (i, p) in chances.iter().enumerate() {
                prop_assert!((*p..=1.0).contains(&corrected[i]));
                prop_assert!(corrected[i] <= p * chances.len() as f64 + 1e-12);
                for (j, q) in chances.iter().enumerate() {
                    prop_assert!(p > q || corrected[i] <= corrected[j]);
                }
            }
        }

        /// The interval at a test's own chance contains no change where its p-value is no smaller.
        #[test]
        fn the_chance_that_decides_agrees_with_the_corrected_p_value(
            chances in proptest::collection::vec(0.0_f64..=0.1, 1..20),
        ) {
            for (p, tested) in chances.iter().zip(holm(&chances, 0.05)) {
                prop_assert_eq!(tested.corrected < 0.05, *p < tested.chance, "{} {:?}", p, tested);
            }
        }

        #[test]
        fn one_more_test_makes_no_other_chance_smaller(
            chances in proptest::collection::vec(0.0_f64..=1.0, 1..12),
            more in 0.0_f64..=1.0,
        ) {
            let before = corrected(&chances);
            let after = corrected(&[chances.as_slice(), &[more]].concat());
            prop_assert!(before.iter().zip(&after).all(|(b, a)| a >= b));
        }
    }
}
