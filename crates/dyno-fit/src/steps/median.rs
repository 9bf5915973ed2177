//! The middle of a set of values.

/// The median, which reorders the values; the upper one of two. Absent where there are none.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    share(values, 0.5)
}

/// The value that this share of the others does not exceed; reorders the values.
pub(crate) fn share(values: &mut [f64], part: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let at = ((values.len() as f64 * part) as usize).min(last);
    Some(*values.select_nth_unstable_by(at, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_one_is_found_whatever_the_order() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [7.0]), Some(7.0));
        assert_eq!(median(&mut [9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(share(&mut [3.0, 1.0, 2.0, 4.0], 0.25), Some(2.0));
        assert_eq!(share(&mut [3.0, 1.0, 2.0, 4.0], 1.0), Some(4.0));
    }
}
