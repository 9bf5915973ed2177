//! Counts of requests: rows without data, requests that are missing, and throughput times duration.

use super::found::{Against, LintFindings, Sure, against, of_rows};
use super::near::Column;
use super::rows::{LintRows, LintedLevel};
use dyno_words::number::digits;
use dyno_words::{Defect, values};
use std::cmp::Ordering;

/// Rows of zeros: where nothing completed by the file's own count, only a warning. Dyno's own zeros are
/// measurements: requests ended, and none completed.
pub(super) fn zeros(rows: &LintRows<'_>) -> [Option<LintFindings>; 2] {
    let nothing_done = |level: &&LintedLevel<'_>| level.0.requests.completed == Some(0);
    let of = |stated: bool| {
        let zeros = rows.rows.iter().filter(|level| rows.imported() && level.is_zero());
        zeros.filter(|level| nothing_done(level) == stated).map(LintedLevel::row).collect()
    };
    [
        of_rows(of(false), Defect::Zeros, Sure::Certain, values![]),
        of_rows(of(true), Defect::ZerosOfNothing, Sure::Certain, values![]),
    ]
}

/// Tools whose planned requests are single requests, sent once each.
const EACH_ONCE: [&str; 3] = ["vllm", "sglang", "lmdeploy"];

/// Fewer or more requests are accounted for than were planned. What the tool lists as failed, incomplete or
/// not sent is accounted for; a run that its file calls cut short is not expected to be complete.
/// Dyno's own runs report the reason themselves.
pub(super) fn missing(rows: &LintRows<'_>) -> [Option<LintFindings>; 3] {
    let (mut unexplained, mut uncounted, mut surplus) = (Vec::new(), Vec::new(), Vec::new());
    for level in rows.rows.iter().filter(|level| rows.imported() && !level.0.partial) {
        let requests = &level.0.requests;
        let Some((planned, completed)) = requests.planned.zip(requests.completed) else { continue };
        let refused = [requests.failed, requests.unconfirmed, requests.shed];
        let stated =
            refused.into_iter().chain([requests.dropped, requests.overflowed, requests.censored]);
        let ended = completed + stated.flatten().sum::<u64>();
        let kind = match ended.cmp(&planned) {
            Ordering::Less if requests.failed.is_some() => &mut unexplained,
            Ordering::Less => &mut uncounted,
            Ordering::Greater => &mut surplus,
            Ordering::Equal => continue,
        };
        kind.push(Against { row: level.row(), found: ended as f64, expected: planned as f64 });
    }
    let show = |n| digits(n, 0);
    let too_many = match rows.tool().is_some_and(|tool| EACH_ONCE.contains(&tool)) {
        true => Defect::Surplus,
        false => Defect::SurplusUnsure,
    };
    [
        against(unexplained, show, Defect::Missing, Sure::Possible, values![]),
        against(uncounted, show, Defect::MissingUnstated, Sure::Possible, values![]),
        against(surplus, show, too_many, Sure::Possible, values![]),
    ]
}

/// What clients do between the last response and reading the clock.
const SLACK: f64 = 0.02;
/// Other tools may leave out warm-up and drain, as guidellm does.
const WINDOW_SLACK: f64 = 0.3;

/// Requests/s times duration are the completed requests.
pub(super) fn by_duration(rows: &LintRows<'_>) -> Option<LintFindings> {
    let (slack, what) = match rows.by_duration() {
        true => (SLACK, Defect::ByDuration),
        false => (WINDOW_SLACK, Defect::ByDurationUnsure),
    };
    let rate = Column::rates(rows, LintedLevel::per_s);
    let time = Column::rates(rows, LintedLevel::duration_s);
    let wrong = |level: &LintedLevel<'_>| {
        let (per_s, duration, completed) =
            (level.per_s()?, level.duration_s()?, level.completed()?);
        let found = per_s * duration;
        let edges = if rows.by_duration() { 0.0 } else { level.window_edges() };
        let slack = slack + edges + rate.share(per_s) + time.share(duration);
        let row = || Against { row: level.row(), found, expected: completed };
        ((found / completed - 1.0).abs() > slack).then(row)
    };
    let found = rows.rows.iter().filter_map(wrong).collect();
    against(found, |n| digits(n, 0), what, Sure::Possible, values![])
}
