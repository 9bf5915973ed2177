//! Small linear systems, such as the normal equations of least squares, solved by Cholesky's factors.

/// The sum of products.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves a symmetric, positive system; nothing if it has no unique solution.
pub(crate) fn solve(matrix: Vec<Vec<f64>>, right: Vec<f64>) -> Option<Vec<f64>> {
    Some(Factor::of(matrix, 0.0)?.solve(right))
}

/// Cholesky's factor of a symmetric, positive matrix.
#[derive(Debug)]
pub(crate) struct Factor(Vec<Vec<f64>>);

impl Factor {
    /// The factor of a matrix, of which nothing above the diagonal is read. Nothing if a column is a combination of
    /// those before it, so that less than `own` of its diagonal is its own.
    pub(crate) fn of(mut matrix: Vec<Vec<f64>>, own: f64) -> Option<Self> {
        for a in 0..matrix.len() {
            for b in 0..=a {
                let before: f64 = (0..b).map(|k| matrix[a][k] * matrix[b][k]).sum();
                let rest = matrix[a][b] - before;
                if a == b {
                    if rest <= 0.0 || rest < own || !rest.is_finite() {
                        return None;
                    }
                    matrix[a][a] = rest.sqrt();
                } else {
                    matrix[a][b] = rest / matrix[b][b];
                }
            }
        }
        Some(Self(matrix))
    }

    /// The solution of the system with this right side.
    pub(crate) fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        let lower = &self.0;
        let size = right.len();
        for a in 0..size {
            let before: f64 = (0..a).map(|k| lower[a][k] * right[k]).sum();
            right[a] = (right[a] - before) / lower[a][a];
        }
        for a in (0..size).rev() {
            let after: f64 = (a + 1..size).map(|k| lower[k][a] * right[k]).sum();
            right[a] = (right[a] - after) / lower[a][a];
        }
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let matrix = vec![vec![4.0, 2.0, 0.0], vec![2.0, 5.0, 1.0], vec![0.0, 1.0, 3.0]];
        let truth = [1.0, -2.0, 0.5];
        let right = matrix.iter().map(|row| dot(row, &truth)).collect();
        let found = solve(matrix, right).unwrap();
        found.iter().zip(truth).for_each(|(found, truth)| assert!((found - truth).abs() < 1e-12));
        assert_eq!(solve(vec![vec![1.0, 1.0], vec![1.0, 1.0]], vec![1.0, 1.0]), None);
    }
}
