//! The offered rate: no more completes than is offered, and a level of an open loop ends when the response
//! to its last request does.

use super::found::{Against, LintFindings, Sure, against};
use super::near::{self, Column};
use super::rows::{LintRows, LintedLevel};
use super::slowest;
use dyno_model::load::LoadKind;
use dyno_words::number::digits;
use dyno_words::{Defect, Problem, values};

/// How much more than offered may complete by chance where the file does not say of how many requests;
/// 200 Poisson arrivals exceed it once in 300 runs.
const UNCOUNTED: f64 = 1.2;
/// By how much completions may exceed the arrivals that were counted.
const COUNTED: f64 = 1.03;

/// More requests completed per second than were offered: beyond what chance allows for their number,
/// and where that is not stated.
pub(super) fn above(rows: &LintRows<'_>) -> [Option<LintFindings>; 2] {
    let column = Column::rates(rows, LintedLevel::per_s);
    let (mut certain, mut uncounted) = (Vec::new(), Vec::new());
    for (rate, level) in rows.by_load(LoadKind::Rate) {
        let Some(completed) = level.per_s() else { continue };
        let offered = level.0.offered_per_s.unwrap_or(rate);
        let arrived = level.about_completed();
        let bound = match (level.0.offered_per_s, arrived) {
            (Some(_), requests) => Some(COUNTED + 2.0 / requests.unwrap_or(f64::INFINITY)),
            // Arrivals with this burstiness vary as much as so many Poisson arrivals.
            (None, Some(n)) => near::above_rate(n * shape(&level), near::CERTAIN),
            (None, None) => Some(UNCOUNTED),
        };
        let bound = bound.map(|bound| bound * (1.0 + column.share(completed)));
        if bound.is_some_and(|bound| completed > offered * bound) {
            let row = Against { row: level.row(), found: completed, expected: offered };
            if arrived.is_some() { &mut certain } else { &mut uncounted }.push(row);
        }
    }
    let show = |n| digits(n, 2);
    [
        against(certain, show, Defect::AboveOffered, Sure::Likely, values![]),
        against(uncounted, show, Defect::AboveOfferedUncounted, Sure::Likely, values![]),
    ]
}

/// The shape of the gamma distribution between arrivals, as vLLM states it: 1 for Poisson, less for
/// bursts. More regular arrivals are not taken for granted.
fn shape(level: &LintedLevel<'_>) -> f64 {
    level.0.stated("burstiness").filter(|shape| (0.0..1.0).contains(shape)).unwrap_or(1.0)
}

/// Tools that send at the stated rate whatever the server does, unless they state a limit; and the forms
/// in which they always state it.
const OPEN_LOOP: [&str; 3] = ["vllm", "sglang", "lmdeploy"];
const WITH_LIMIT: [&str; 2] = ["json", "jsonl"];
/// What starting and ending a level may take besides, in seconds.
const AROUND_S: f64 = 1.0;
/// How many times as long it must take: with a queue, p99 says little about the slowest response.
const TIMES: f64 = 2.0;

/// A level that took longer than its arrivals and the slowest response: the rate was lower than stated.
/// Slots that requests had to wait for, and failures, whose times are not known, explain it. So does a
/// client that was too slow, which is why this is never certain.
pub(super) fn below(rows: &LintRows<'_>) -> Option<LintFindings> {
    let origin = rows.summary.run.origin.as_ref()?;
    let is_open = OPEN_LOOP.contains(&origin.tool.as_str());
    if !is_open || !WITH_LIMIT.contains(&origin.form.as_str()) {
        return None;
    }
    let wrong = |(rate, level): (f64, LintedLevel<'_>)| {
        let requests = &level.0.requests;
        let all = requests.completed.filter(|completed| {
            let complete = requests.planned.map(|planned| planned == *completed);
            level.failed() == 0 && complete.unwrap_or(requests.failed.is_some())
        })?;
        let waited = Problem::RateAndPlaces.with(values![0, 0]).code;
        if level.0.notes.iter().chain(&rows.summary.notes).any(|note| note.code == waited) {
            return None;
        }
        let longest = near::longest_arrivals(all as f64, shape(&level), near::CERTAIN)? / rate;
        let most = longest + slowest::about_latency(&level)? / 1e3;
        let duration = level.duration_s()?;
        let row = || Against { row: level.row(), found: duration, expected: most };
        (duration > TIMES * most + AROUND_S).then(row)
    };
    let found = rows.by_load(LoadKind::Rate).into_iter().filter_map(wrong).collect();
    against(found, |s| digits(s, 1), Defect::BelowOffered, Sure::Possible, values![])
}
