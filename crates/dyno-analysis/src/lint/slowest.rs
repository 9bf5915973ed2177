//! How long the slowest response may have taken: as stated, or by the tail of what is stated. A level ends
//! with it, so it bounds how long a level drains.

use super::rows::LintedLevel;
use dyno_model::metric::Time;
use dyno_model::summary::Distribution;

/// The 99th percentile of a normal distribution.
const Z99: f64 = 2.326;
/// The slowest of n responses is longer than this bound once in so many rows.
const ONCE_IN: f64 = 1_000.0;
/// Requested lengths may be drawn from a range around the stated one, which ends at twice that.
const LENGTHS: f64 = 2.0;

/// The slowest of the latencies in milliseconds, or a bound of it.
pub(super) fn latency(level: &LintedLevel<'_>) -> Option<f64> {
    of(level, Time::Latency)
}

/// The same, where the latency is not stated by TTFT, TPOT and the requested tokens.
pub(super) fn about_latency(level: &LintedLevel<'_>) -> Option<f64> {
    let by_tokens = || {
        let tokens = LENGTHS * f64::from(level.0.output_length?);
        Some(of(level, Time::Ttft)? + of(level, Time::Tpot)? * tokens)
    };
    latency(level).or_else(by_tokens)
}

fn of(level: &LintedLevel<'_>, time: Time) -> Option<f64> {
    let stated = level.0.times[time].as_ref()?;
    let longest = stated.max.or_else(|| beyond_p99(stated, level.about_completed()));
    longest.filter(|ms| *ms > 0.0)
}

/// The longest of `n` times of which only percentiles are known: as if their logarithms were normal, with
/// the deviation that p50 and p99 show.
fn beyond_p99(stated: &Distribution, n: Option<f64>) -> Option<f64> {
    let p99 = stated.p99?;
    let (Some(middle), Some(n)) = (stated.p50.or(stated.mean), n) else { return Some(p99) };
    let spread = (p99 / middle).max(1.0);
    Some(p99 * spread.powf((quantile(n * ONCE_IN) / Z99 - 1.0).max(0.0)))
}

/// What a normal variable exceeds once in `n` times, for `n` of hundreds or more.
fn quantile(n: f64) -> f64 {
    let squared = 2.0 * n.max(100.0).ln();
    (squared - squared.ln() - std::f64::consts::TAU.ln()).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_that_of_the_normal_distribution() {
        for (n, exact) in [(1e3, 3.090), (1e5, 4.265), (1e6, 4.753)] {
            assert!((quantile(n) - exact).abs() < 0.05, "{n}: {} for {exact}", quantile(n));
        }
    }
}
