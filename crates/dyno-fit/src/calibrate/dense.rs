//! Small linear systems.

/// The sum of products.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves a symmetric, positive system by Cholesky's factors; nothing if it has no unique solution.
pub(super) fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for a in 0..size {
        for b in 0..=a {
            let before: f64 = (0..b).map(|k| matrix[a][k] * matrix[b][k]).sum();
            let rest = matrix[a][b] - before;
            if a == b {
                if rest <= 0.0 || !rest.is_finite() {
                    return None;
                }
                matrix[a][a] = rest.sqrt();
            } else {
                matrix[a][b] = rest / matrix[b][b];
            }
        }
    }
    for a in 0..size {
        let before: f64 = (0..a).map(|k| matrix[a][k] * right[k]).sum();
        right[a] = (right[a] - before) / matrix[a][a];
    }
    for a in (0..size).rev() {
        let after: f64 = (a + 1..size).map(|k| matrix[k][a] * right[k]).sum();
        right[a] = (right[a] - after) / matrix[a][a];
    }
    Some(right)
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
