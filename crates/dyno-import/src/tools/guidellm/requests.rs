//! The single requests in guidellm's reports from 0.2 on. A report may keep a sample of them; metrics
//! are recomputed only from all.

use crate::form::json::{count, list, number, text};
use crate::level::stated::Found;
use crate::level::{Ended, Sample};
use dyno_model::Diagnostic;
use dyno_words::Problem;
use serde_json::Value;

/// Adds every request of a benchmark to its level, if the report has all of them.
pub(crate) fn add(found: &mut Found, benchmark: &Value, problems: &mut Vec<Diagnostic>) {
    let stated = &found.stated;
    let of = |name: &str| list(benchmark, &["requests", name]).map_or(&[][..], Vec::as_slice);
    let kinds = [
        ("successful", stated.requests.completed),
        ("errored", stated.requests.failed),
        ("incomplete", stated.requests.censored),
    ];
    let kept: u64 = kinds.iter().map(|(name, _)| of(name).len() as u64).sum();
    let total: u64 = kinds.iter().filter_map(|(_, total)| *total).sum();
    if kept == 0 {
        return;
    }
    if kept < total {
        found.note(problems, Problem::Sampled.with([kept, total]));
        return;
    }
    let mut all = Vec::new();
    for (name, _) in kinds {
        all.extend(of(name).iter().map(|request| sample(request, name)));
    }
    let timeless = all.iter().filter(|one| one.ended == Ended::Completed && one.sent.is_none());
    let timeless = timeless.count();
    if timeless > 0 {
        found.note(problems, Problem::Untimed.with([timeless]));
    }
    found.samples = Some(all);
}

fn sample(request: &Value, kind: &str) -> Sample {
    let timing =
        |name: &str| number(request, &["info", "timings", name]).filter(|time| *time > 0.0);
    let older = |name: &str| number(request, &[name]).filter(|time| *time > 0.0);
    let sent = timing("request_start").or_else(|| older("start_time"));
    let first = timing("first_token_iteration").or_else(|| older("first_token_time"));
    let last = timing("last_token_iteration").or_else(|| older("last_token_time"));
    let end = timing("request_end").or_else(|| older("end_time"));
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
        warmup: false,
    }
}
