//! Student's distribution, also with a fractional number of degrees of freedom.

/// Terms of the continued fraction, at most; far fewer are needed.
const MOST_TERMS: u32 = 500;
const PRECISE: f64 = 1e-15;
const TINY: f64 = 1e-300;
const HALVINGS: u32 = 80;

/// The probability that a value with `freedom` degrees of freedom is further from 0 than `t`; with
/// infinitely many it is a normal one.
pub(super) fn two_sided(t: f64, freedom: f64) -> f64 {
    if freedom.is_infinite() {
        return crate::trend::two_sided(t.abs());
    }
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The value that is exceeded, in either direction, with this probability.
pub(super) fn critical(chance: f64, freedom: f64) -> f64 {
    let mut high = 1.0;
    while two_sided(high, freedom) > chance && high < 1e12 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if two_sided(middle, freedom) > chance { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The regularised incomplete beta function.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - log_beta);
    // The fraction converges fast on one side of the mean; the other side follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by the method of Lentz.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut above, mut below) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = below;
    for term in 1..MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for part in [even, odd] {
            below = 1.0 / away(1.0 + part * below);
            above = away(1.0 + part / above);
            change = above * below;
            value *= change;
        }
        if (change - 1.0).abs() < PRECISE {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gives_the_values_of_the_tables() {
        for (freedom, chance, t) in [
            (1.0, 0.05, 12.706_205),
            (2.0, 0.05, 4.302_653),
            (4.0, 0.05, 2.776_445),
            (8.0, 0.05, 2.306_004),
            (8.0, 0.10, 1.859_548),
            (30.0, 0.01, 2.749_996),
            (f64::INFINITY, 0.05, 1.959_964),
        ] {
            let got = critical(chance, freedom);
            assert!((got - t).abs() < 2e-6, "{freedom}: {got}, not {t}");
        }
    }

    #[test]
    fn one_degree_of_freedom_is_cauchy() {
        for t in [0.0_f64, 0.3, 1.0, 7.0, 1e6] {
            let exact = 1.0 - 2.0 * t.atan() / std::f64::consts::PI;
            assert!((two_sided(t, 1.0) - exact).abs() < 1e-12, "{t}");
        }
    }

    #[test]
    fn very_small_chances_are_not_lost() {
        // With 2 degrees of freedom the probability is 1 − t / √(2 + t²).
        let t = 1e5_f64;
        let exact = 1.0 / (t * t);
        assert!((two_sided(t, 2.0) / exact - 1.0).abs() < 1e-6);
        assert!(two_sided(30.0, f64::INFINITY) > 0.0);
    }

    proptest! {
        #[test]
        fn critical_undoes_two_sided(freedom in 1.0_f64..300.0, chance in 0.001_f64..0.999) {
            prop_assert!((two_sided(critical(chance, freedom), freedom) - chance).abs() < 1e-9);
        }

        #[test]
        fn more_freedom_never_widens(freedom in 1.0_f64..100.0, more in 0.0_f64..100.0) {
            prop_assert!(critical(0.05, freedom + more) <= critical(0.05, freedom) + 1e-9);
            prop_assert!(critical(0.05, freedom) >= critical(0.05, f64::INFINITY));
        }
    }
}
