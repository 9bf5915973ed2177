//! Checks of how results change with load, and of rows that repeat another column.

use super::found::{Against, LintFindings, Sure, against, of_rows};
use super::near;
use super::rows::{LintRows, LintedLevel};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_words::number::{digits, seconds};
use dyno_words::{Defect, values};

/// TTFT equals the latency.
pub(super) fn not_streamed(rows: &LintRows<'_>) -> Option<LintFindings> {
    let whole = rows.rows.iter().filter(|level| !level.is_zero() && level.is_whole());
    of_rows(whole.map(LintedLevel::row).collect(), Defect::NotStreamed, Sure::Certain, values![])
}

/// A TTFT that only a queue explains, in milliseconds.
const QUEUED: f64 = 1_000.0;
/// How many times that of a higher rate it must be.
const TIMES: f64 = 3.0;

/// TTFT of seconds at a rate, and far less at a higher one.
pub(super) fn slow_at_low_rate(rows: &LintRows<'_>) -> Option<LintFindings> {
    let rates = rows.by_load(LoadKind::Rate);
    let mut found = Vec::new();
    for (i, (_, level)) in rates.iter().enumerate() {
        let least = rates[i + 1..].iter().filter_map(|(_, higher)| higher.ttft());
        let (Some(ttft), Some(least)) = (level.ttft(), least.min_by(f64::total_cmp)) else {
            continue;
        };
        if ttft > QUEUED && ttft > TIMES * least {
            found.push(Against { row: level.row(), found: ttft, expected: least });
        }
    }
    against(found, seconds, Defect::SlowAtLowRate, Sure::Likely, values![])
}

/// A drop beyond what runs of one server usually differ by.
const FALL: f64 = 0.08;
/// The same where the file does not say of how many requests.
const UNCOUNTED_FALL: f64 = 0.15;

/// A drop beyond that and beyond chance: throughput of `n` requests of random lengths, or at random
/// times, varies by about 1/√n.
fn fall(a: &LintedLevel<'_>, b: &LintedLevel<'_>) -> f64 {
    let counts = a.about_completed().zip(b.about_completed());
    let chance = counts.map(|(a, b)| near::NOTICEABLE * near::of_two(1.0, a, b));
    chance.unwrap_or(UNCOUNTED_FALL).max(FALL)
}

/// Throughput falls while the load rises.
pub(super) fn falls(rows: &LintRows<'_>) -> Option<LintFindings> {
    let mut found = Vec::new();
    let mut failed = false;
    for kind in [LoadKind::Concurrency, LoadKind::Rate] {
        let mut levels = rows.by_load(kind);
        // Cells of a matrix differ in more than load.
        levels.retain(|(_, level)| {
            let inputs = |level: &LintedLevel<'_>| level.0.inputs_per_request.map(f64::round);
            let lengths = |level: &LintedLevel<'_>| {
                (level.0.input_length, level.0.output_length, inputs(level))
            };
            rows.rows.iter().all(|other| lengths(other) == lengths(level))
        });
        let mut most: Option<(f64, LintedLevel<'_>)> = None;
        for (_, level) in levels {
            let Some(work) = level.steady_per_s() else { continue };
            if let Some((expected, best)) = most
                && work < expected * (1.0 - fall(&level, &best))
            {
                found.push(Against { row: level.row(), found: work, expected });
                failed |= level.failed() > 0;
            }
            most = most.filter(|(best, _)| *best >= work).or(Some((work, level)));
        }
    }
    let (what, sure) = match failed {
        true => (Defect::FallsByFailures, Sure::Likely),
        false => (Defect::Falls, Sure::Possible),
    };
    against(found, |n| digits(n, 2), what, sure, values![])
}

/// Common time-outs, in seconds.
const ROUND_S: [f64; 13] =
    [5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 90.0, 120.0, 180.0, 300.0, 600.0, 1_200.0, 1_800.0];
/// Responses that were not cut off took at most as long as the time-out, apart from clock resolution,
/// and the slowest of them a little less.
const NEAR: [f64; 2] = [0.995, 1.001];

/// The slowest responses took as long as a round time-out, and the file states that others failed. One
/// in a hundred times is that close to a round one by chance, so this is never certain.
pub(super) fn timeouts(rows: &LintRows<'_>) -> Option<LintFindings> {
    let mut found = Vec::new();
    let mut failed = 0;
    for level in rows.rows.iter().filter(|level| level.failed() > 0) {
        let latency = level.0.times[Time::Latency].as_ref();
        let slowest = latency.and_then(|latency| latency.max.or(latency.p99));
        let round = slowest.and_then(|ms| {
            let near = |round: &&f64| (NEAR[0]..=NEAR[1]).contains(&(ms / 1e3 / **round));
            ROUND_S.iter().find(near).map(|round| (ms, round * 1e3))
        });
        if let Some((ms, expected)) = round {
            found.push(Against { row: level.row(), found: ms, expected });
            failed += level.failed();
        }
    }
    against(found, seconds, Defect::Timeout, Sure::Likely, values![failed])
}
