//! How bursty a count is.

/// Variance over mean of the counts: 1 for a Poisson process, 0 for an even one. It needs two
/// counts and a mean above 0.
pub fn index_of_dispersion(counts: &[u64]) -> Option<f64> {
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<u64>() as f64 / n;
    if counts.len() < 2 || mean <= 0.0 {
        return None;
    }
    let squares: f64 = counts.iter().map(|c| (*c as f64 - mean).powi(2)).sum();
    Some(squares / (n - 1.0) / mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix;

    #[test]
    fn even_counts_have_none_and_too_few_are_absent() {
        assert_eq!(index_of_dispersion(&[4, 4, 4]), Some(0.0));
        assert_eq!(index_of_dispersion(&[4]), None);
        assert_eq!(index_of_dispersion(&[0, 0]), None);
        assert_eq!(index_of_dispersion(&[0, 2]), Some(2.0));
    }

    #[test]
    fn a_poisson_process_has_one() {
        let mut rng = SplitMix::new(5);
        let mut counts = vec![0_u64; 5_000];
        let mut at = 0.0;
        loop {
            at += -rng.unit().ln() / 3.0;
            match counts.get_mut(at as usize) {
                Some(count) => *count += 1,
                None => break,
            }
        }
        assert!((index_of_dispersion(&counts).unwrap() - 1.0).abs() < 0.1);
    }
}
