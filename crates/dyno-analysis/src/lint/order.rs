//! The order of values: percentiles rise, a mean lies between the ends, a response is not over before it
//! began, and a first token takes no less than any other.

use super::found::{Against, LintFindings, Sure, against, of_rows};
use super::near::{Column, half_digit};
use super::rows::{LintRows, LintedLevel};
use dyno_model::Message;
use dyno_model::diagnostic::CatalogueRow;
use dyno_model::message::joined;
use dyno_model::metric::Time;
use dyno_model::summary::Distribution;
use dyno_words::number::{digits, seconds};
use dyno_words::{Defect, values};

fn quantiles(of: &Distribution) -> [(f64, Option<f64>); 11] {
    [
        (0.0, of.min),
        (0.5, of.p50),
        (0.66, of.p66),
        (0.75, of.p75),
        (0.8, of.p80),
        (0.9, of.p90),
        (0.95, of.p95),
        (0.98, of.p98),
        (0.99, of.p99),
        (0.999, of.p99_9),
        (1.0, of.max),
    ]
}

/// Samples that a distribution is taken to have, where they are not counted.
const FEW: f64 = 20.0;

/// Whether some percentile is below a lower one, or the mean is not among its samples. Percentiles may
/// be rounded more coarsely than the mean and the ends, as those of a histogram.
fn is_disordered(of: &Distribution, half_digit: impl Fn(f64) -> f64) -> bool {
    let known = quantiles(of).into_iter().filter_map(|(share, value)| Some((share, value?)));
    let known: Vec<(f64, f64)> = known.collect();
    // What summing up in floating point costs is far less.
    let below = |a: f64, b: f64| a < b * (1.0 - 1e-6) - half_digit(a) - half_digit(b);
    let falls = known.windows(2).any(|pair| below(pair[1].1, pair[0].1));
    let Some(mean) = of.mean else { return falls };
    let samples = of.count.map_or(FEW, |count| count as f64).max(2.0);
    let outside = known.iter().any(|(share, value)| {
        let part = match *share {
            0.0 => *value,
            1.0 => return below(*value, mean),
            // The samples above a percentile alone are this part of the sum.
            share => *value * (1.0 - share) * (samples - 1.0) / samples,
        };
        mean < part * (1.0 - 1e-6) - half_digit(*value) - half_digit(mean)
    });
    falls || outside
}

/// Percentiles out of order.
pub(super) fn percentiles(rows: &LintRows<'_>) -> Option<LintFindings> {
    let (mut found, mut names): (Vec<CatalogueRow>, Vec<&str>) = (Vec::new(), Vec::new());
    // A program that always prints two decimals has not rounded 40.00 to tens.
    let printed = rows.finest_digit();
    let half = |value: f64| if printed > 0.0 { printed / 2.0 } else { half_digit(value) };
    for time in Time::ALL {
        let stated = |level: &LintedLevel<'_>| level.0.times[time].clone();
        let disordered = |level: &&LintedLevel<'_>| {
            stated(level).is_some_and(|times| is_disordered(&times, half))
        };
        let of: Vec<CatalogueRow> =
            rows.rows.iter().filter(disordered).map(LintedLevel::row).collect();
        if !of.is_empty() {
            names.push(time.id());
        }
        let known = found.clone();
        found.extend(of.into_iter().filter(|row| !known.contains(row)));
    }
    let names = joined(names.into_iter().map(Message::quoted), [", ", "、"]);
    of_rows(found, Defect::Percentiles, Sure::Possible, values![names])
}

/// Tolerance for clocks that are read twice.
const SLACK: f64 = 0.005;

/// Every response lasts at least until its first token, so its latencies are no shorter than its TTFTs:
/// in the mean, and in every percentile.
pub(super) fn latency_below_ttft(rows: &LintRows<'_>) -> Option<LintFindings> {
    let halves = Column::times(rows, LintedLevel::latency).half()
        + Column::times(rows, LintedLevel::ttft).half();
    let below = |level: &LintedLevel<'_>| {
        let [ttft, latency] = [Time::Ttft, Time::Latency].map(|time| level.0.times[time].as_ref());
        let (ttft, latency) = (ttft?, latency?);
        // Responses without any output have a latency but no TTFT.
        if ttft.count.zip(latency.count).is_some_and(|(a, b)| a != b) {
            return None;
        }
        let means = [(latency.mean, ttft.mean)];
        let quantiles = quantiles(latency).into_iter().zip(quantiles(ttft));
        let pairs =
            means.into_iter().chain(quantiles.map(|((_, latency), (_, ttft))| (latency, ttft)));
        let pairs =
            pairs.filter_map(|(latency, ttft)| Some((latency.filter(|ms| *ms > 0.0)?, ttft?)));
        pairs
            .into_iter()
            .find(|(latency, ttft)| {
                *latency < ttft * (1.0 - SLACK) - halves.max(half_digit(*latency))
            })
            .map(|(found, expected)| Against { row: level.row(), found, expected })
    };
    let found = rows.rows.iter().filter(|level| !level.is_zero()).filter_map(below).collect();
    against(found, seconds, Defect::LatencyBelowTtft, Sure::Possible, values![])
}

/// A first token needs a step of the model, like every other one; a server that prefills on other
/// machines may be several times faster, but not this much.
const STEP: f64 = 1.0 / 20.0;

/// TTFT far below the time of one token: seconds taken for milliseconds, or an empty first event.
pub(super) fn ttft_below_token(rows: &LintRows<'_>) -> Option<LintFindings> {
    let below = |level: &LintedLevel<'_>| {
        let per_token = level.tpot().or_else(|| level.itl()).or_else(|| level.chunk_gap())?;
        let ttft = level.ttft().or(level.0.times[Time::Ttft].as_ref()?.p50)?;
        let row = || Against { row: level.row(), found: ttft, expected: per_token };
        (ttft > 0.0 && ttft < per_token * STEP).then(row)
    };
    let found = rows.rows.iter().filter_map(below).collect();
    against(found, |ms| digits(ms, 2), Defect::TtftBelowToken, Sure::Possible, values![])
}
