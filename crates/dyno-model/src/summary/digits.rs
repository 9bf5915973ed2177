//! How many digits of a value are kept.

/// Rounds to six significant digits, so that the rounding error of a sum is not visible; NaN becomes
/// absent.
pub fn tidy(value: f64) -> Option<f64> {
    if !value.is_finite() {
        return None;
    }
    format!("{value:.5e}").parse().ok()
}

/// [`tidy`] for values that are known to be finite.
pub fn round6(value: f64) -> f64 {
    tidy(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_kept() {
        assert_eq!(tidy(123.456789), Some(123.457));
        assert_eq!(tidy(0.000123456789), Some(0.000123457));
        assert_eq!(tidy(0.0), Some(0.0));
        assert_eq!(tidy(f64::NAN), None);
        assert_eq!(tidy(f64::INFINITY), None);
    }
}
