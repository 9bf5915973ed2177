//! TensorRT-LLM's `trtllm-bench`, throughput and latency: the report that it prints and the one that it
//! saves. Requests go to the engine in the same process, all at once or up to a limit that the report
//! does not state; only that they never overlapped can be told.

mod block;
mod report;

use super::{Document, Printed, Tool};
use crate::level::stated::{Offered, distribution, present, rounded, tokens};
use crate::text::part::label;
use dyno_form::json::whole;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;

pub(super) const TOOL: Tool = Tool {
    name: "trtllm-bench",
    kinds: &[[
        "reports of TensorRT-LLM's `trtllm-bench` (JSON, text)",
        "TensorRT-LLM `trtllm-bench` 的报告（JSON、文本）",
    ]],
    documents: &[Document { recognise: report::recognise, read: report::read }],
    printed: &[Printed::Block(block::read)],
    signs: &["\"request_throughput_req_s\""],
    ..super::NOTHING
};

/// Puts values into a level. `value` takes a name of the saved report, `stat` a name of
/// [`distribution`] and one of a group of percentiles: `latency`, `ttft`, `tpot`. Times are in
/// milliseconds.
fn fill(
    level: &mut LevelSummary,
    value: &dyn Fn(&str) -> Option<f64>,
    stat: &dyn Fn(&str, &str) -> Option<f64>,
) {
    let completed = value("num_requests").and_then(whole);
    level.requests.completed = completed;
    level.duration_s = present(value("total_latency_ms")).map(|total| rounded(total / 1e3));
    level.throughput.requests_per_s = present(value("request_throughput_req_s"));
    level.throughput.output_tokens_per_s = present(value("system_output_throughput_tok_s"));
    level.throughput.total_tokens_per_s = present(value("system_total_throughput_tok_s"));
    level.input_tokens = tokens(None, present(value("avg_input_length")), completed);
    level.output_tokens = tokens(None, present(value("avg_output_length")), completed);
    for (time, group, mean) in [
        (Time::Latency, "latency", "avg_request_latency_ms"),
        (Time::Ttft, "ttft", "avg_ttft_ms"),
        (Time::Tpot, "tpot", "avg_tpot_ms"),
    ] {
        level.times[time] = distribution(completed, 1.0, |name| match name {
            "mean" => stat(group, "average").or_else(|| value(mean)),
            "min" => stat(group, "minimum"),
            "max" => stat(group, "maximum"),
            other => stat(group, other),
        });
    }
    level.load = offered(level).load;
    level.label = label(level.load.kind, level.load.value);
}

/// Requests are sent as soon as the limit allows. If so few were in flight on average that they cannot
/// have overlapped, the limit was one.
fn offered(level: &LevelSummary) -> Offered {
    let latency_ms = level.times[Time::Latency].as_ref().and_then(|latency| latency.mean);
    let requests = level.requests.completed.filter(|requests| *requests > 1);
    let busy_ms = requests.zip(latency_ms).map(|(requests, mean)| requests as f64 * mean);
    let in_flight = busy_ms.zip(level.duration_s).map(|(busy, duration)| busy / (duration * 1e3));
    match in_flight {
        Some(mean) if (0.97..=1.005).contains(&mean) => Offered::concurrency(1.0),
        _ => Offered::plain(LoadKind::Unknown),
    }
}
