//! k6's summary at the end of a test, as `--summary-export` writes it and as `handleSummary` gets it:
//! every metric by its name with its statistics, times in milliseconds. Of a response that is streamed,
//! k6 sees the first byte and the end, never a token.

use super::{Document, Tool};
use crate::level::RunHead;
use crate::level::stated::{Offered, StatedLevel, distribution, present, rounded};
use crate::reading::Reading;
use dyno_form::json::{at, figures, number, whole};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Recognised, Reported};
use dyno_words::{Problem, values};
use serde_json::Value;

const ALL: &str = "http_req_duration";
/// The metric of the responses that were not failures.
const GOOD: &str = "http_req_duration{expected_response:true}";

pub(super) const TOOL: Tool = Tool {
    name: "k6",
    kinds: &[[
        "k6's summaries (`--summary-export`, `handleSummary`)",
        "k6 的汇总（`--summary-export`、`handleSummary`）",
    ]],
    documents: &[Document { recognise, read }],
    signs: &["\"http_req_duration\""],
    ..super::NOTHING
};

/// It is a summary.
fn recognise(value: &Value) -> Option<Recognised> {
    let metrics = at(value, &["metrics"])?;
    (metrics.get("http_reqs").is_some() && metrics.get(ALL).is_some())
        .then(|| Recognised::certain(["metrics.http_reqs", "metrics.http_req_duration"]))
}

/// Reads a summary.
fn read(reading: &mut Reading, line: u64, value: &Value) {
    let stat = |metric: &str, stat: &str| {
        let metric = at(value, &["metrics", metric])?;
        number(metric, &["values", stat]).or_else(|| number(metric, &[stat]))
    };
    let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
    let stated = &mut found.stated;
    stated.reported = Some(Reported {
        file: None,
        line: Some(line),
        figures: at(value, &["metrics"]).map(figures).unwrap_or_default(),
    });
    let count = stat("http_reqs", "count").and_then(whole);
    // Each request "passes" the test of having failed, or does not.
    let failed = stat("http_req_failed", "passes").and_then(whole);
    let failed = failed.filter(|failed| count.is_some_and(|count| *failed <= count));
    let completed = count.zip(failed).map(|(count, failed)| count - failed);
    (stated.requests.completed, stated.requests.failed) = (completed, failed);
    let share = count.zip(completed).map(|(count, done)| done as f64 / count.max(1) as f64);
    let rate = present(stat("http_reqs", "rate"));
    stated.throughput.requests_per_s = rate.zip(share).map(|(rate, share)| rounded(rate * share));
    let duration_ms = present(number(value, &["state", "testRunDurationMs"]));
    stated.duration_s = duration_ms.map(|duration| rounded(duration / 1e3));
    let metric = if at(value, &["metrics", GOOD]).is_some() { Some(GOOD) } else { Some(ALL) };
    let metric = metric.filter(|metric| *metric == GOOD || failed == Some(0));
    let times = metric.and_then(|metric| {
        distribution(completed, 1.0, |name| match name {
            "mean" => stat(metric, "avg"),
            "p50" => stat(metric, "med").or_else(|| stat(metric, "p(50)")),
            "min" | "max" => stat(metric, name),
            other => stat(metric, &format!("p({})", other.strip_prefix('p')?)),
        })
    });
    stated.times[Time::Latency] = times;
    if metric.is_none() {
        let remark = match failed.zip(count) {
            Some((failed, count)) => Problem::FailuresMixed.with(values!["k6", failed, count]),
            None => Problem::FailuresUnknown.with(["k6"]),
        };
        found.note(&mut reading.problems, remark);
    }
    if count.is_none_or(|count| count == 0) {
        reading.problems.push(Problem::NoRows.with(["http_reqs"]).at(line));
        return;
    }
    reading.problems.push(Problem::LoadNotStated.with(["k6"]).at(line));
    let head = RunHead::new(reading.origin("k6", line));
    reading.add_run(head, vec![found]);
}
