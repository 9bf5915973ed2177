//! The posterior distribution of the edge, from noisy margins.
//!
//! Over the logarithm of the load, the median margin (a logarithm, too) is taken to rise in a
//! straight line through 0 at the edge. Edge, slope and noise are unknown: each combination on a
//! grid is weighted by the likelihood of what was measured. Margins are squashed before they are
//! compared, so that far from the edge little but their sign counts: the line need not be straight
//! there, and where latency jumps, not even near the edge.

use super::evidence::{Evidence, Seen};
use libm::erfc;

/// A margin is halved here, and never to more than this.
const SQUASH: f64 = 0.4;
/// Relative error of the line.
const BENT: f64 = 0.15;
/// Degrees of freedom of the noise: somewhat more outliers than a normal distribution has.
const FREEDOM: f64 = 20.0;
/// The grid of slopes: how much a margin rises when the load is multiplied by e.
const SLOPES: usize = 12;
const SLOPE: [f64; 2] = [0.15, 60.0];
/// The grid of noise levels, by their effect on the edge: 0.02 is noise of one level that moves the
/// edge by 2 %.
const NOISES: usize = 12;
const NOISE: [f64; 2] = [0.004, 0.4];
/// The prior of the noise: its usual size for levels of this many requests or more, how it grows for
/// shorter ones, and how far it may be below and above, as logarithms.
const USUAL_NOISE: f64 = 0.018;
const LONG: f64 = 4_000.0;
const SHORTER: f64 = 0.5;
const LESS: f64 = 0.35;
const MORE: f64 = 0.38;
/// How sharply levels without a margin turn from holding to failing.
const BLUR: f64 = 0.05;
/// The prior of the edge when the full rate of a server is known: a little below it. How fast it falls
/// off above and below, as logarithms.
const HOPED: f64 = -0.1;
const HOPE_ABOVE: f64 = 0.08;
const HOPE_BELOW: f64 = 0.4;

const POINTS: usize = 81;
const FINE: f64 = 0.001;
const NEGLIGIBLE: f64 = 1e-7;

/// The distribution of the edge over the logarithm of the load.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    start: f64,
    step: f64,
    /// Cumulative, from 0 to 1.
    cumulative: Vec<f64>,
}

impl Posterior {
    /// From evidence, between two logarithms. `most` is the logarithm of the full rate, if known.
    pub(super) fn new(evidence: &[Evidence], between: [f64; 2], most: Option<f64>) -> Self {
        let hypotheses = hypotheses(evidence);
        let weight = |edge: f64| {
            let prior = most.map_or(0.0, |most| {
                let above = edge - most - HOPED;
                if above > 0.0 { -above / HOPE_ABOVE } else { above / HOPE_BELOW }
            });
            prior + sum_of_logs(&weigh(evidence, edge, &hypotheses))
        };
        let [mut low, mut high] = between;
        loop {
            let step = (high - low) / (POINTS - 1) as f64;
            let logs: Vec<f64> = (0..POINTS).map(|i| weight(low + step * i as f64)).collect();
            let total = sum_of_logs(&logs);
            let masses: Vec<f64> = logs.iter().map(|log| (log - total).exp()).collect();
            let counts = |mass: &f64| *mass > NEGLIGIBLE;
            let first = masses.iter().position(counts).unwrap_or(0).saturating_sub(1);
            let last = masses.iter().rposition(counts).unwrap_or(POINTS - 1) + 1;
            let last = last.min(POINTS - 1);
            if step < FINE || (last - first) * 4 > POINTS * 3 {
                let mut sum = 0.0;
                let up_to = |mass: &f64| {
                    sum += mass;
                    sum
                };
                let cumulative = masses.iter().map(up_to).collect();
                return Self { start: low, step, cumulative };
            }
            (low, high) = (low + step * first as f64, low + step * last as f64);
        }
    }

    /// The quantile `q`.
    pub(super) fn quantile(&self, q: f64) -> f64 {
        let above = self.cumulative.partition_point(|sum| *sum < q).min(POINTS - 1);
        let before = self.up_to(above);
        let mass = self.cumulative[above] - before;
        let part = if mass > 0.0 { ((q - before) / mass).clamp(0.0, 1.0) } else { 0.5 };
        // A point stands for one grid step around it.
        self.start + self.step * (above as f64 + part - 0.5)
    }

    /// The probability that the edge is below `place`.
    pub(super) fn below(&self, place: f64) -> f64 {
        let exact = (place - self.start) / self.step + 0.5;
        if exact <= 0.0 {
            return 0.0;
        }
        let index = exact.floor() as usize;
        if index >= POINTS {
            return 1.0;
        }
        let before = self.up_to(index);
        before + (self.cumulative[index] - before) * (exact - exact.floor())
    }

    fn up_to(&self, index: usize) -> f64 {
        index.checked_sub(1).map_or(0.0, |last| self.cumulative[last])
    }

    /// The shortest interval with probability `mass`.
    pub(super) fn shortest(&self, mass: f64) -> [f64; 2] {
        let stretch = |i: u32| {
            let tail = (1.0 - mass) * f64::from(i) / 100.0;
            [self.quantile(tail), self.quantile(tail + mass)]
        };
        let width = |stretch: &[f64; 2]| stretch[1] - stretch[0];
        let shorter = |a: &[f64; 2], b: &[f64; 2]| width(a).total_cmp(&width(b));
        (0..=100).map(stretch).min_by(shorter).unwrap_or_else(|| stretch(50))
    }

    /// The most probable interval of a given width, and its probability.
    pub(super) fn window(&self, width: f64) -> ([f64; 2], f64) {
        let (from, to) = (self.quantile(0.0) - width, self.quantile(1.0));
        let window = |i: u32| {
            let low = from + (to - from) * f64::from(i) / 400.0;
            ([low, low + width], self.below(low + width) - self.below(low))
        };
        (0..=400).map(window).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_else(|| window(200))
    }
}

/// The best slope for a given edge.
pub(super) fn slope(evidence: &[Evidence], edge: f64) -> f64 {
    let hypotheses = hypotheses(evidence);
    let weights = weigh(evidence, edge, &hypotheses);
    let best = weights.iter().zip(&hypotheses).max_by(|a, b| a.0.total_cmp(b.0));
    best.map_or(1.0, |(_, hypothesis)| hypothesis.slope)
}

#[derive(Debug, Clone, Copy)]
struct Hypothesis {
    slope: f64,
    /// Of a squashed margin near the edge.
    variance: f64,
    log_prior: f64,
}

fn hypotheses(evidence: &[Evidence]) -> Vec<Hypothesis> {
    let usual = usual_noise(evidence);
    let on = |[low, high]: [f64; 2], i: usize, of: usize| {
        low * (high / low).powf(i as f64 / (of - 1) as f64)
    };
    let pairs = (0..SLOPES).flat_map(|s| (0..NOISES).map(move |n| (s, n)));
    pairs
        .map(|(s, n)| {
            let (slope, noise) = (on(SLOPE, s, SLOPES), on(NOISE, n, NOISES));
            let log = (noise / usual).ln();
            let unusual = if log > 0.0 { log / MORE } else { -log / LESS };
            // Heavy tails: an unusual value is never impossible.
            let log_prior =
                if unusual < 2.0 { -0.5 * unusual * unusual } else { 2.0 - 2.0 * unusual };
            Hypothesis { slope, variance: squash(slope * noise).powi(2), log_prior }
        })
        .collect()
}

/// For levels of this length, by their geometric mean.
fn usual_noise(evidence: &[Evidence]) -> f64 {
    let logs: f64 = evidence.iter().map(|one| (one.requests.max(1) as f64).ln()).sum();
    let requests = (logs / evidence.len().max(1) as f64).exp();
    USUAL_NOISE * (LONG / requests).max(1.0).powf(SHORTER)
}

/// The log-likelihood of each hypothesis for a given edge.
fn weigh(evidence: &[Evidence], edge: f64, hypotheses: &[Hypothesis]) -> Vec<f64> {
    let mut logs: Vec<f64> = hypotheses.iter().map(|hypothesis| hypothesis.log_prior).collect();
    for Evidence { at, seen, .. } in evidence {
        let from_edge = at - edge;
        match *seen {
            Seen::Margin { margin, error } => {
                let squashed = squash(margin);
                let least = squash(error.unwrap_or(0.0)).powi(2);
                for (log, hypothesis) in logs.iter_mut().zip(hypotheses) {
                    let expected = squash(hypothesis.slope * from_edge);
                    let bend = BENT * expected;
                    let variance = hypothesis.variance.max(least) + bend * bend;
                    let miss = squashed - expected;
                    let outlier = (miss * miss / (variance * FREEDOM)).ln_1p();
                    *log -= 0.5 * (variance.ln() + (FREEDOM + 1.0) * outlier);
                }
            }
            Seen::Sign { held } => {
                let towards = if held { -from_edge } else { from_edge };
                let chance = 0.5 * erfc(-towards / BLUR / std::f64::consts::SQRT_2);
                logs.iter_mut().for_each(|log| *log += chance.max(1e-12).ln());
            }
        }
    }
    logs
}

fn squash(margin: f64) -> f64 {
    margin / (1.0 + margin.abs() / SQUASH)
}

fn sum_of_logs(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margin(at: f64, margin: f64) -> Evidence {
        Evidence { asked: at, at, requests: 4_000, seen: Seen::Margin { margin, error: None } }
    }

    #[test]
    fn finds_where_a_line_crosses_and_narrows_with_more_levels() {
        let line = |from_edge: f64| margin(2.0 + from_edge, 3.0 * from_edge);
        let few: Vec<_> = [-0.1, 0.05].map(line).into();
        let many: Vec<_> = [-0.1, 0.05, -0.02, 0.02, -0.01, 0.01, 0.0, 0.03].map(line).into();
        let [few, many] = [few, many].map(|e| Posterior::new(&e, [0.0, 4.0], None));
        assert!((many.quantile(0.5) - 2.0).abs() < 0.01, "{}", many.quantile(0.5));
        let width = |p: &Posterior| p.quantile(0.975) - p.quantile(0.025);
        assert!(width(&many) < 0.7 * width(&few), "{} {}", width(&many), width(&few));
        assert!(many.window(0.06).1 > 0.95);
    }

    #[test]
    fn signs_alone_bracket_the_edge() {
        let sign = |at: f64, held: bool| Evidence {
            asked: at,
            at,
            requests: 4_000,
            seen: Seen::Sign { held },
        };
        let posterior = Posterior::new(&[sign(1.0, true), sign(2.0, false)], [0.0, 4.0], None);
        assert!(posterior.below(0.8) < 0.01 && posterior.below(2.2) > 0.99);
        assert!((posterior.quantile(0.5) - 1.5).abs() < 0.1);
    }

    #[test]
    fn quantiles_and_chances_are_each_others_inverse() {
        let posterior = Posterior::new(&[margin(1.0, -0.1), margin(1.2, 0.1)], [0.0, 4.0], None);
        for q in [0.01, 0.2, 0.5, 0.8, 0.99] {
            assert!((posterior.below(posterior.quantile(q)) - q).abs() < 1e-9);
        }
        let [low, high] = posterior.shortest(0.95);
        assert!((posterior.below(high) - posterior.below(low) - 0.95).abs() < 1e-6);
        assert!(high - low <= posterior.quantile(0.975) - posterior.quantile(0.025) + 1e-12);
    }

    #[test]
    fn a_level_with_a_large_error_counts_less() {
        let sure = [margin(1.0, -0.05), margin(1.05, 0.05), margin(1.02, 0.2)];
        let mut unsure = sure;
        unsure[2].seen = Seen::Margin { margin: 0.2, error: Some(2.0) };
        let [sure, unsure] = [sure, unsure].map(|e| Posterior::new(&e, [0.0, 2.0], None));
        let middle = |p: &Posterior| (p.quantile(0.5) - 1.025).abs();
        assert!(middle(&unsure) < middle(&sure), "{} {}", middle(&unsure), middle(&sure));
    }
}
