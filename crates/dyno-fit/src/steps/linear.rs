//! Least squares with a few unknowns that are not negative.

use crate::dense::Factor;

/// A share of its variation that a column must have to itself; below, rounding decides.
const OWN: f64 = 1e-5;

/// Sums of products: all that least squares need of any number of rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums<const N: usize> {
    columns: [[f64; N]; N],
    target: [f64; N],
}

impl<const N: usize> Sums<N> {
    /// Of no rows.
    pub(super) const NONE: Self = Self { columns: [[0.0; N]; N], target: [0.0; N] };

    /// Adds a row.
    pub(super) fn add(&mut self, row: &[f64; N], target: f64, weight: f64) {
        for (a, left) in row.iter().enumerate() {
            self.target[a] += weight * left * target;
            for (b, right) in row.iter().enumerate() {
                self.columns[a][b] += weight * left * right;
            }
        }
    }

    /// Adds all rows of another.
    pub(super) fn merge(&mut self, other: &Self) {
        for a in 0..N {
            self.target[a] += other.target[a];
            for b in 0..N {
                self.columns[a][b] += other.columns[a][b];
            }
        }
    }

    /// The cosine of the angle between two columns.
    pub(super) fn cosine(&self, a: usize, b: usize) -> f64 {
        let lengths = self.columns[a][a] * self.columns[b][b];
        if lengths > 0.0 { self.columns[a][b] / lengths.sqrt() } else { 0.0 }
    }

    /// The columns that are not combinations of those before them, in the order given.
    pub(super) fn independent(&self, order: &[usize]) -> Vec<usize> {
        let mut kept: Vec<usize> = Vec::new();
        for column in order {
            kept.push(*column);
            if self.factor(&kept).is_none() {
                kept.pop();
            }
        }
        kept
    }

    /// Least squares over these columns; those that would be negative are 0, as are all others.
    pub(super) fn solve(&self, columns: &[usize]) -> Option<[f64; N]> {
        let mut used = columns.to_vec();
        loop {
            let found = self.solve_all(&used)?;
            let length = |place: usize| self.columns[used[place]][used[place]].sqrt();
            let lowest = (0..used.len())
                .filter(|place| found[*place] < 0.0)
                .min_by(|a, b| (found[*a] * length(*a)).total_cmp(&(found[*b] * length(*b))));
            let Some(lowest) = lowest else {
                let mut all = [0.0; N];
                used.iter().zip(found).for_each(|(column, value)| all[*column] = value);
                return Some(all);
            };
            used.remove(lowest);
        }
    }

    fn solve_all(&self, used: &[usize]) -> Option<Vec<f64>> {
        let factor = self.factor(used)?;
        let length = |column: &usize| self.columns[*column][*column].sqrt();
        let right = used.iter().map(|column| self.target[*column] / length(column)).collect();
        let found = factor.solve(right);
        Some(found.iter().zip(used).map(|(x, column)| x / length(column)).collect())
    }

    /// The factor of the cosines of these columns; nothing if one depends on the others.
    fn factor(&self, used: &[usize]) -> Option<Factor> {
        if used.iter().any(|column| self.columns[*column][*column] <= 0.0) {
            return None;
        }
        let row = |(place, left): (usize, &usize)| {
            let cosines = used[..place].iter().map(|right| self.cosine(*left, *right));
            cosines.chain([1.0]).collect()
        };
        Factor::of(used.iter().enumerate().map(row).collect(), OWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(rows: &[([f64; 3], f64)]) -> Sums<3> {
        let mut sums = Sums::NONE;
        rows.iter().for_each(|(row, target)| sums.add(row, *target, 2.0));
        sums
    }

    #[test]
    fn exact_rows_give_their_coefficients() {
        let row = |x: f64| ([1.0, x, x * x], 5.0 + 0.5 * x + 0.25 * x * x);
        let found = sums(&[row(1.0), row(2.0), row(7.0), row(9.0)]).solve(&[0, 1, 2]).unwrap();
        for (found, truth) in found.iter().zip([5.0, 0.5, 0.25]) {
            assert!((found - truth).abs() < 1e-9, "{found} {truth}");
        }
    }

    #[test]
    fn nothing_is_negative_and_the_rest_is_fitted_without_it() {
        let row = |x: f64| ([1.0, x, 0.0], 10.0 - x);
        let found = sums(&[row(1.0), row(2.0), row(3.0)]).solve(&[0, 1]).unwrap();
        assert_eq!(found[1], 0.0);
        assert!((found[0] - 8.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_column_that_repeats_another_is_left_out() {
        let row = |x: f64| ([x, 3.0 * x, x * x], x);
        let sums = sums(&[row(1.0), row(2.0), row(4.0)]);
        assert_eq!(sums.independent(&[0, 1, 2]), [0, 2]);
        assert_eq!(sums.independent(&[1, 0, 2]), [1, 2]);
        assert!((sums.cosine(0, 1) - 1.0).abs() < 1e-12);
    }
}
