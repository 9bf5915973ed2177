//! Little's law: requests/s × latency is the mean number in flight. In a closed loop that is all slots
//! except during ramp-up and drain; some tools state the mean themselves.

use super::found::{Against, LintFindings, Sure, against};
use super::near::Column;
use super::rows::{LintRows, LintedLevel};
use super::slowest;
use dyno_model::load::LoadKind;
use dyno_words::number::digits;
use dyno_words::{Defect, values};

/// Tolerance for what differs between tools in where a latency starts and ends.
const SLACK: f64 = 0.03;
/// Time between two requests of a slot that a slow client may take.
const BETWEEN_MS: f64 = 20.0;

/// The columns of the product.
struct Product {
    rate: Column,
    latency: Column,
}

impl Product {
    fn of(rows: &LintRows<'_>) -> Self {
        Self {
            rate: Column::rates(rows, LintedLevel::per_s),
            latency: Column::times(rows, LintedLevel::latency),
        }
    }

    /// Requests in flight, and by what share they may be off.
    fn in_flight(&self, level: &LintedLevel<'_>) -> Option<(f64, f64)> {
        let (per_s, (latency, off)) = (level.per_s()?, level.about_latency()?);
        let rounding = self.rate.share(per_s) + self.latency.share(latency);
        Some((per_s * latency / 1e3, rounding + off))
    }
}

/// Seconds that are called milliseconds, or the reverse, are off by this factor.
const UNIT: f64 = 1e3;

/// Whether so large a share of the slots may have been busy in a closed loop that was kept filled.
fn fits(share: f64) -> bool {
    (0.4..=1.1).contains(&share)
}

/// Tools whose slots hold one request each. In others a slot may be a conversation with parallel
/// branches.
const ONE_A_SLOT: [&str; 6] = ["vllm", "sglang", "lmdeploy", "evalscope", "guidellm", "genai-perf"];

/// More requests in flight than slots: impossible, whatever the server.
pub(super) fn above(rows: &LintRows<'_>) -> [Option<LintFindings>; 2] {
    let product = Product::of(rows);
    let (mut found, mut units) = (Vec::new(), Vec::new());
    for (slots, level) in rows.by_load(LoadKind::Concurrency) {
        let Some((in_flight, rounding)) = product.in_flight(&level) else { continue };
        let edges = if rows.by_duration() { 0.0 } else { level.window_edges() };
        let share = in_flight / slots.max(1.0);
        if share > 1.0 + SLACK + rounding + edges {
            let row = Against { row: level.row(), found: share, expected: 1.0 };
            if fits(share / UNIT) { &mut units } else { &mut found }.push(row);
        }
    }
    let what = match rows.tool().is_none_or(|tool| ONE_A_SLOT.contains(&tool)) {
        true => Defect::MoreThanSlots,
        false => Defect::MoreThanSlotsUnsure,
    };
    let show = |share| digits(share, 2);
    [
        against(found, show, what, Sure::Likely, values![]),
        against(units, show, Defect::LatenciesTooLong, Sure::Likely, values![]),
    ]
}

/// Idle slots, without and with failures that may have held them. Never certain: a slow client, or
/// pauses between the turns of a conversation, leave slots idle in an honest measurement.
pub(super) fn below(rows: &LintRows<'_>) -> [Option<LintFindings>; 3] {
    let product = Product::of(rows);
    let (mut idle, mut held, mut units) = (Vec::new(), Vec::new(), Vec::new());
    for (slots, level) in rows.by_load(LoadKind::Concurrency) {
        let Some((in_flight, rounding)) = product.in_flight(&level) else { continue };
        let bounds = (slowest::latency(&level), level.duration_s());
        let (Some(slowest), Some(wall_s)) = bounds else { continue };
        let Some(latency) = level.latency() else { continue };
        // Fewer requests than slots cannot fill them.
        let asked = level.0.requests.planned.or(level.0.requests.completed);
        let slots = asked.map_or(slots, |asked| slots.min(asked as f64)).max(1.0);
        // All slots start at once; Dyno's own levels may also fill them one by one.
        let ends = if rows.imported() { 1.0 } else { 2.0 };
        let least = (1.0 - ends * slowest / 1e3 / wall_s).max(0.0);
        let between = BETWEEN_MS / (latency + BETWEEN_MS);
        let found = in_flight / slots;
        if found < least * (1.0 - between) - SLACK - rounding {
            let row = Against { row: level.row(), found, expected: least };
            let unfinished = level.0.requests.censored.unwrap_or_default();
            let kind = match level.failed() + unfinished {
                _ if fits(found * UNIT) => &mut units,
                0 => &mut idle,
                _ => &mut held,
            };
            kind.push(row);
        }
    }
    let show = |share| digits(share, 2);
    [
        against(idle, show, Defect::SlotsIdle, Sure::Possible, values![]),
        against(held, show, Defect::SlotsHeldByFailures, Sure::Likely, values![]),
        against(
            units,
            |share| digits(share, 5),
            Defect::LatenciesTooShort,
            Sure::Likely,
            values![],
        ),
    ]
}

/// Tools whose mean concurrency is the sum of all latencies over the duration.
const SUM_OF_LATENCIES: [&str; 2] = ["sglang", "lmdeploy"];

/// The mean number in flight that the tool states is another one.
pub(super) fn stated(rows: &LintRows<'_>) -> Option<LintFindings> {
    if !rows.tool().is_some_and(|tool| SUM_OF_LATENCIES.contains(&tool)) {
        return None;
    }
    let mean = |level: &LintedLevel<'_>| {
        let stated = level.0.stated("concurrency").or_else(|| level.0.stated("Concurrency"));
        stated.or(level.0.concurrency.map(|in_flight| in_flight.mean)).filter(|mean| *mean > 0.0)
    };
    let product = Product::of(rows);
    let column = Column::rates(rows, mean);
    let wrong = |level: &LintedLevel<'_>| {
        let (found, rounding) = product.in_flight(level)?;
        let expected = mean(level)?;
        let slack = SLACK + rounding + column.share(expected);
        let row = || Against { row: level.row(), found, expected };
        ((found / expected - 1.0).abs() > slack).then(row)
    };
    let found = rows.rows.iter().filter_map(wrong).collect();
    against(found, |n| digits(n, 2), Defect::InFlight, Sure::Possible, values![])
}
