//! Whether samples come from a given distribution: the one-sample Kolmogorov–Smirnov test.

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KsTest {
    /// The largest distance between the two distribution functions.
    pub distance: f64,
    /// The probability of such a distance or a larger one, if the samples do come from it.
    pub p: f64,
}

/// Two-sided test of `samples`, in any order, against a continuous distribution function. The
/// p-value is asymptotic with Stephens' correction: good from about five samples on.
pub fn ks_one_sample(samples: &[f64], cdf: impl Fn(f64) -> f64) -> Option<KsTest> {
    if samples.is_empty() {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let distance = sorted.iter().enumerate().fold(0.0_f64, |worst, (i, x)| {
        let f = cdf(*x);
        worst.max(f - i as f64 / n).max((i + 1) as f64 / n - f)
    });
    let root = n.sqrt();
    Some(KsTest { distance, p: survival((root + 0.12 + 0.11 / root) * distance) })
}

/// Kolmogorov's limiting distribution: the probability of exceeding `t`.
fn survival(t: f64) -> f64 {
    // The alternating series converges too slowly here, and the probability is 1 to many digits.
    if t < 0.2 {
        return 1.0;
    }
    let sum: f64 = (1..=100)
        .map(|k| {
            let term = (-2.0 * f64::from(k * k) * t * t).exp();
            if k % 2 == 1 { term } else { -term }
        })
        .sum();
    (2.0 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix;

    #[test]
    fn known_values() {
        assert!((survival(1.3581) - 0.05).abs() < 1e-4);
        assert!((survival(1.6276) - 0.01).abs() < 1e-4);
        let test = ks_one_sample(&[0.1, 0.2, 0.9], |x| x).unwrap();
        assert!((test.distance - (2.0 / 3.0 - 0.2)).abs() < 1e-12);
        assert_eq!(ks_one_sample(&[], |x| x), None);
    }

    #[test]
    fn accepts_the_right_distribution_about_as_often_as_it_should() {
        let mut rng = SplitMix::new(11);
        let rejected = (0..1000)
            .filter(|_| {
                let gaps: Vec<f64> = (0..100).map(|_| -rng.unit().ln()).collect();
                ks_one_sample(&gaps, |x| 1.0 - (-x).exp()).unwrap().p < 0.05
            })
            .count();
        assert!((30..=70).contains(&rejected), "{rejected}");
    }

    #[test]
    fn rejects_a_wrong_one() {
        let mut rng = SplitMix::new(12);
        let even: Vec<f64> = (0..300).map(|_| rng.unit() * 2.0).collect();
        assert!(ks_one_sample(&even, |x| 1.0 - (-x).exp()).unwrap().p < 1e-4);
    }
}
