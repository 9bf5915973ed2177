//! What a comparison makes of requests that an overloaded server refused. Those that it accepted may be
//! the faster for it, so that times and rates alone would call such a server better.

use super::gate::GateAnswer;
use super::matching::{ComparedCell, CurvePoint};
use super::metric::Compared;

/// Shares of refused requests that differ by less than this do not change what is compared.
const SAME_SHARE: f64 = 0.01;

impl ComparedCell {
    /// The share of shed requests.
    pub fn shed(&self) -> Option<f64> {
        let shed = Compared::all().find(|metric| metric.is_shed())?;
        self.figures.get(&shed).copied()
    }
}

/// Whether the server shed a different share of the requests of each side at some load.
pub(super) fn shed_differs(points: &[CurvePoint]) -> bool {
    differ(points, ComparedCell::shed)
}

/// Whether requests were sent again on some sides only, or far more often, at some load.
pub(super) fn sent_again_differs(points: &[CurvePoint]) -> bool {
    differ(points, |cell| Some(cell.sent_again.unwrap_or_default()))
}

fn differ(points: &[CurvePoint], of: impl Fn(&ComparedCell) -> Option<f64>) -> bool {
    points.iter().any(|point| {
        let shares: Vec<f64> = point.cells.iter().flatten().filter_map(&of).collect();
        shares.windows(2).any(|pair| (pair[0] - pair[1]).abs() > SAME_SHARE)
    })
}

/// Whether a side sheds more than the first. Where the first shed nothing, any rise beyond chance fails;
/// where it did, a rise by more than `most` of the requests.
pub(super) fn answer(first: &ComparedCell, own: &ComparedCell, most: f64) -> Option<GateAnswer> {
    let (before, now) = (first.shed()?, own.shed()?);
    if now <= before {
        return Some(GateAnswer::Pass);
    }
    let (Some(a), Some(b)) = (first.requests, own.requests) else {
        return Some(GateAnswer::Inconclusive);
    };
    let bound = if before > 0.0 { most } else { 0.0 };
    let [low, high] = rise((before, a), (now, b));
    Some(match (low > bound, high <= bound) {
        (true, _) => GateAnswer::Fail,
        (_, true) => GateAnswer::Pass,
        _ => GateAnswer::Inconclusive,
    })
}

/// The 95 % interval of the difference of two shares, by Newcombe.
fn rise(before: (f64, u64), now: (f64, u64)) -> [f64; 2] {
    let ([low_before, high_before], [low_now, high_now]) = (wilson(before), wilson(now));
    let (before, now) = (before.0, now.0);
    let change = now - before;
    [
        change - (now - low_now).hypot(high_before - before),
        change + (high_now - now).hypot(before - low_before),
    ]
}

/// The 95 % interval of a share of `n`, by Wilson.
fn wilson((share, n): (f64, u64)) -> [f64; 2] {
    const Z: f64 = 1.96;
    let n = n.max(1) as f64;
    let (middle, scale) = (share + Z * Z / (2.0 * n), 1.0 + Z * Z / n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    [(middle - half) / scale, (middle + half) / scale]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(shed_share: f64, requests: u64) -> ComparedCell {
        let shed = Compared::all().find(|metric| metric.is_shed());
        ComparedCell {
            rounds: 1,
            interpolated: false,
            tokens: [None; 2],
            requests: Some(requests),
            sent_again: None,
            figures: shed.into_iter().map(|metric| (metric, shed_share)).collect(),
            per_million_output_tokens: None,
        }
    }

    fn answered(before: f64, now: f64, requests: u64) -> Option<GateAnswer> {
        answer(&cell(before, requests), &cell(now, requests), 0.05)
    }

    #[test]
    fn shedding_beyond_chance_fails() {
        assert_eq!(answered(0.0, 0.5, 120), Some(GateAnswer::Fail));
        assert_eq!(answered(0.0, 0.05, 120), Some(GateAnswer::Fail));
        assert_eq!(answered(0.0, 1.0 / 120.0, 120), Some(GateAnswer::Inconclusive));
        assert_eq!(answered(0.0, 0.0, 120), Some(GateAnswer::Pass));
        assert_eq!(answered(0.5, 0.0, 120), Some(GateAnswer::Pass));
    }

    #[test]
    fn a_baseline_that_shed_bears_as_much_more_as_any_metric() {
        assert_eq!(answered(0.3, 0.31, 10_000), Some(GateAnswer::Pass));
        assert_eq!(answered(0.3, 0.35, 10_000), Some(GateAnswer::Inconclusive));
        assert_eq!(answered(0.3, 0.40, 10_000), Some(GateAnswer::Fail));
    }
}
