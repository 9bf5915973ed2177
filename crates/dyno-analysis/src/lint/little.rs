//! Little's law: of a closed loop, QPS × latency is what was in flight, which is all slots but for
//! filling and draining.

use super::defect::{Against, Defect};
use super::rows::{Level, Rows};
use dyno_model::load::LoadKind;

/// What clients need between requests, and what means over completed requests alone leave out.
const SLACK: f64 = 0.03;

pub(super) fn little(rows: &Rows<'_>) -> Vec<Defect> {
    let (mut below, mut above): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for (slots, level) in rows.by_load(LoadKind::Concurrency) {
        let Some((found, least)) = share(rows, slots, level) else { continue };
        let slack = SLACK + if rows.imported() { level.rounding() } else { 0.0 };
        let against = |expected: f64| (Against { row: level.row(), found, expected }, level);
        if found < least - slack {
            below.push(against(least));
        } else if found > 1.0 + slack {
            above.push(against(1.0));
        }
    }
    let defect = |found: Vec<(Against, Level<'_>)>, above: bool| {
        let failed = found.iter().any(|(_, level)| level.failed() > 0);
        let rows: Vec<Against> = found.into_iter().map(|(row, _)| row).collect();
        (!rows.is_empty()).then_some(Defect::Little { rows, failed, above })
    };
    defect(below, false).into_iter().chain(defect(above, true)).collect()
}

/// The share of the slots that was busy, and the least that filling and draining can explain.
fn share(rows: &Rows<'_>, slots: f64, level: Level<'_>) -> Option<(f64, f64)> {
    let (per_s, latency_s) = (level.per_s()?, level.latency_ms()? / 1e3);
    let (slowest_s, wall_s) = (level.slowest_ms()? / 1e3, level.0.duration_s?);
    // Fewer requests than slots never fill them.
    let asked = level.0.requests.planned.or(level.0.requests.completed);
    let slots = asked.map_or(slots, |asked| slots.min(asked as f64));
    let ends = if rows.imported() { 1.0 } else { 2.0 };
    (slots >= 1.0 && wall_s > 0.0)
        .then(|| (per_s * latency_s / slots, (1.0 - ends * slowest_s / wall_s).max(0.0)))
}
