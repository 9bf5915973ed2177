//! Correction for multiple comparisons: the more metrics are compared, the likelier one differs by
//! chance.

/// Corrects the p-values of several tests by Holm's method, in their order. If those below 5 % are
/// called different, the probability of any false call is at most 5 %, however they depend on each
/// other.
pub fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut corrected = vec![1.0; chances.len()];
    let mut least = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        let left = (chances.len() - rank) as f64;
        least = least.max((chances[at] * left).min(1.0));
        corrected[at] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_worked_example() {
        let got = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{got} and {expected}");
        }
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.2]), [0.2]);
    }

    proptest! {
        #[test]
        fn never_below_what_it_was_and_in_the_same_order(
            chances in proptest::collection::vec(0.0_f64..=1.0, 1..20),
        ) {
            let corrected = holm(&chances);
            for (i, p) in chances.iter().enumerate() {
                prop_assert!((*p..=1.0).contains(&corrected[i]));
                prop_assert!(corrected[i] <= p * chances.len() as f64 + 1e-12);
                for (j, q) in chances.iter().enumerate() {
                    prop_assert!(p > q || corrected[i] <= corrected[j]);
                }
            }
        }

        #[test]
        fn one_more_test_makes_no_other_chance_smaller(
            chances in proptest::collection::vec(0.0_f64..=1.0, 1..12),
            more in 0.0_f64..=1.0,
        ) {
            let before = holm(&chances);
            let after = holm(&[chances.as_slice(), &[more]].concat());
            prop_assert!(before.iter().zip(&after).all(|(b, a)| a >= b));
        }
    }
}
