//! The single requests in guidellm's reports from 0.2 on. A report may keep a sample of them; metrics
//! are recomputed only from all.

use crate::level::stated::StatedLevel;
use crate::level::{Ended, Sample};
use dyno_form::json::{count, list, number, text};
use dyno_model::Diagnostic;
use dyno_words::Problem;
use serde_json::Value;

/// How requests end, by the names of their lists.
const KINDS: [&str; 3] = ["successful", "errored", "incomplete"];

/// Adds every request of a benchmark to its level, if the report has all of them.
pub(crate) fn add(found: &mut StatedLevel, benchmark: &Value, problems: &mut Vec<Diagnostic>) {
    let counts = &found.stated.requests;
    let totals = [counts.completed, counts.failed, counts.censored];
    let window = Window::of(benchmark);
    let mut all = Vec::new();
    for kind in KINDS {
        let listed = list(benchmark, &["requests", kind]).map_or(&[][..], Vec::as_slice);
        all.extend(listed.iter().map(|request| sample(request, kind, window)));
    }
    if all.is_empty() {
        return;
    }
    let kept = all.iter().filter(|one| !one.warmup).count() as u64;
    let total: u64 = totals.iter().flatten().sum();
    if kept < total {
        found.note(problems, Problem::Sampled.with([kept, total]));
        return;
    }
    let timeless = all.iter().filter(|one| one.ended == Ended::Completed && one.sent.is_none());
    let timeless = timeless.count();
    if timeless > 0 {
        found.note(problems, Problem::Untimed.with([timeless]));
    }
    // A request that was cancelled after the end is no cool-down.
    found.window = all.iter().any(|one| one.warmup && one.ended != Ended::Unfinished);
    found.samples = Some(all);
}

/// The time between warm-up and cool-down. Up to 0.3 their requests are not in the report; since 0.4
/// they are, and do not count.
#[derive(Debug, Clone, Copy)]
struct Window {
    start: f64,
    end: f64,
}

impl Window {
    fn of(benchmark: &Value) -> Option<Self> {
        let time = |name: &str| number(benchmark, &["scheduler_metrics", name]);
        let start = time("measure_start_time")?;
        let end = time("measure_end_time")?;
        // It writes −1 where it does not know.
        (0.0 < start && start < end).then_some(Self { start, end })
    }

    /// It counts requests that ended after the beginning and were sent before the end.
    fn counts(self, sent: Option<f64>, ended: Option<f64>) -> bool {
        let begun = sent.or(ended);
        ended.is_none_or(|ended| ended >= self.start) && begun.is_none_or(|begun| begun <= self.end)
    }
}

fn sample(request: &Value, kind: &str, window: Option<Window>) -> Sample {
    let timing =
        |name: &str| number(request, &["info", "timings", name]).filter(|time| *time > 0.0);
    let older = |name: &str| number(request, &[name]).filter(|time| *time > 0.0);
    let sent = timing("request_start").or_else(|| older("start_time"));
    let first = timing("first_token_iteration").or_else(|| older("first_token_time"));
    let last = timing("last_token_iteration").or_else(|| older("last_token_time"));
    let end = timing("request_end").or_else(|| older("end_time"));
    let resolved = end.or_else(|| timing("resolve_end"));
    let since = |time: Option<f64>| Some(time? - sent?).filter(|time| *time >= 0.0);
    let target = timing("targeted_start").or_else(|| {
        number(request, &["scheduler_info", "targeted_start_time"]).filter(|time| *time > 0.0)
    });
    let scheduled = target.filter(|target| sent.is_some_and(|sent| *target <= sent));
    let words = text(request, &["info", "error"]).or_else(|| text(request, &["error"]));
    Sample {
        scheduled,
        sent,
        ttft: since(first),
        latency: since(last).or(since(end)),
        end: since(end),
        gaps: Vec::new(),
        input: count(request, &["prompt_tokens"]),
        output: count(request, &["output_tokens"]),
        ended: match kind {
            "successful" => Ended::Completed,
            "incomplete" => Ended::Unfinished,
            _ => Ended::Failed(words.unwrap_or_default()),
        },
        status: None,
        warmup: window.is_some_and(|window| !window.counts(sent, resolved)),
    }
}
