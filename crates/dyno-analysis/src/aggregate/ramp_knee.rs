//! Where a rising ramp saturated: the completed rate levelled off while the offered one kept rising, or a
//! latency rose for good.

use super::gather::Gathered;
use super::slices::Sliced;
use dyno_model::Diagnostic;
use dyno_model::ramp::Ramp;
use dyno_model::summary::Slice;
use dyno_model::units::to_s;
use dyno_stats::hinge::HingePoint;
use dyno_stats::{Counted, Hinge, hinge};
use dyno_words::number::{clock, millis, short};
use dyno_words::{OverTime, values};

/// By how many variances a straight line must fit worse; by chance that happens once in a thousand.
const CLEAR: f64 = 16.0;
/// The ramp continued past the bend by at least this share of its final rate.
const BEYOND: f64 = 0.1;
/// Completed over offered in the last quarter is below this.
const SHORT: f64 = 0.95;
/// A latency this many times its initial value has risen.
const LEFT: f64 = 3.0;
/// The bend is at most this far from where the lines meet, as a share.
const NEAR: f64 = 0.15;
const FEWEST_SLICES: usize = 6;

/// The findings about a ramp; none about a falling one, whose backlog hides when the server caught up.
pub(super) fn bend(
    ramp: Ramp,
    sliced: &Sliced,
    slices: &[Slice],
    level: &Gathered,
) -> Option<Diagnostic> {
    if ramp.to <= ramp.from {
        return None;
    }
    // How many turns are due depends on the responses, so conversations have no rate to fall behind.
    let behind = match level.conversations.any() {
        true => None,
        false => fell_behind(ramp, sliced, slices),
    };
    behind.or_else(|| left_level(ramp, slices))
}

fn fell_behind(ramp: Ramp, sliced: &Sliced, slices: &[Slice]) -> Option<Diagnostic> {
    let whole = sliced.whole_cells();
    let cells = sliced.cells.get(..whole)?;
    // A response ends some time after its arrival: by the latency of the first quarter.
    let early = cells.get(..whole.div_ceil(4))?.iter().flat_map(|cell| &cell.latency);
    let lag = Counted::from_samples(early.copied().collect()).quantile(0.5)? as u64;
    let due_by = |edge: u64| ramp.due_by(edge.saturating_sub(lag));
    let points: Vec<HingePoint> = (cells.iter().enumerate())
        .map(|(i, cell)| {
            let x = due_by(sliced.edge(i + 1)) - due_by(sliced.edge(i));
            HingePoint { x, y: cell.completed as f64, variance: x.max(1.0) }
        })
        .filter(|point| point.x > 0.0)
        .collect();
    let Hinge { at, gain, level: plateau, .. } = hinge(&points)?;
    let most = points.last()?.x;
    if gain < CLEAR || most - at < BEYOND * most {
        return None;
    }
    let tail = cells.get(whole - whole.div_ceil(4)..)?;
    let over_s = to_s(sliced.edge(whole) - sliced.edge(whole - tail.len()));
    let [arrived, completed, failed] = tail.iter().fold([0; 3], |[a, c, f], cell| {
        [a + cell.arrived, c + cell.completed, f + cell.failed + cell.shed]
    });
    if completed as f64 >= SHORT * arrived as f64 {
        return None;
    }
    let width = to_s(sliced.edge(whole)) / whole as f64;
    // The rate completed past the bend is the capacity; if the server then does less, the bend was
    // earlier.
    let due: u64 = cells.iter().map(|cell| cell.arrived).sum();
    let shards = (ramp.due_by(sliced.edge(whole)) / due.max(1) as f64).round().max(1.0);
    let rate = (plateau * shards).clamp(at * (1.0 - NEAR), at * (1.0 + NEAR)) / width;
    let failed = 2 * failed >= arrived.saturating_sub(completed);
    let what = if failed { OverTime::Failed } else { OverTime::Queued };
    let [completed, offered] = [completed, arrived].map(|n| short(n as f64 / over_s));
    let (after, in_flight) = (clock(moment(ramp, rate)), slices.last()?.in_flight);
    Some(what.with(values![short(rate), after, completed, offered, in_flight]))
}

fn left_level(ramp: Ramp, slices: &[Slice]) -> Option<Diagnostic> {
    let streamed = slices.iter().any(|slice| slice.ttft_p50_ms.is_some());
    let what = if streamed { OverTime::TtftLeft } else { OverTime::LatencyLeft };
    let medians: Vec<(usize, f64)> = (slices.iter().enumerate())
        .filter_map(|(i, slice)| {
            let median = if streamed { slice.ttft_p50_ms } else { slice.latency_p50_ms };
            Some((i, median?))
        })
        .collect();
    if medians.len() < FEWEST_SLICES {
        return None;
    }
    let mut first_half: Vec<f64> =
        medians[..medians.len() / 2].iter().map(|(_, median)| *median).collect();
    first_half.sort_by(f64::total_cmp);
    let before_ms = dyno_stats::quantile(&first_half, 0.5)?;
    let above = medians.iter().rev().take_while(|(_, median)| *median > LEFT * before_ms).count();
    let (slice, _) = *medians.get(medians.len() - above).filter(|_| above >= 2)?;
    let after_s = slices.get(slice)?.from_s;
    let (_, last_ms) = *medians.last()?;
    let rate = ramp.rate_at((after_s * 1e9) as u64);
    Some(what.with([short(rate), clock(after_s), millis(before_ms), millis(last_ms)]))
}

/// When the ramp reaches a rate, in seconds from its start.
fn moment(ramp: Ramp, rate: f64) -> f64 {
    let part = ((rate - ramp.from) / (ramp.to - ramp.from)).clamp(0.0, 1.0);
    match ramp.steps.filter(|steps| *steps > 1) {
        None => part * to_s(ramp.over_ns),
        Some(steps) => {
            // The first step above it, or one that is only just below.
            let step = (part * f64::from(steps - 1) - 0.25).ceil();
            step * to_s(ramp.over_ns) / f64::from(steps)
        }
    }
}
