//! Nelder–Mead: minimises a function of several variables without derivatives.
//!
//! Uses coefficients that adapt to the number of dimensions (Gao and Han, 2012) and restarts around
//! the best point until that no longer helps. Deterministic.

/// When to stop, and how wide to start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simplex {
    /// The largest number of function evaluations.
    pub(crate) evaluations: usize,
    /// Stops when the values at all corners differ by less than this share.
    pub(crate) tolerance: f64,
    /// Distance of the first corners from the start.
    pub(crate) width: f64,
}

/// A point and the function's value there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    /// The coordinates.
    pub(crate) at: Vec<f64>,
    /// The value.
    pub(crate) value: f64,
}

impl Simplex {
    /// The lowest point found from `start`. NaN counts as infinity.
    pub(crate) fn minimise(&self, start: &[f64], f: impl Fn(&[f64]) -> f64) -> Point {
        let mut search = Search { f, left: self.evaluations.max(1) };
        let mut best = search.point(start.to_vec());
        let mut width = self.width;
        while search.left > start.len() + 2 {
            let found = search.descend(&best, width, self.tolerance);
            let gain = best.value - found.value;
            let enough = gain > self.tolerance * best.value.abs();
            if found.value < best.value {
                best = found;
            }
            if !enough {
                if width < 0.1 * self.width {
                    break;
                }
                width *= 0.25;
            }
        }
        best
    }
}

struct Search<F> {
    f: F,
    left: usize,
}

impl<F: Fn(&[f64]) -> f64> Search<F> {
    fn point(&mut self, at: Vec<f64>) -> Point {
        self.left = self.left.saturating_sub(1);
        let value = (self.f)(&at);
        Point { at, value: if value.is_nan() { f64::INFINITY } else { value } }
    }

    /// One descent with a simplex of this width around `start`.
    fn descend(&mut self, start: &Point, width: f64, tolerance: f64) -> Point {
        let n = start.at.len();
        let mut corners = vec![start.clone()];
        for axis in 0..n {
            let mut at = start.at.clone();
            at[axis] += width;
            corners.push(self.point(at));
        }
        let dimensions = n as f64;
        let expand = 1.0 + 2.0 / dimensions;
        let contract = 0.75 - 0.5 / dimensions;
        let shrink = 1.0 - 1.0 / dimensions.max(2.0);
        while self.left > 0 {
            corners.sort_by(|a, b| a.value.total_cmp(&b.value));
            let (low, high) = (corners[0].value, corners[n].value);
            if high - low <= tolerance * low.abs() + f64::MIN_POSITIVE {
                break;
            }
            let centre: Vec<f64> = (0..n)
                .map(|axis| corners[..n].iter().map(|c| c.at[axis]).sum::<f64>() / dimensions)
                .collect();
            let along = |factor: f64| -> Vec<f64> {
                let worst = &corners[n].at;
                centre.iter().zip(worst).map(|(c, w)| c + factor * (c - w)).collect()
            };
            let (far, out, inside) = (along(expand), along(contract), along(-contract));
            let reflected = self.point(along(1.0));
            let next = if reflected.value < low {
                let expanded = self.point(far);
                if expanded.value < reflected.value { expanded } else { reflected }
            } else if reflected.value < corners[n - 1].value {
                reflected
            } else {
                let outside = reflected.value < high;
                let contracted = self.point(if outside { out } else { inside });
                if contracted.value < high.min(reflected.value) {
                    contracted
                } else {
                    let best = corners[0].at.clone();
                    for corner in &mut corners[1..] {
                        let pulled = corner.at.iter().zip(&best);
                        let at = pulled.map(|(c, b)| b + shrink * (c - b)).collect();
                        *corner = self.point(at);
                    }
                    continue;
                }
            };
            corners[n] = next;
        }
        corners.sort_by(|a, b| a.value.total_cmp(&b.value));
        corners.swap_remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIMPLEX: Simplex = Simplex { evaluations: 20_000, tolerance: 1e-10, width: 0.5 };

    #[test]
    fn a_bowl_has_its_low_point_in_the_middle() {
        let bowl = |x: &[f64]| x.iter().enumerate().map(|(i, x)| (x - i as f64).powi(2)).sum();
        let found = SIMPLEX.minimise(&[5.0, -5.0, 9.0, 0.0, 1.0], bowl);
        for (axis, x) in found.at.iter().enumerate() {
            assert!((x - axis as f64).abs() < 1e-3, "{found:?}");
        }
    }

    #[test]
    fn a_bent_valley_is_followed_to_its_end() {
        let valley = |x: &[f64]| (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2);
        let found = SIMPLEX.minimise(&[-1.2, 1.0], valley);
        assert!((found.at[0] - 1.0).abs() < 1e-3 && (found.at[1] - 1.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn one_dimension_and_one_evaluation_are_enough() {
        let found = SIMPLEX.minimise(&[3.0], |x| (x[0] - 1.0).abs());
        assert!((found.at[0] - 1.0).abs() < 1e-6, "{found:?}");
        let once = Simplex { evaluations: 1, ..SIMPLEX }.minimise(&[3.0], |x| x[0]);
        assert_eq!(once, Point { at: vec![3.0], value: 3.0 });
    }

    #[test]
    fn nan_is_avoided() {
        let half = |x: &[f64]| if x[0] < 0.0 { f64::NAN } else { x[0] + x[1] * x[1] };
        let found = SIMPLEX.minimise(&[2.0, 2.0], half);
        assert!(found.value < 1e-3 && found.at[0] >= 0.0, "{found:?}");
    }
}
