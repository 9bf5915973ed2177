//! Little's law: in a closed loop, QPS × latency is the number in flight, which is all slots except
//! during ramp-up and drain.

use super::found::{Against, Found, Sure, against};
use super::rows::{Level, Rows};
use dyno_model::load::LoadKind;
use dyno_words::number::digits;
use dyno_words::{Defect, values};

/// Tolerance for client overhead between requests, and for means over completed requests only.
const SLACK: f64 = 0.03;

/// Idle slots, and more requests in flight than slots.
pub(super) fn little(rows: &Rows<'_>) -> [Option<Found>; 2] {
    let (mut below, mut above, mut failed) = (Vec::new(), Vec::new(), false);
    for (slots, level) in rows.by_load(LoadKind::Concurrency) {
        let Some((found, least)) = share(rows, slots, level) else { continue };
        let slack = SLACK + if rows.imported() { level.rounding() } else { 0.0 };
        let figures = |expected: f64| Against { row: level.row(), found, expected };
        if found < least - slack {
            below.push(figures(least));
            failed |= level.failed() > 0;
        } else if found > 1.0 + slack {
            above.push(figures(1.0));
        }
    }
    let (what, sure) = match failed {
        true => (Defect::SlotsHeldByFailures, Sure::Likely),
        false => (Defect::SlotsIdle, Sure::Possible),
    };
    let show = |share| digits(share, 2);
    [
        against(below, show, what, sure, values![]),
        against(above, show, Defect::MoreThanSlots, Sure::Likely, values![]),
    ]
}

/// The share of busy slots, and the lowest share that ramp-up and drain can explain.
fn share(rows: &Rows<'_>, slots: f64, level: Level<'_>) -> Option<(f64, f64)> {
    let (per_s, latency_s) = (level.per_s()?, level.latency()? / 1e3);
    let (slowest_s, wall_s) = (level.slowest_ms()? / 1e3, level.0.duration_s?);
    // Fewer requests than slots cannot fill them.
    let asked = level.0.requests.planned.or(level.0.requests.completed);
    let slots = asked.map_or(slots, |asked| slots.min(asked as f64));
    let ends = if rows.imported() { 1.0 } else { 2.0 };
    (slots >= 1.0 && wall_s > 0.0)
        .then(|| (per_s * latency_s / slots, (1.0 - ends * slowest_s / wall_s).max(0.0)))
}
