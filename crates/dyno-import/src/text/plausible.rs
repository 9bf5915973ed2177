//! What the figures of one level cannot all be: said, never corrected.

use super::part::Finding;
use dyno_report::LevelSummary;
use dyno_report::summary::Distribution;

/// How far times may lie apart before they contradict one another: means of roundings and of
/// answers that ended early differ a little.
const APART: f64 = 1.5;

/// Everything that contradicts itself.
pub(super) fn check(level: &LevelSummary) -> Vec<Finding> {
    [more_than_offered(level), parts_and_whole(level), lost(level)].into_iter().flatten().collect()
}

/// More completed than was sent: what was left over from a level before was counted.
fn more_than_offered(level: &LevelSummary) -> Option<Finding> {
    let rate = level.load.value.filter(|_| level.load.kind == "rate")?;
    let done = level.throughput.requests_per_s.filter(|done| *done > 1.05 * rate)?;
    Some(note(
        level,
        "import_more_than_offered",
        format!("{done} requests/s completed at {rate} offered"),
        "work of another level may be counted in; look at it with care",
    ))
}

/// The first token and the gaps between the others make up the latency.
fn parts_and_whole(level: &LevelSummary) -> Option<Finding> {
    let mean = |figure: &Option<Distribution>| figure.as_ref().and_then(|figure| figure.mean);
    let gaps = f64::from(level.output_length?.checked_sub(1)?);
    let (whole, first) = (mean(&level.latency_ms)?, mean(&level.ttft_ms)?);
    let gap = mean(&level.chunk_gap_ms)?;
    let parts = first + gaps * gap;
    (whole > APART * parts || parts > APART * whole).then(|| {
        note(
            level,
            "import_implausible",
            format!(
                "a latency of {:.2} s, but {first} ms to the first token and {gaps} gaps of {gap} \
                 ms are {:.2} s",
                whole / 1e3,
                parts / 1e3
            ),
            "one of the three is wrong, or answers were not of the length asked for",
        )
    })
}

/// Requests that were asked for, and neither succeeded nor failed.
fn lost(level: &LevelSummary) -> Option<Finding> {
    let counts = &level.requests;
    let (planned, ended) = (counts.planned?, counts.completed? + counts.failed?);
    (ended < planned).then(|| {
        note(
            level,
            "import_lost",
            format!(
                "{} of {planned} requests neither succeeded nor failed",
                planned.saturating_sub(ended)
            ),
            "the figures are those of the others; slow requests may be missing from them",
        )
    })
}

fn note(level: &LevelSummary, code: &'static str, what: String, advice: &str) -> Finding {
    let line = level.reported.as_ref().and_then(|reported| reported.line).unwrap_or_default();
    Finding::note(code, line, format!("{}: {what}", level.label), advice)
}
