//! Fits a line that rises up to a point and stays level beyond it, and finds that point.

/// The fewest points for a fit.
const FEWEST: usize = 8;
/// Candidate bends between two points.
const BETWEEN: usize = 4;

/// The best bent line, and how much better it is than a straight one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hinge {
    /// Where it stops rising.
    pub at: f64,
    /// The slope before.
    pub slope: f64,
    /// The level beyond.
    pub level: f64,
    /// By how many variances the straight line is worse: a χ² of one degree, taken at its best
    /// place. Where the points scatter more than their variances say, they are enlarged.
    pub gain: f64,
}

/// A point with the variance of its `y`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HingePoint {
    /// The independent variable.
    pub x: f64,
    /// The measured value.
    pub y: f64,
    /// The variance of `y`; positive.
    pub variance: f64,
}

/// A straight line through points whose `x` is cut off at some place.
struct Fit {
    offset: f64,
    slope: f64,
    misfit: f64,
}

/// Fits `y = a + b · min(x, at)` to points with rising `x`. Absent with fewer than eight points, or
/// where `y` does not rise.
pub fn hinge(points: &[HingePoint]) -> Option<Hinge> {
    if points.len() < FEWEST {
        return None;
    }
    let straight = fit(points, f64::INFINITY)?;
    let mut best: Option<(f64, Fit)> = None;
    for pair in points[2..].windows(2) {
        for part in 0..BETWEEN {
            let at = pair[0].x + (pair[1].x - pair[0].x) * part as f64 / BETWEEN as f64;
            let Some(found) = fit(points, at) else { continue };
            if best.as_ref().is_none_or(|(_, best)| found.misfit < best.misfit) {
                best = Some((at, found));
            }
        }
    }
    let (at, Fit { offset, slope, misfit }) = best.filter(|(_, fit)| fit.slope > 0.0)?;
    let scatter = (misfit / (points.len() - 3) as f64).max(1.0);
    let gain = (straight.misfit - misfit) / scatter;
    Some(Hinge { at, slope, level: offset + slope * at, gain })
}

fn fit(points: &[HingePoint], cut: f64) -> Option<Fit> {
    let mut sums = [0.0; 5];
    for HingePoint { x, y, variance } in points {
        let (x, w) = (x.min(cut), 1.0 / variance);
        [w, w * x, w * y, w * x * x, w * x * y].iter().zip(&mut sums).for_each(|(v, s)| *s += v);
    }
    let [w, x, y, xx, xy] = sums;
    let spread = w * xx - x * x;
    if spread.is_nan() || spread <= f64::EPSILON * w * xx {
        return None;
    }
    let slope = (w * xy - x * y) / spread;
    let offset = (y - slope * x) / w;
    let misfit =
        points.iter().map(|p| (p.y - offset - slope * p.x.min(cut)).powi(2) / p.variance).sum();
    Some(Fit { offset, slope, misfit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix;

    fn points(n: usize, mut y: impl FnMut(f64) -> f64) -> Vec<HingePoint> {
        let at = |i: usize| 10.0 * (i + 1) as f64;
        (0..n).map(|i| HingePoint { x: at(i), y: y(at(i)), variance: at(i) }).collect()
    }

    #[test]
    fn a_bend_without_noise_is_found_where_it_is() {
        let got = hinge(&points(20, |x| x.min(120.0))).unwrap();
        assert!((got.at - 120.0).abs() < 1e-9 && (got.level - 120.0).abs() < 1e-9, "{got:?}");
        assert!((got.slope - 1.0).abs() < 1e-9 && got.gain > 30.0, "{got:?}");
    }

    #[test]
    fn few_points_and_falling_ones_have_no_bend() {
        assert_eq!(hinge(&points(7, |x| x)), None);
        assert_eq!(hinge(&points(20, |x| 300.0 - x)), None);
        let flat = points(20, |_| 5.0);
        assert!(hinge(&flat).is_none_or(|found| found.gain < 1e-6));
    }

    /// A normal value, by twelve uniform ones.
    fn normal(rng: &mut SplitMix) -> f64 {
        (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
    }

    /// The bar that reports use, on straight lines with the scatter of Poisson counts and more.
    #[test]
    fn straight_lines_seldom_seem_to_bend() {
        let mut rng = SplitMix::new(5);
        for scatter in [1.0, 2.0, 4.0] {
            let bent = (0..1000)
                .filter(|_| {
                    let line = points(20, |x| x + scatter * x.sqrt() * normal(&mut rng));
                    hinge(&line).is_some_and(|found| found.gain > 16.0)
                })
                .count();
            println!("straight, scatter {scatter}: {bent} of 1000 seem to bend");
            assert!(bent <= 4, "{bent} of 1000 at scatter {scatter}");
        }
    }

    #[test]
    fn noisy_bends_are_found_near_where_they_are() {
        let mut rng = SplitMix::new(6);
        let near = (0..1000)
            .filter(|_| {
                let bent = points(20, |x| x.min(120.0) + x.sqrt() * normal(&mut rng));
                let found = hinge(&bent).unwrap();
                found.gain > 16.0 && (found.at / 120.0 - 1.0).abs() < 0.15
            })
            .count();
        println!("bent at 120 of 200: {near} of 1000 found within 15 %");
        assert!(near >= 920, "{near} of 1000");
    }
}
